"""Topics: runs of turns about one thing, and what many conversations are about."""
