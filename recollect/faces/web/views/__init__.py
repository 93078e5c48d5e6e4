"""What pages show: results, messages, sources and the graph, made ready for the templates."""
