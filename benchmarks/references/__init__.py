"""How well references are resolved, on dialogues written by hand: `python -m benchmarks.references`."""
