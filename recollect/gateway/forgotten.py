"""What was forgotten, and is told again by a client that sends a part of its history: of a whole one it is known by the
ids that forgetting leaves.
"""

from __future__ import annotations

from dataclasses import replace

from recollect.gateway.talk import Dialogue
from recollect.memory import Memory


def without_forgotten(memory: Memory, talk: Dialogue, after: int) -> Dialogue:
    """The talk without what stands behind a place and before what is asked now, and was forgotten, with the tools that
    were called for it; the very same where there is nothing of that.
    """
    said = [n for n, one in enumerate(talk.said) if one.is_said]
    asked = max((n for n in said if talk.said[n].role == "user"), default=-1)
    again = [n for n in said if after <= n < asked]
    if not any(n > after for n in again):
        return talk
    gone = {again[place] for place in memory.integration.forgotten_among(talk.said[n].text for n in again)} - {after}
    if not gone:
        return talk
    said_once = len(gone)
    edges = [-1, *said, len(talk.said)]
    for before, own, behind in zip(edges, said, edges[2:], strict=False):
        if own in gone:
            gone.update(range(own, behind))
            gone.update(range(before + 1, own))
    left = tuple(one for n, one in enumerate(talk.said) if n not in gone)
    return replace(talk, said=left, forgotten=talk.forgotten + said_once)
