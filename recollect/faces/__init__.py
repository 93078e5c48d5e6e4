"""Everything that users and programs touch: command line, web pages, REST, MCP, proxy. Thin, on `Memory`."""
