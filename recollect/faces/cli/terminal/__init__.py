"""The terminal: one run with its settings and memory, output, layout, progress, what is typed."""
