"""Entities: who and what messages mention, and how they are related."""
