"""Language models: the port, its implementations, prompts, prices and the daily budget."""
