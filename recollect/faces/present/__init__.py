"""What several faces show alike: names, times, states, and facts, entities and imports as JSON."""
