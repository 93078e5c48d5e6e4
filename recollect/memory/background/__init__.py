"""The background worker: a low-priority process for each store, started by writes."""
