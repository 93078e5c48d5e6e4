"""The command line: one file a command, over the façade alone. Starts at `main.run`."""
