"""The picture of the graph: nodes, their kinds, a stable layout."""
