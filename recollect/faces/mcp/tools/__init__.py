"""The MCP tools, a file for each family; `server.py` decides which a client gets."""
