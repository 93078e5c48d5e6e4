"""A memory, and both providers on a server of the test's own."""

from tests.answering import memory, model, provider, quiet, server, store

__all__ = ["memory", "model", "provider", "quiet", "server", "store"]
