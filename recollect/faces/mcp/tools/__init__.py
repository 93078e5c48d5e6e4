"""The MCP tools, a file for each family; `choose.py` decides which a client gets."""
