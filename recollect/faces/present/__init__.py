"""What several faces show alike: names, times, states, documents."""
