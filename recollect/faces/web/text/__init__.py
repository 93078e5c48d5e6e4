"""The words of messages as HTML: Markdown, code and mathematics, safely; and what is sought in them, marked."""
