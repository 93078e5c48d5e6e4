"""The terminal: session of a run, output, layout, progress, typed words."""
