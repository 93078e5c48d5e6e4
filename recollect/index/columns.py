"""What is kept of each passage for scoring, as one fixed record, and how it is made when a passage is written."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from recollect.record import NodeId
from recollect.store.passages import KINDS, Owner, Passage

#: `previous` and `session` are numbers of messages, 0: none; `time` 0: unknown. The layout is stored: a change of it
#: needs a new layout version of segments (segment.py), and a new generation.
COLUMNS = np.dtype(
    [
        ("number", "<i8"),
        ("message", "<i8"),
        ("conversation", "<i8"),
        ("previous", "<i8"),
        ("session", "<i8"),
        ("time", "<i8"),
        ("length", "<u4"),
        ("speaker", "<u4"),
        ("flags", "<u4"),
        ("kind", "u1"),
        ("owner", "u1"),
        ("first", "u1"),  # 1: the passage that stands for its message to its neighbours
    ]
)

#: So many passages make a segment; at the end of an import fewer do too, from SETTLED_ROWS on.
SEGMENT_ROWS, SETTLED_ROWS = 2048, 256


def column_values(
    p: Passage,
    number: int,
    conversation: int,
    messages: Mapping[NodeId, int],
    session: int,
    speakers: Mapping[str, int],
) -> tuple[int, ...]:
    """The record of a passage, in the order of COLUMNS. `messages` and `speakers` give their numbers."""
    return (
        number,
        messages.get(p.message_id, 0) if p.message_id else 0,
        conversation,
        messages.get(p.previous_id, 0) if p.previous_id else 0,
        session,
        p.timestamp or 0,
        max(1, sum(p.terms.values())),
        speakers.get(p.speaker or "", 0),
        p.flags,
        KINDS.index(p.kind),
        p.owner,
        int(p.owner == Owner.MESSAGE and p.part < 0 and p.chunk == 0),
    )
