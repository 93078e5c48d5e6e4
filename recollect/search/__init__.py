"""Search: from a question to ranked messages."""
