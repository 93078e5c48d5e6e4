"""The task queue: outbox, leases, retries, and handlers whose effect happens exactly once."""
