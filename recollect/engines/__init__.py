"""The engines behind the port `store`: SQLite, and Neo4j. Nothing above imports one but by `choose`."""
