"""The rows of one partition for the shared index, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apsw
import numpy as np
import orjson

from recollect.engines.sqlite.generations import Generation
from recollect.engines.sqlite.indexing import scope
from recollect.engines.sqlite.put import ids_json
from recollect.index.source import COLUMNS, IndexState, SegmentMark, TailRow
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


class PartitionSource:
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
        self._gen, self._size = (gen.num, gen.size) if gen else (0, 0)
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
