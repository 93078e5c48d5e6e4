"""What "it", "she", "there" or "what about Europe?" stand for, told from what was said before [2]."""
