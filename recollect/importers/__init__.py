"""Readers of chat exports, and what makes records of them."""
