"""One lane of a namespace, loaded for search, and kept up to date with what anybody has written since.

Segments are read whole, younger passages one by one. A namespace's node says where its rows stand and counts what rows
alone do not show (deaths, quality vectors), so that a search asks for one node to know whether it is up to date.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import neo4j
import numpy as np

from recollect.record import Namespace
from recollect.store.neo4j import queries, search_queries
from recollect.store.neo4j.segments import SealedTerms, counted, unseal
from recollect.store.passages import Bool, Float
from recollect.store.quantize import unit
from recollect.store.resident import NO_POSTINGS, Postings, Resident
from recollect.store.vocabulary import Vocabulary

_CACHED_TERMS = 4096
_CACHED_RUNS = 50_000  # passages whose runs of sentences are kept, some 40 MB
_RELOAD_AFTER = 20_000  # rows kept in dictionaries before a reload reads them as segments


@dataclass(frozen=True, slots=True)
class State:
    """Where a namespace stands. `space` names its passages; another one means that all of them are others."""

    space: int
    changes: int
    rows: tuple[int, ...]
    sealed: tuple[int, ...]
    embedder: str | None


def read_state(tx: neo4j.ManagedTransaction, namespace: Namespace) -> State | None:
    """None where nothing has been written yet."""
    found = tx.run(queries.STATE, ns=namespace).single()
    if found is None:
        return None
    return State(found["space"], found["changes"], tuple(found["rows"]), tuple(found["sealed"]), found["embedder"])


class LoadedLane(Resident):
    """What a search needs of one lane. Not thread-safe: its owner lends it to one search at a time."""

    _changes: int
    _sealed: int

    def __init__(self, tx: neo4j.ManagedTransaction, state: State, lane: int) -> None:
        self.space, self.lane = state.space, lane
        self._load(tx, state)

    # --- freshness -------------------------------------------------------------------------------------------------
    def refresh(self, tx: neo4j.ManagedTransaction, state: State) -> None:
        """Brings everything up to date."""
        rows = state.rows[self.lane]
        if rows - self._sealed > _RELOAD_AFTER and state.sealed[self.lane] > self._sealed:
            self._load(tx, state)
            return
        if rows > self.size:
            self._read_tail(tx, rows)
        if state.changes != self._changes:
            self._changes = state.changes
            self._bury([record["row"] for record in tx.run(search_queries.GONE, space=self.space, lane=self.lane)])
            self._quality_stale = True
        elif rows == self.size == len(self._alive):
            return
        self._derive()

    def _load(self, tx: neo4j.ManagedTransaction, state: State) -> None:
        self._empty()
        self._changes = -1
        self._sealed = 0
        self._segments: list[SealedTerms] = []
        self._recent: dict[str, tuple[list[int], list[int]]] = {}
        self._postings: dict[str, Postings] = {}
        self._vocabulary: Vocabulary | None = None
        self._runs: dict[int, bytes | None] = {}
        self._quality: tuple[Float, Bool] | None = None
        self._quality_stale = True
        columns, vectors = [], []
        until = state.sealed[self.lane]
        for record in tx.run(search_queries.SEGMENTS, space=self.space, lane=self.lane, until=until):
            columns.append(record["columns"])
            vectors.append(record["vectors"])
            self._segments.append(unseal(record))
        self._append(columns, vectors)
        self._sealed = self.size
        self.refresh(tx, state)

    def _read_tail(self, tx: neo4j.ManagedTransaction, until: int) -> None:
        found = list(tx.run(search_queries.TAIL, space=self.space, lane=self.lane, first=self.size, until=until))
        for row, record in enumerate(found, self.size):
            for term, count in counted(record["terms"]).items():
                rows, counts = self._recent.setdefault(term, ([], []))
                rows.append(row)
                counts.append(count)
        self._append([record["columns"] for record in found], [record["packed"] for record in found])
        self._vocabulary = None
        self._postings = {t: p for t, p in self._postings.items() if t not in self._recent}

    # --- what a search reads ---------------------------------------------------------------------------------------
    def postings(self, term: str) -> Postings:
        """The living rows that hold a term, ascending, and how often."""
        cached = self._postings.get(term)
        if cached is None:
            cached = self._gather(term)
            if len(self._postings) >= _CACHED_TERMS:
                self._postings.clear()
            self._postings[term] = cached
        return self.living(cached)

    def _gather(self, term: str) -> Postings:
        found = [segment.postings(term) for segment in self._segments]
        recent = self._recent.get(term)
        if recent:
            found.append((np.array(recent[0], np.int64), np.array(recent[1], np.float32)))
        found = [postings for postings in found if len(postings[0])]
        if not found:
            return NO_POSTINGS
        return np.concatenate([rows for rows, _ in found]), np.concatenate([counts for _, counts in found])

    def vocabulary(self) -> Vocabulary:
        """All terms with the number of passages that hold them."""
        if self._vocabulary is None:
            found: Counter[str] = Counter({term: len(rows) for term, (rows, _) in self._recent.items()})
            for segment in self._segments:
                found.update(segment.frequencies())
            self._vocabulary = Vocabulary(found)
        return self._vocabulary

    def runs(self, numbers: list[int], read: Callable[[list[int]], dict[int, bytes]]) -> list[tuple[int, bytes]]:
        """The vectors of runs of sentences of those passages that have any; `read` fetches what is not known yet."""
        missing = [number for number in numbers if number not in self._runs]
        if missing:
            if len(self._runs) + len(missing) > _CACHED_RUNS:
                self._runs.clear()
                missing = numbers
            self._runs.update(dict.fromkeys(missing))
            self._runs.update(read(missing))
        return [(number, packed) for number in numbers if (packed := self._runs[number])]

    def quality(self, tx: neo4j.ManagedTransaction) -> tuple[Float, Bool] | None:
        """Quality vectors (size, 384) with which rows have one; None without any."""
        if self._quality_stale or (self._quality is not None and len(self._quality[1]) < self.size):
            self._quality_stale = False
            found: list[Any] = [
                record
                for record in tx.run(search_queries.QUALITY, space=self.space, lane=self.lane)
                if record["row"] < self.size
            ]
            self._quality = self._unpacked(found) if found else None
        return self._quality

    def _unpacked(self, found: list[Any]) -> tuple[Float, Bool]:
        rows = np.array([record["row"] for record in found])
        packed = np.frombuffer(b"".join(record["vector"] for record in found), np.int8).reshape(len(found), -1)
        vectors = np.zeros((self.size, packed.shape[1]), np.float32)
        vectors[rows] = unit(packed)
        there = np.zeros(self.size, bool)
        there[rows] = True
        return vectors, there
