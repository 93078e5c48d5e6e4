"""Messages as HTML: Markdown, code and mathematics, sanitised, with matches marked."""
