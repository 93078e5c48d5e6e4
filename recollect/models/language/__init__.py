"""Language models: the port, those that answer it, and the prompts."""
