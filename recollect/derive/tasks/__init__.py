"""Tasks: the outbox, leases and retries, runs of messages, each done exactly once however often it is tried."""
