"""The formats that are read, a folder for each family."""
