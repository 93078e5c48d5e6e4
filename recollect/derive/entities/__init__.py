"""Entities: the people and things that messages mention, and their relations."""
