"""The results: hits with excerpts, facets and readable text."""
