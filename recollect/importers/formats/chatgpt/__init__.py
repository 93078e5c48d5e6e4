"""ChatGPT's exports."""
