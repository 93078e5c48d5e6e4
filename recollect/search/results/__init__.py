"""What a search gives: results, grouped, with excerpts and counts."""
