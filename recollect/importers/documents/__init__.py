"""Read documents: text, Markdown, HTML and PDF, into text with an outline."""
