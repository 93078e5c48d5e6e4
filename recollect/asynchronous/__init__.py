"""The façade for programs that wait on networks: `AsyncMemory`, derived from `Memory`, call by call.

Every call runs in a thread, so that the event loop goes on; what yields one thing after the other is an async iterator.
"""
