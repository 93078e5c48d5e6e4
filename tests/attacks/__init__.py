"""Attacks on what is called done, kept so that they can be tried again."""
