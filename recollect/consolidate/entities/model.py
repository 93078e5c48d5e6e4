"""Entities by a language model."""

from recollect.record import NodeId, stable_id


def wording_id(words: str) -> NodeId:
    """Tells wordings apart without holding any."""
    return stable_id("wording", words)
