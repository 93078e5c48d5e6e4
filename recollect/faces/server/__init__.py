"""The server: one application of all faces that are reached over HTTP, and the socket that it listens on."""
