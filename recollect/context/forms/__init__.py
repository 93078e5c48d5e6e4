"""The forms of the index [4]: of what is not shown itself, something by which a model can decide what to open."""
