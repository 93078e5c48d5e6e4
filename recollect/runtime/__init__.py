"""What Recollect needs of the machine: places, files, processes, tracing."""
