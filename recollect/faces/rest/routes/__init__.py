"""The routes, a file for each family. A handler has the name of the call of `Memory` that it makes."""
