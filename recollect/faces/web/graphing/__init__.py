"""A picture of the graph: what kind a name is, where it stands, and where it stood before."""
