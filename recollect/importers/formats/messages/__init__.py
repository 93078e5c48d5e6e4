"""Message lists as programs write them: OpenAI and ShareGPT."""
