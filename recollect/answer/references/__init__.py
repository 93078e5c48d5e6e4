"""Resolve "it", "she", "there" or "what about Europe?" from the previous turns [2]."""
