"""Stateful chat: a question made whole, answered from this conversation and the rest, and written as one turn [2]."""
