"""The engines behind the port `store`: SQLite and Neo4j."""
