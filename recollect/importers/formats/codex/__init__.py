"""Codex sessions."""
