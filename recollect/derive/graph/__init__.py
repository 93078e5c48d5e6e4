"""The graph of entities: relations that facts hold and messages say, what lies around an entity, ways between two."""
