"""Shared by all faces over HTTP: the memories of a server, request scope, uploads, event streams, problem details."""
