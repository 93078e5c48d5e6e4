"""From a question to the messages that answer it."""
