"""Documents in the memory [2]: folders of files imported, documents found by name."""
