"""The names of the sets of tools; apart from the tools, so that a command line can name them without loading these."""

CORE, ALL = "core", "all"
SETS = (CORE, ALL)
