"""The machine: where a store is, files, processes, tracing."""
