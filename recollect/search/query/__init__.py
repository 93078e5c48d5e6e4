"""Reading the question: syntax, dates, names, what is wanted."""
