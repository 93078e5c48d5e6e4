"""Memory for LLM conversations."""
