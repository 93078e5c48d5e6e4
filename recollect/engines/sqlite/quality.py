"""Quality vectors of passages, their tokens, and in how many passages each word piece stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw
import numpy as np

from recollect.index.numeric import to_int8
from recollect.store.passages import QualityVectors

ADD_VECTOR = """
INSERT INTO quality_vector (num, gen, partition, vector) SELECT num, gen, partition, ?2 FROM passage
WHERE num = ?1 AND gen = ?3 ON CONFLICT (num) DO NOTHING RETURNING seq, partition
"""
EMBEDDED = "UPDATE passage SET embedded = 1 WHERE num = ?"
ADD_TOKENS = "INSERT INTO quality_token (seq, pieces, vectors) VALUES (?, ?, ?)"
NOTE = """
INSERT INTO index_state (gen, partition, quality) VALUES (?1, ?2, ?3)
ON CONFLICT (gen, partition) DO UPDATE SET quality = max(quality, excluded.quality)
"""
REMOVE_VECTOR = "DELETE FROM quality_vector WHERE num = ? RETURNING seq"
REMOVE_TOKENS = "DELETE FROM quality_token WHERE seq = ? RETURNING pieces"
PIECES = "SELECT passages, counts FROM piece_count WHERE gen = ?"
PUT_PIECES = """
INSERT INTO piece_count (gen, passages, counts) VALUES (?, ?, ?)
ON CONFLICT (gen) DO UPDATE SET passages = excluded.passages, counts = excluded.counts
"""

_PIECES = 1 << 16


def add_quality(connection: apsw.Connection, gen: int, rows: Sequence[QualityVectors]) -> None:
    """Adds the vectors of passages of a generation; what is there stays, what is dead gets none."""
    added, last = [], {}
    for row in rows:
        vector, _ = to_int8(row.vector[None])
        found = connection.execute(ADD_VECTOR, (int(row.passage), vector.tobytes(), gen)).fetchone()
        if found is not None:
            connection.execute(EMBEDDED, (int(row.passage),))
            pieces = np.asarray(row.pieces, np.uint16).tobytes()
            connection.execute(ADD_TOKENS, (found[0], pieces, np.asarray(row.tokens, np.int8).tobytes()))
            added.append(pieces)
            last[found[1]] = found[0]
    connection.executemany(NOTE, [(gen, partition, seq) for partition, seq in last.items()])
    count_pieces(connection, gen, added, 1)


def remove_quality(connection: apsw.Connection, gen: int, passages: Sequence[int]) -> None:
    """Removes the vectors of passages that die."""
    gone = connection.executemany(REMOVE_VECTOR, [(num,) for num in passages]).fetchall()
    if gone:
        pieces: list[Any] = connection.executemany(REMOVE_TOKENS, gone).fetchall()
        count_pieces(connection, gen, (row[0] for row in pieces), -1)


def count_pieces(connection: apsw.Connection, gen: int, pieces: Iterable[bytes], sign: int) -> None:
    """Counts the word pieces of passages in (1) or out (-1)."""
    changed, passages = np.zeros(_PIECES, np.int64), 0
    for raw in pieces:
        changed[np.unique(np.frombuffer(raw, np.uint16))] += sign
        passages += sign
    if passages:
        known = connection.execute(PIECES, (gen,)).fetchone()
        before = np.frombuffer(known[1], np.uint32) if known else np.zeros(_PIECES, np.uint32)
        counts = np.maximum(before + changed, 0).astype(np.uint32)
        connection.execute(PUT_PIECES, (gen, max(0, passages + (known[0] if known else 0)), counts.tobytes()))
