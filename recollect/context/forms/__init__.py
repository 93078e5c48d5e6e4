"""The forms of the index [4]: list what a context leaves out, so that a model can choose what to open."""
