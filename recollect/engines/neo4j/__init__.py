"""The engine for those who outgrow one machine: the graph on a Neo4j server."""
