"""The engine on a Neo4j server."""
