"""Documents in the memory [2]: write them, import folders, find them by name."""
