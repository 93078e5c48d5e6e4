"""Quality vectors of passages, their tokens, and in how many passages each word piece stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recollect.engines.neo4j.writing import Generation, Writing
from recollect.index.numeric import to_int8
from recollect.store.passages import QualityVectors

ADD = """
UNWIND $rows AS r MATCH (p:Passage {space: $space, number: r.number})
WHERE NOT EXISTS { MATCH (:Quality {space: $space, number: r.number}) }
CREATE (q:Quality) SET q = r, q.space = $space, q.partition = p.partition
SET p.bare = NULL
RETURN r.number AS number, p.partition AS partition
"""
PLACE = "UNWIND $rows AS r MATCH (q:Quality {space: $space, number: r.number}) SET q.place = r.place"
PIECES = "MATCH (k:PieceCount {space: $space}) RETURN k.passages AS passages, k.counts AS counts"
PUT_PIECES = "MERGE (k:PieceCount {space: $space}) SET k.passages = $passages, k.counts = $counts"
REMOVE = """
UNWIND $rows AS number MATCH (q:Quality {space: $space, number: number})
WITH q, q.pieces AS pieces, q.partition AS partition DELETE q
RETURN pieces, partition
"""

_PIECES = 1 << 16


def add(writing: Writing, generation: Generation, rows: Sequence[QualityVectors]) -> None:
    """Adds quality vectors of passages that live and have none, and counts in how many each word piece stands."""
    by_number = {int(row.passage): row for row in rows}
    added = writing.put(
        ADD,
        [
            {
                "number": number,
                "vector": to_int8(row.vector[None])[0].tobytes(),
                "pieces": np.asarray(row.pieces, np.uint16).tobytes(),
                "tokens": np.asarray(row.tokens, np.int8).tobytes(),
            }
            for number, row in by_number.items()
        ],
        space=generation.space,
    )
    place(writing, generation.space, [(r["number"], r["partition"]) for r in added])
    count_pieces(writing, generation.space, [by_number[r["number"]].pieces for r in added], 1)


def place(writing: Writing, space: int, rows: Sequence[tuple[int, int]]) -> None:
    """Gives quality vectors (number, partition) their places in the log."""
    placed = []
    for number, partition in rows:
        state = writing.partition(space, partition)
        state.quality += 1
        state.vectors += 1
        placed.append({"number": number, "place": state.quality})
    writing.put(PLACE, placed, space=space)


def count_pieces(writing: Writing, space: int, pieces: Sequence[Any], sign: int) -> None:
    """Counts passages in (1) or out (-1) whose word pieces these are."""
    if not pieces:
        return
    known = writing.tx.run(PIECES, space=space).single()
    passages = known["passages"] if known else 0
    counts = np.frombuffer(known["counts"], np.uint32).astype(np.int64) if known else np.zeros(_PIECES, np.int64)
    for own in pieces:
        counts[np.unique(own)] += sign
    passages += sign * len(pieces)
    packed = counts.astype(np.uint32).tobytes()
    writing.tx.run(PUT_PIECES, space=space, passages=passages, counts=packed).consume()


def remove(writing: Writing, space: int, numbers: Sequence[int]) -> None:
    """Removes the vectors of passages that die."""
    found = writing.put(REMOVE, numbers, space=space)
    for record in found:
        writing.partition(space, record["partition"]).vectors -= 1
    count_pieces(writing, space, [np.frombuffer(record["pieces"], np.uint16) for record in found], -1)
