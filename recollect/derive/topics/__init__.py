"""Topics: segments of a conversation, and clusters across conversations."""
