"""Chat: a stateful turn, from resolving the question to storing question and answer together [2]."""
