"""Ask: an answer from one's own history, with the messages that prove it [0]."""
