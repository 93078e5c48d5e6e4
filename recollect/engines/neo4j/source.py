"""The rows of one partition for the shared index.

Statements of a transaction see what others commit meanwhile, and a commit does not come into sight all at once: the
properties of a node first, what is found by an index some milliseconds later. So the state of a partition counts what
there is of everything, and is believed only when as much is seen. What is newer than the state is cut off by the index,
which asks for the state once more when it has read, in case rows were moved.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import neo4j
import numpy as np

from recollect.engines.neo4j import indexing
from recollect.engines.neo4j.indexing import PIECES, scope
from recollect.engines.neo4j.maintain import SEGMENT
from recollect.engines.neo4j.put import key
from recollect.engines.neo4j.writing import PARTITIONS
from recollect.errors import StoreBusy
from recollect.index.source import IndexState, SegmentMark, TailRow
from recollect.record import Namespace, NodeId
from recollect.store.change import IndexDamaged
from recollect.store.passages import Int

SEEN_ROWS = """
RETURN COLLECT { MATCH (s:IndexSegment) WHERE s.space = $space AND s.partition = $partition AND s.first > 0
        RETURN coalesce(sum(s.size), 0) }
    + COLLECT { MATCH (t:Tail) WHERE t.space = $space AND t.partition = $partition AND t.last > 0
        RETURN coalesce(sum(t.size), 0) }
    + [COUNT { MATCH (d:Death) WHERE d.space = $space AND d.partition = $partition AND d.place > 0 }] AS rows
"""
SEEN_VECTORS = """
MATCH (q:Quality) WHERE q.space = $space AND q.partition = $partition AND q.place > 0 RETURN count(*) AS vectors
"""
SEGMENTS = """
MATCH (s:IndexSegment) WHERE s.space = $space AND s.partition = $partition AND s.first > 0
RETURN s.first AS first, s.last AS last, s.size AS size, s.checksum AS checksum ORDER BY first
"""
DEATHS = """
MATCH (d:Death) WHERE d.space = $space AND d.partition = $partition AND d.place > $after
RETURN d.place AS place, d.number AS number ORDER BY place
"""
QUALITY = """
MATCH (q:Quality) WHERE q.space = $space AND q.partition = $partition AND q.place > $after AND q.number >= $first
RETURN q.place AS place, q.number AS number, q.vector AS vector ORDER BY place
"""
RUNS = """
UNWIND $numbers AS number MATCH (p:Passage {space: $space, number: number}) WHERE p.runs IS NOT NULL
RETURN collect(number) AS numbers, collect(p.runs) AS runs
"""
CONVERSATIONS = """
MATCH (c:Conversation) WHERE c.namespace = $ns AND c.id IS NOT NULL AND ($sources IS NULL OR c.source IN $sources)
RETURN c.number AS number
"""
CONVERSATIONS_OF = """
UNWIND $ids AS id MATCH (c:Conversation&Node {namespace: $ns, id: id}) WHERE $sources IS NULL OR c.source IN $sources
RETURN c.number AS number
"""
# The space is in the query, as the word of a property of its own.
HOLDING = """
CALL db.index.fulltext.queryNodes('passage_words', $query) YIELD node WHERE node.space = $space
RETURN collect(node.number) AS numbers
"""
SPEAKER = "MATCH (s:Speaker {space: $space, key: $key}) RETURN s.number AS number"


def quoted(words: Sequence[str]) -> str:
    """Words as one phrase for the full-text index: within quotes nothing is an operator but these two signs."""
    return '"' + " ".join(word.replace("\\", "\\\\").replace('"', '\\"') for word in words) + '"'


#: The last states of partitions, by space and number, of which everything was seen.
Seen = dict[tuple[int, int], IndexState]

_MOST_SEEN = 4_096  # of them: some 2 MB
_PATIENCE, _PAUSE = 5.0, 0.005  # seconds


class Marks:
    """What a space says of its partitions: one statement reads those of all, and again where one is asked for twice."""

    def __init__(self, tx: neo4j.Transaction, space: int) -> None:
        self._tx, self._space = tx, space
        self._marks: dict[int, neo4j.Record] | None = None
        self._told: set[int] = set()

    def __call__(self, partition: int) -> neo4j.Record | None:
        """The row of one; None where nothing is in it."""
        if self._marks is None or partition in self._told:
            self._marks = {mark["partition"]: mark for mark in self._tx.run(PARTITIONS, space=self._space)}
            self._told.clear()
        self._told.add(partition)
        return self._marks.get(partition)


@dataclass(frozen=True, slots=True)
class Neo4jSource:
    """Implements `recollect.index.source.Source`."""

    tx: neo4j.Transaction
    namespace: Namespace
    generation: int
    space: int
    partition: int
    seen: Seen
    marks: Marks

    def state(self) -> IndexState:
        """Where it stands, as soon as all of that is in sight. Raises IndexDamaged where it never is, StoreBusy."""
        where = {"space": self.space, "partition": self.partition}
        limit, first = time.monotonic() + _PATIENCE, None
        while True:
            found = self.marks(self.partition)
            if found is None:
                return IndexState(self.generation, 0, 0, 0, 0, 0)
            state = IndexState(
                self.generation, found["epoch"], found["last"], found["sealed"], found["deaths"], found["quality"]
            )
            if self._sees(state, found, where):
                if len(self.seen) >= _MOST_SEEN:
                    self.seen.clear()  # it is looked at whole once more
                self.seen[self.space, self.partition] = state
                return state
            if time.monotonic() > limit:
                if state == first:
                    raise IndexDamaged("Rows of the search index are missing.", hint="Rebuild it: recollect reindex")
                raise StoreBusy("The search index changes faster than it can be read.", hint="Try again.")
            first = first or state
            time.sleep(_PAUSE)

    def _sees(self, state: IndexState, found: neo4j.Record, where: dict[str, Any]) -> bool:
        """Whether all that makes up a state is seen; of what was seen before only what has changed is looked at."""
        known = self.seen.get((self.space, self.partition))
        if known == state:
            return True
        if self.tx.run(SEEN_ROWS, where).single(strict=True)["rows"] != [
            found[name] for name in ("segment_rows", "tail_rows", "log")
        ]:
            return False
        if known is not None and all(getattr(known, name) == found[name] for name in ("quality", "deaths", "epoch")):
            return True
        vectors: int = self.tx.run(SEEN_VECTORS, where).single(strict=True)["vectors"]
        return vectors == int(found["vectors"])

    def segments(self) -> list[SegmentMark]:
        """All segments, ascending."""
        found = self.tx.run(SEGMENTS, space=self.space, partition=self.partition)
        return [SegmentMark(r["first"], r["last"], r["size"], r["checksum"]) for r in found]

    def segment(self, first: int) -> bytes:
        """The data of a segment. Raises IndexDamaged where they are missing."""
        found = self.tx.run(SEGMENT, space=self.space, partition=self.partition, first=first).single()
        if found is None or not isinstance(found["data"], bytes | bytearray):
            raise IndexDamaged(f"Segment {first} of the search index is missing.", hint="Rebuild it: recollect reindex")
        return bytes(found["data"])

    def tail(self, after: int) -> Iterator[TailRow]:
        """The rows in no segment, ascending."""
        try:
            yield from indexing.tail_rows(
                self.tx.run(indexing.TAIL, space=self.space, partition=self.partition, after=after), after
            )
        except (ValueError, TypeError):
            raise IndexDamaged(
                "The tail of the search index cannot be read.", hint="Rebuild it: recollect reindex"
            ) from None

    def deaths(self, after: int) -> Sequence[tuple[int, int]]:
        """The log of deaths after a place in it."""
        found = self.tx.run(DEATHS, space=self.space, partition=self.partition, after=after)
        return [(r["place"], r["number"]) for r in found]

    def quality(self, after: int, first: int = 0) -> Iterable[tuple[int, int, bytes]]:
        """Quality vectors after a place in their log, of passages from a number on."""
        where = {"space": self.space, "partition": self.partition, "after": after, "first": first}
        return ((r["place"], r["number"], bytes(r["vector"])) for r in self.tx.run(QUALITY, where))

    def runs(self, numbers: Sequence[int]) -> Sequence[tuple[int, bytes]]:
        """The vectors of runs of sentences; hundreds a search, in one row: each row would cost the driver a read."""
        wanted = [int(number) for number in numbers]
        found = self.tx.run(RUNS, space=self.space, numbers=wanted).single(strict=True)
        return list(zip(found["numbers"], map(bytes, found["runs"]), strict=True))

    def pieces(self) -> tuple[int, bytes] | None:
        """Counts of word pieces."""
        found = self.tx.run(PIECES, space=self.space).single()
        return (found["passages"], bytes(found["counts"])) if found else None

    def conversations(self, sources: tuple[str, ...], ids: tuple[NodeId, ...] | None) -> Sequence[int]:
        """Numbers of conversations by source and id."""
        wanted = list(sources) or None
        if ids is None:
            found = self.tx.run(CONVERSATIONS, ns=self.namespace, sources=wanted)
        else:
            found = self.tx.run(CONVERSATIONS_OF, ns=self.namespace, sources=wanted, ids=list(dict.fromkeys(ids)))
        return [r["number"] for r in found]

    def holding(self, phrase: tuple[str, ...]) -> Int:
        """Numbers of the living passages that hold a phrase, word by word."""
        if not any(phrase):
            return np.zeros(0, np.int64)
        query = f'+scope:"{scope(self.space, self.partition)}" +words:{quoted(phrase)}'
        found = self.tx.run(HOLDING, {"query": query, "space": self.space}).single(strict=True)
        return np.sort(np.array(found["numbers"], np.int64))

    def speaker(self, name: str) -> int:
        """The number of a person; -1 for a stranger."""
        found = self.tx.run(SPEAKER, space=self.space, key=key(name)).single()
        return found["number"] if found else -1
