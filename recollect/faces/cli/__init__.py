"""The command line. Starts at `main.run`."""
