"""Sealing tails into segments, and writing segments anew without what died in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import apsw
import numpy as np

from recollect.engines.sqlite.source import tail_row
from recollect.index.source import SEGMENT_ROWS, SETTLED_ROWS, SegmentMark, seal, without
from recollect.store.change import IndexDamaged
from recollect.store.passages import Int

# Tails worth a segment, the longest first: of the generations in use.
READY = """
SELECT s.gen, s.partition, g.size,
    (SELECT count(*) FROM (SELECT 1 FROM tail t WHERE t.gen = s.gen AND t.partition = s.partition LIMIT ?3)) AS rows
FROM generation g CROSS JOIN index_state s ON s.gen = g.num
WHERE g.ns = ?1 AND g.state != 'garbage' AND rows >= ?2 ORDER BY rows DESC, s.gen DESC, s.partition
"""
TAIL = "SELECT num, columns, vector, terms FROM tail WHERE gen = ? AND partition = ? ORDER BY num LIMIT ?"
STILL_THERE = "SELECT count(*) FROM tail WHERE gen = ? AND partition = ? AND num <= ?"
CLEAR_TAIL = "DELETE FROM tail WHERE gen = ? AND partition = ? AND num <= ?"
SEALED = "UPDATE index_state SET sealed = ? WHERE gen = ? AND partition = ?"
ADD = """
INSERT INTO segment (gen, partition, first, last, count, checksum, state, replaces) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
RETURNING num
"""
ADD_DATA = "INSERT INTO segment_data (num, data) VALUES (?, ?)"
DATA = "SELECT data FROM segment_data WHERE num = ?"
IN_USE = "SELECT num, first, last FROM segment WHERE gen = ? AND partition = ? AND state = 1 ORDER BY first"
REMOVE = "DELETE FROM segment WHERE num = ?"
REMOVE_DATA = "DELETE FROM segment_data WHERE num = ?"
RAISE_EPOCH = "UPDATE index_state SET epoch = epoch + 1, compacting = 0 WHERE gen = ? AND partition = ?"
PREPARED = "SELECT num FROM segment WHERE gen = ? AND partition = ? AND state = 0"
# Where so much has died that the segments are worth writing anew, or that was begun.
COMPACTING = """
SELECT s.gen, s.partition, s.compacting FROM generation g CROSS JOIN index_state s ON s.gen = g.num
WHERE g.ns = ?1 AND g.state != 'garbage' AND s.compacting > 0 LIMIT 1
"""
WORTH_IT = """
SELECT s.gen, s.partition, s.deaths FROM generation g CROSS JOIN index_state s ON s.gen = g.num
WHERE g.ns = ?1 AND g.state != 'garbage' AND s.compacting = 0 AND (
    (SELECT count(*) FROM death d WHERE d.gen = s.gen AND d.partition = s.partition)
        > max(?2, ?3 * (SELECT coalesce(sum(count), 0) FROM segment x WHERE x.gen = s.gen AND x.partition = s.partition
            AND x.state = 1)))
LIMIT 1
"""
BEGIN = "UPDATE index_state SET compacting = ? WHERE gen = ? AND partition = ? AND compacting = 0"
STILL = "SELECT compacting = ?3 FROM index_state WHERE gen = ?1 AND partition = ?2"
IS_TO_BE_REPLACED = """
SELECT EXISTS (SELECT 1 FROM segment WHERE num = ?3 AND state = 1)
    AND NOT EXISTS (SELECT 1 FROM segment WHERE gen = ?1 AND partition = ?2 AND state = 0 AND replaces = ?3)
"""
DEAD = "SELECT num FROM death WHERE gen = ? AND partition = ? AND seq <= ? AND sealed ORDER BY num"
NOT_REPLACED = """
SELECT num, first, last FROM segment s WHERE gen = ?1 AND partition = ?2 AND state = 1
  AND NOT EXISTS (SELECT 1 FROM segment r WHERE r.gen = ?1 AND r.partition = ?2 AND r.state = 0 AND r.replaces = s.num)
ORDER BY first
"""
REPLACED = """
DELETE FROM segment WHERE num IN (
    SELECT replaces FROM segment WHERE gen = ?1 AND partition = ?2 AND state = 0 AND replaces IS NOT NULL)
"""
DROP_EMPTY = "DELETE FROM segment WHERE gen = ? AND partition = ? AND state = 0 AND count = 0"
USE = "UPDATE segment SET state = 1, replaces = NULL WHERE gen = ? AND partition = ? AND state = 0"
FORGET_DEATHS = "DELETE FROM death WHERE gen = ? AND partition = ? AND seq <= ?"

#: Deaths that are worth writing segments anew: so many at least, and so large a share of the rows.
MOST_DEATHS, DEAD_SHARE = 2048, 0.25


class Tail(NamedTuple):
    """A tail that is worth a segment."""

    gen: int
    partition: int
    size: int  # of its vectors
    rows: int


class Compaction(NamedTuple):
    """Segments of a partition that are being written anew, without what died up to a place in the log."""

    gen: int
    partition: int
    until: int


class Rewritten(NamedTuple):
    """A segment that was written anew. None: nothing of it is left."""

    num: int
    first: int
    last: int
    made: tuple[SegmentMark, bytes] | None


def long_tails(connection: apsw.Connection, ns: int) -> list[Tail]:
    """Tails that are worth a segment, the longest first."""
    return [Tail(*row) for row in connection.execute(READY, (ns, SETTLED_ROWS, SEGMENT_ROWS))]


def sealed(connection: apsw.Connection, tail: Tail) -> tuple[SegmentMark, bytes]:
    """A segment of the oldest rows of a tail. Only reads. Raises IndexDamaged."""
    found = connection.execute(TAIL, (tail.gen, tail.partition, SEGMENT_ROWS))
    return seal([tail_row(row, tail.size) for row in found])


def use_sealed(connection: apsw.Connection, tail: Tail, mark: SegmentMark, data: bytes) -> None:
    """Puts a segment in the place of the rows that it was made of; not where some of them have died meanwhile."""
    if connection.execute(STILL_THERE, (tail.gen, tail.partition, mark.last)).get == mark.count:
        _add(connection, tail.gen, tail.partition, mark, data, state=1)
        connection.execute(CLEAR_TAIL, (tail.gen, tail.partition, mark.last))
        connection.execute(SEALED, (mark.last, tail.gen, tail.partition))


def compaction(connection: apsw.Connection, ns: int) -> Compaction | None:
    """What is being written anew, or is worth it."""
    found = connection.execute(COMPACTING, (ns,)).fetchone()
    found = found or connection.execute(WORTH_IT, (ns, MOST_DEATHS, DEAD_SHARE)).fetchone()
    return Compaction(*found) if found else None


def rewrite_next(connection: apsw.Connection, work: Compaction) -> Rewritten | None:
    """The next segment of a compaction without its dead; None: all are written. Only reads. Raises IndexDamaged."""
    found = _next(connection, work)
    if found is None:
        return None
    num, first, last, dead = found
    return Rewritten(num, first, last, _without(connection, num, dead, first, last))


def prepare(connection: apsw.Connection, work: Compaction, rewritten: Rewritten) -> None:
    """Lays a segment that was written anew beside the one in use."""
    connection.execute(BEGIN, (work.until, work.gen, work.partition))
    still = connection.execute(STILL, work).get
    if still and connection.execute(IS_TO_BE_REPLACED, (*work[:2], rewritten.num)).get:
        mark, data = rewritten.made or (SegmentMark(rewritten.first, rewritten.last, 0, 0), b"")
        _add(connection, work.gen, work.partition, mark, data, state=0, replaces=rewritten.num)


def use_prepared(connection: apsw.Connection, work: Compaction) -> None:
    """Takes what was written anew into use, and empties the log."""
    connection.execute(BEGIN, (work.until, work.gen, work.partition))
    if not connection.execute(STILL, work).get or _next(connection, work) is not None:
        return  # an erasing came between
    connection.execute(REPLACED, work[:2])
    connection.execute(DROP_EMPTY, work[:2])
    connection.execute(USE, work[:2])
    connection.execute(FORGET_DEATHS, work)
    connection.execute(RAISE_EPOCH, work[:2])


def take_out(connection: apsw.Connection, gen: int, partition: int, numbers: Sequence[int]) -> None:
    """Writes the segments that hold these passages without them, at once: nothing of them stays.

    A segment that cannot be read loses its data: it is damaged as before, and holds no words.
    """
    gone = np.unique(np.fromiter(numbers, np.int64, len(numbers)))
    in_use: list[Any] = connection.execute(IN_USE, (gen, partition)).fetchall()
    for num, first, last in in_use:
        begin, end = np.searchsorted(gone, [first, last + 1])
        if begin == end:
            continue
        try:
            made = _without(connection, num, gone[begin:end], first, last)
        except IndexDamaged:
            connection.execute(REMOVE_DATA, (num,))
            continue
        connection.execute(REMOVE, (num,))
        connection.execute(REMOVE_DATA, (num,))
        if made is not None:
            _add(connection, gen, partition, *made, state=1)
    for (num,) in connection.execute(PREPARED, (gen, partition)).fetchall():
        connection.execute(REMOVE, (num,))
        connection.execute(REMOVE_DATA, (num,))
    connection.execute(RAISE_EPOCH, (gen, partition))


def _next(connection: apsw.Connection, work: Compaction) -> tuple[int, int, int, Int] | None:
    """The next segment that holds dead passages, and is not written anew yet: its num, first, last, and the dead."""
    found = connection.execute(DEAD, work).fetchall()
    dead = np.fromiter((row[0] for row in found), np.int64, len(found))
    left: list[Any] = connection.execute(NOT_REPLACED, work[:2]).fetchall()
    for num, first, last in left:
        begin, end = np.searchsorted(dead, [first, last + 1])
        if begin < end:
            return num, first, last, dead[begin:end]
    return None


def _without(
    connection: apsw.Connection, num: int, dead: Int, first: int, last: int
) -> tuple[SegmentMark, bytes] | None:
    data = connection.execute(DATA, (num,)).get
    if data is None:
        raise IndexDamaged(f"Segment {first} of the search index is missing.", hint="Rebuild it: recollect reindex")
    return without(data, dead.tolist(), f"{first} to {last}")


def _add(
    connection: apsw.Connection,
    gen: int,
    partition: int,
    mark: SegmentMark,
    data: bytes,
    *,
    state: int,
    replaces: int | None = None,
) -> None:
    values = (gen, partition, mark.first, mark.last, mark.count, mark.checksum, state, replaces)
    num = connection.execute(ADD, values).get
    if data:
        connection.execute(ADD_DATA, (num, data))
