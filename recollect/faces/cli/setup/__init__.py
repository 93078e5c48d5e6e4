"""Setting clients up: where each keeps its settings, and how an entry comes into them with all else left as it is."""
