"""The rows of one partition for the shared index, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import apsw
import numpy as np
import orjson

from recollect.engines.codec import ids_json
from recollect.engines.plans import Generation
from recollect.engines.sqlite.indexing import scope
from recollect.index.source import COLUMNS, SEGMENT_ROWS, SETTLED_ROWS, IndexState, SegmentMark, TailRow, seal, without
from recollect.record import NodeId
from recollect.store.change import IndexDamaged
from recollect.store.passages import Int

STATE = "SELECT epoch, last, sealed, deaths, quality FROM index_state WHERE gen = ? AND partition = ?"
SEGMENTS = """
SELECT first, last, count, checksum FROM segment WHERE gen = ? AND partition = ? AND state = 1 ORDER BY first
"""
SEGMENT = """
SELECT d.data FROM segment s JOIN segment_data d ON d.num = s.num
WHERE s.gen = ? AND s.partition = ? AND s.state = 1 AND s.first = ?
"""
TAIL = "SELECT num, columns, vector, terms FROM tail WHERE gen = ? AND partition = ? AND num > ? ORDER BY num"
DEATHS = "SELECT seq, num FROM death WHERE gen = ? AND partition = ? AND seq > ? ORDER BY seq"
QUALITY = """
SELECT seq, num, vector FROM quality_vector WHERE gen = ? AND partition = ? AND seq > ? AND num >= ? ORDER BY seq
"""
RUNS = "SELECT num, vectors FROM run_vector WHERE num IN (SELECT value FROM json_each(?))"
PIECES = "SELECT passages, counts FROM piece_count WHERE gen = ?"
CONVERSATIONS = """
SELECT num FROM conversation WHERE ns = ?1 AND (?2 IS NULL OR source IN (SELECT value FROM json_each(?2)))
"""
CONVERSATIONS_OF = """
SELECT num FROM conversation WHERE ns = ?1 AND (?2 IS NULL OR source IN (SELECT value FROM json_each(?2)))
  AND id IN (SELECT value FROM json_each(?3))
"""
# As one text rowids are read in a fraction of the time of as many rows.
HOLDING = "SELECT group_concat(rowid) FROM words WHERE words MATCH ?"
# Passages in segments, of all that were ever written.
SHARE = """
SELECT ?3 * (SELECT coalesce(sum(count), 0) FROM segment WHERE gen = ?1 AND partition = ?2 AND state = 1)
    >= (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'passage')
"""
SPEAKER = "SELECT num FROM speaker WHERE ns = ? AND name = ?"

#: Where one in so many passages is of the partition, a phrase is looked for in all of them: to leave out the others
#: costs more than to find them, and they are in no block of the partition anyway.
_LARGE_SHARE = 2


class SQLiteSource:
    """Implements `recollect.index.source.Source`."""

    def __init__(
        self,
        connection: apsw.Connection,
        ns: int,
        gen: Generation | None,
        partition: int,
        everywhere: dict[str, Int] | None = None,
    ) -> None:
        """`everywhere` takes what was found in all partitions, for the others of the same transaction."""
        self._connection, self._ns, self._partition = connection, ns, partition
        self._everywhere = {} if everywhere is None else everywhere
        self._number = gen.number if gen else 0
        self._gen, self._size = (gen.key, gen.embedder.size) if gen else (0, 0)
        self._wordless = bool(gen and gen.wordless)
        self._key = (self._gen, partition)

    def state(self) -> IndexState:
        """Where it stands."""
        found = self._connection.execute(STATE, self._key).fetchone()
        return IndexState(self._number, *(found or (0, 0, 0, 0, 0)))

    def segments(self) -> list[SegmentMark]:
        """All segments, ascending."""
        return [SegmentMark(*row) for row in self._rows(SEGMENTS, self._key, int, int, int, int)]

    def segment(self, first: int) -> bytes:
        """The data of a segment. Raises IndexDamaged where they are missing."""
        found: tuple[bytes] | None = next(self._rows(SEGMENT, (*self._key, first), bytes), None)
        if found is None:
            raise IndexDamaged(f"Segment {first} of the search index is missing.", hint="Rebuild it: recollect reindex")
        return found[0]

    def tail(self, after: int) -> Iterator[TailRow]:
        """The rows in no segment, ascending."""
        for row in self._rows(TAIL, (*self._key, after), int, bytes, bytes, str):
            yield tail_row(row, self._size)

    def deaths(self, after: int) -> Sequence[tuple[int, int]]:
        """The log of deaths after a place in it."""
        return list(self._rows(DEATHS, (*self._key, after), int, int))

    def quality(self, after: int, first: int = 0) -> Iterable[tuple[int, int, bytes]]:
        """Quality vectors after a place in their log, of passages from a number on."""
        return self._rows(QUALITY, (*self._key, after, first), int, int, bytes)

    def runs(self, numbers: Sequence[int]) -> Sequence[tuple[int, bytes]]:
        """The vectors of runs of sentences."""
        return list(self._rows(RUNS, (ids_json(numbers),), int, bytes))

    def pieces(self) -> tuple[int, bytes] | None:
        """Counts of word pieces."""
        return next(self._rows(PIECES, (self._gen,), int, bytes), None)

    def conversations(self, sources: tuple[str, ...], ids: tuple[NodeId, ...] | None) -> Sequence[int]:
        """Numbers of conversations by source and id."""
        wanted = ids_json(sources) if sources else None
        if ids is None:
            return [row[0] for row in self._connection.execute(CONVERSATIONS, (self._ns, wanted))]
        return [row[0] for row in self._connection.execute(CONVERSATIONS_OF, (self._ns, wanted, ids_json(ids)))]

    def holding(self, phrase: tuple[str, ...]) -> Int:
        """Numbers of the living passages that hold a phrase, word by word."""
        quoted = " ".join(word.replace('"', '""') for word in phrase)
        if not quoted.strip():
            return np.zeros(0, np.int64)
        if self._wordless:
            raise IndexDamaged(
                "The text part of the search index is damaged: phrases cannot be found.",
                hint="Rebuild it: recollect reindex",
            )
        # A scope has digits: without any, words are found in the texts alone, and faster where no column is named.
        query = f'text : "{quoted}"' if any(map(str.isdigit, quoted)) else f'"{quoted}"'
        if query in self._everywhere:
            return self._everywhere[query]
        if self._connection.execute(SHARE, (*self._key, _LARGE_SHARE)).get:
            return self._everywhere.setdefault(query, self._matching(query))
        return self._matching(f'scope : "{scope(self._gen, self._partition)}" AND {query}')

    def _matching(self, query: str) -> Int:
        """The numbers of the passages that match a full-text query, ascending: so they mostly come."""
        found: str | None = self._connection.execute(HOLDING, (query,)).get
        return np.sort(np.fromstring(found or "", np.int64, sep=","), kind="stable")

    def speaker(self, name: str) -> int:
        """The number of a person; -1 for a stranger."""
        return self._connection.execute(SPEAKER, (self._ns, name)).get or -1

    def _rows(self, statement: str, values: tuple[Any, ...], *kinds: type[Any]) -> Iterator[Any]:
        """What a statement finds. Raises IndexDamaged for values of other kinds: rows of another table."""
        for row in self._connection.execute(statement, values):
            if not all(map(isinstance, row, kinds)):
                raise IndexDamaged("A row of the search index is damaged.", hint="Rebuild it: recollect reindex")
            yield row


def tail_row(row: Sequence[Any], size: int) -> TailRow:
    """A row of the tail, with a vector of so many numbers. Raises IndexDamaged."""
    num, columns, vector, terms = row
    try:
        counts = orjson.loads(terms)
    except ValueError:
        counts = None
    if not isinstance(counts, dict) or (len(columns), len(vector)) != (COLUMNS.itemsize, size):
        raise IndexDamaged(f"Passage {num} of the search index cannot be read.", hint="Rebuild it: recollect reindex")
    return TailRow(num, columns, vector, counts)


# Sealing tails into segments, and writing segments anew without what died in them.

# Tails worth a segment, the longest first: of the generations in use.
READY = """
SELECT s.gen, s.partition, g.size,
    (SELECT count(*) FROM (SELECT 1 FROM tail t WHERE t.gen = s.gen AND t.partition = s.partition LIMIT ?3)) AS rows
FROM generation g CROSS JOIN index_state s ON s.gen = g.num
WHERE g.ns = ?1 AND g.state != 'garbage' AND rows >= ?2 ORDER BY rows DESC, s.gen DESC, s.partition
"""
OLDEST_OF_TAIL = "SELECT num, columns, vector, terms FROM tail WHERE gen = ? AND partition = ? ORDER BY num LIMIT ?"
STILL_THERE = "SELECT count(*) FROM tail WHERE gen = ? AND partition = ? AND num <= ?"
CLEAR_TAIL = "DELETE FROM tail WHERE gen = ? AND partition = ? AND num <= ?"
SEALED = "UPDATE index_state SET sealed = ? WHERE gen = ? AND partition = ?"
ADD_SEGMENT = """
INSERT INTO segment (gen, partition, first, last, count, checksum, state, replaces) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
RETURNING num
"""
ADD_SEGMENT_DATA = "INSERT INTO segment_data (num, data) VALUES (?, ?)"
SEGMENT_DATA = "SELECT data FROM segment_data WHERE num = ?"
SEGMENTS_IN_USE = "SELECT num, first, last FROM segment WHERE gen = ? AND partition = ? AND state = 1 ORDER BY first"
REMOVE_SEGMENT = "DELETE FROM segment WHERE num = ?"
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
BEGIN_COMPACTION = "UPDATE index_state SET compacting = ? WHERE gen = ? AND partition = ? AND compacting = 0"
IS_STILL_COMPACTING = "SELECT compacting = ?3 FROM index_state WHERE gen = ?1 AND partition = ?2"
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


def sealed_segment(connection: apsw.Connection, tail: Tail) -> tuple[SegmentMark, bytes]:
    """A segment of the oldest rows of a tail. Only reads. Raises IndexDamaged."""
    found = connection.execute(OLDEST_OF_TAIL, (tail.gen, tail.partition, SEGMENT_ROWS))
    return seal([tail_row(row, tail.size) for row in found])


def use_sealed(connection: apsw.Connection, tail: Tail, mark: SegmentMark, data: bytes) -> None:
    """Puts a segment in the place of the rows that it was made of; not where some of them have died meanwhile."""
    if connection.execute(STILL_THERE, (tail.gen, tail.partition, mark.last)).get == mark.count:
        _add_segment(connection, tail.gen, tail.partition, mark, data, state=1)
        connection.execute(CLEAR_TAIL, (tail.gen, tail.partition, mark.last))
        connection.execute(SEALED, (mark.last, tail.gen, tail.partition))


def compaction(connection: apsw.Connection, ns: int) -> Compaction | None:
    """What is being written anew, or is worth it."""
    found = connection.execute(COMPACTING, (ns,)).fetchone()
    found = found or connection.execute(WORTH_IT, (ns, MOST_DEATHS, DEAD_SHARE)).fetchone()
    return Compaction(*found) if found else None


def rewrite_next(connection: apsw.Connection, work: Compaction) -> Rewritten | None:
    """The next segment of a compaction without its dead; None: all are written. Only reads. Raises IndexDamaged."""
    found = _next_segment(connection, work)
    if found is None:
        return None
    num, first, last, dead = found
    return Rewritten(num, first, last, _segment_without(connection, num, dead, first, last))


def prepare(connection: apsw.Connection, work: Compaction, rewritten: Rewritten) -> None:
    """Lays a segment that was written anew beside the one in use."""
    connection.execute(BEGIN_COMPACTION, (work.until, work.gen, work.partition))
    still = connection.execute(IS_STILL_COMPACTING, work).get
    if still and connection.execute(IS_TO_BE_REPLACED, (*work[:2], rewritten.num)).get:
        mark, data = rewritten.made or (SegmentMark(rewritten.first, rewritten.last, 0, 0), b"")
        _add_segment(connection, work.gen, work.partition, mark, data, state=0, replaces=rewritten.num)


def use_prepared(connection: apsw.Connection, work: Compaction) -> None:
    """Takes what was written anew into use, and empties the log."""
    connection.execute(BEGIN_COMPACTION, (work.until, work.gen, work.partition))
    if not connection.execute(IS_STILL_COMPACTING, work).get or _next_segment(connection, work) is not None:
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
    in_use: list[Any] = connection.execute(SEGMENTS_IN_USE, (gen, partition)).fetchall()
    for num, first, last in in_use:
        begin, end = np.searchsorted(gone, [first, last + 1])
        if begin == end:
            continue
        try:
            made = _segment_without(connection, num, gone[begin:end], first, last)
        except IndexDamaged:
            connection.execute(REMOVE_DATA, (num,))
            continue
        connection.execute(REMOVE_SEGMENT, (num,))
        connection.execute(REMOVE_DATA, (num,))
        if made is not None:
            _add_segment(connection, gen, partition, *made, state=1)
    for (num,) in connection.execute(PREPARED, (gen, partition)).fetchall():
        connection.execute(REMOVE_SEGMENT, (num,))
        connection.execute(REMOVE_DATA, (num,))
    connection.execute(RAISE_EPOCH, (gen, partition))


def _next_segment(connection: apsw.Connection, work: Compaction) -> tuple[int, int, int, Int] | None:
    """The next segment that holds dead passages, and is not written anew yet: its num, first, last, and the dead."""
    found = connection.execute(DEAD, work).fetchall()
    dead = np.fromiter((row[0] for row in found), np.int64, len(found))
    left: list[Any] = connection.execute(NOT_REPLACED, work[:2]).fetchall()
    for num, first, last in left:
        begin, end = np.searchsorted(dead, [first, last + 1])
        if begin < end:
            return num, first, last, dead[begin:end]
    return None


def _segment_without(
    connection: apsw.Connection, num: int, dead: Int, first: int, last: int
) -> tuple[SegmentMark, bytes] | None:
    data = connection.execute(SEGMENT_DATA, (num,)).get
    if data is None:
        raise IndexDamaged(f"Segment {first} of the search index is missing.", hint="Rebuild it: recollect reindex")
    return without(data, dead.tolist(), f"{first} to {last}")


def _add_segment(
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
    num = connection.execute(ADD_SEGMENT, values).get
    if data:
        connection.execute(ADD_SEGMENT_DATA, (num, data))
