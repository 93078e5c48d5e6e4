"""The routes, a file for each family. A handler is named after the call of `Memory` that it makes."""
