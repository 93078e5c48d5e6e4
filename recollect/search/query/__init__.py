"""Read the question: syntax, dates, names, spelling, what it asks for."""
