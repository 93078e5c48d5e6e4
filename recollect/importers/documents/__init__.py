"""Documents: text, Markdown, HTML and PDF files, each read by one file of this folder into text with its outline."""
