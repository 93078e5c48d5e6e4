"""Consolidation: what is derived from the messages in the background, exactly once, and can be derived again."""
