"""The Model Context Protocol: the memory as tools, resources and prompts for any client that speaks it."""
