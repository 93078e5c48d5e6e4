"""The HTTP server: one application of all faces, its guard, and the socket it listens on."""
