"""MCP: the memory as tools, resources and prompts."""
