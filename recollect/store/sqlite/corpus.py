"""One lane of a namespace, loaded for search: columns and vectors resident, postings read when they are asked for.

Loading reads a few large blobs; what is written afterwards, by this process or another, is read row by row before the
next search. Rows of the arrays are the passages' rows in the store.
"""

from __future__ import annotations

from typing import Any

import apsw
import numpy as np
import orjson

from recollect.store.passages import Bool, Float
from recollect.store.quantize import unit
from recollect.store.resident import NO_POSTINGS, Postings, Resident
from recollect.store.vocabulary import Vocabulary

CHANGES = "SELECT changes FROM namespace WHERE ns = ?"
LAST = "SELECT num, row FROM passage WHERE ns = ? AND lane = ? ORDER BY row DESC LIMIT 1"
FIRST = "SELECT num FROM passage WHERE ns = ? AND lane = ? AND row = 0"
SEGMENTS = "SELECT columns, vectors FROM segment WHERE ns = ? AND lane = ? AND first >= ? ORDER BY first"
TAIL = "SELECT columns, vector, terms FROM tail WHERE ns = ? AND lane = ? AND row >= ? ORDER BY row"
SEALED_UNTIL = "SELECT coalesce(max(last) + 1, 0) FROM segment WHERE ns = ? AND lane = ?"
DEAD = "SELECT row FROM passage WHERE ns = ? AND lane = ? AND dead"
POSTINGS = "SELECT rows, counts FROM posting WHERE ns = ? AND lane = ? AND term = ? AND first < ? ORDER BY first"
VOCABULARY = "SELECT term, sum(length(counts)) FROM posting WHERE ns = ? AND lane = ? GROUP BY term"
QUALITY = """
SELECT p.row, q.vector FROM quality_vector q JOIN passage p ON p.num = q.num WHERE q.ns = ? AND p.lane = ?
"""

_CACHED_TERMS = 4096
_RELOAD_AFTER = 20_000  # rows kept in dictionaries before a reload moves them to postings


class Corpus(Resident):
    """What a search needs of one lane. Not thread-safe: its owner lends it to one search at a time."""

    def __init__(self, connection: apsw.Connection, ns: int, lane: int) -> None:
        self.ns, self.lane = ns, lane
        self._changes: int | None = None
        self._first: int | None = None
        self._sealed: int = 0
        self._load(connection)

    # --- freshness -------------------------------------------------------------------------------------------------
    def refresh(self, connection: apsw.Connection) -> None:
        """Brings everything up to date with the file."""
        changes = connection.execute(CHANGES, (self.ns,)).get
        if changes is not None and self._changes is not None and changes < self._changes:
            return  # another search has seen more than this one's view of the file: what is too new has no text here
        last = connection.execute(LAST, (self.ns, self.lane)).fetchone()
        if changes != self._changes:
            first = connection.execute(FIRST, (self.ns, self.lane)).get
            if first != self._first or last is None or last[1] + 1 < self.size:
                self._load(connection)
                return
            self._changes = changes
            self._read_dead(connection)
            self._quality_stale = True
        if last is not None and last[1] + 1 > self.size:
            if last[1] + 1 - self._sealed > _RELOAD_AFTER:
                self._load(connection)
            else:
                self._read_new(connection)

    def _load(self, connection: apsw.Connection) -> None:
        self._changes = connection.execute(CHANGES, (self.ns,)).get
        self._first = connection.execute(FIRST, (self.ns, self.lane)).get
        self._sealed = connection.execute(SEALED_UNTIL, (self.ns, self.lane)).get
        self._empty()
        self._recent: dict[str, tuple[list[int], list[int]]] = {}
        self._postings: dict[str, Postings] = {}
        self._vocabulary: Vocabulary | None = None
        self._quality: tuple[Float, Bool] | None = None
        self._quality_stale = True
        segments: list[Any] = connection.execute(SEGMENTS, (self.ns, self.lane, 0)).fetchall()
        self._append([segment[0] for segment in segments], [segment[1] for segment in segments])
        self._read_tail(connection)
        self._read_dead(connection)
        self._derive()

    def _read_new(self, connection: apsw.Connection) -> None:
        # Rows that were sealed before we saw them stand in no tail; their terms are postings beyond our boundary.
        if connection.execute(SEALED_UNTIL, (self.ns, self.lane)).get > self.size:
            self._load(connection)
            return
        self._read_tail(connection)
        self._derive()

    def _read_tail(self, connection: apsw.Connection) -> None:
        found: list[Any] = connection.execute(TAIL, (self.ns, self.lane, self.size)).fetchall()
        for row, (_, _, terms) in enumerate(found, self.size):
            for term, count in orjson.loads(terms).items():
                rows, counts = self._recent.setdefault(term, ([], []))
                rows.append(row)
                counts.append(count)
        self._append([f[0] for f in found], [f[1] for f in found])
        if found:
            self._vocabulary = None
        if self._recent:
            self._postings = {t: p for t, p in self._postings.items() if t not in self._recent}

    def _read_dead(self, connection: apsw.Connection) -> None:
        self._bury([row[0] for row in connection.execute(DEAD, (self.ns, self.lane))])

    # --- what a search reads ---------------------------------------------------------------------------------------
    def postings(self, connection: apsw.Connection, term: str) -> Postings:
        """The living rows that hold a term, ascending, and how often."""
        cached = self._postings.get(term)
        if cached is None:
            cached = self._read_postings(connection, term)
            if len(self._postings) >= _CACHED_TERMS:
                self._postings.clear()
            self._postings[term] = cached
        return self.living(cached)

    def _read_postings(self, connection: apsw.Connection, term: str) -> Postings:
        found: list[Any] = connection.execute(POSTINGS, (self.ns, self.lane, term, self._sealed)).fetchall()
        rows = np.frombuffer(b"".join(f[0] for f in found), np.uint32).astype(np.int64)
        counts = np.frombuffer(b"".join(f[1] for f in found), np.uint8).astype(np.float32)
        recent = self._recent.get(term)
        if recent:
            rows = np.concatenate([rows, np.array(recent[0], np.int64)])
            counts = np.concatenate([counts, np.array(recent[1], np.float32)])
        return (rows, counts) if len(rows) else NO_POSTINGS

    def vocabulary(self, connection: apsw.Connection) -> Vocabulary:
        """All terms with the number of passages that hold them, as of the last load and the rows read since."""
        if self._vocabulary is None:
            counted: list[Any] = connection.execute(VOCABULARY, (self.ns, self.lane)).fetchall()
            found: dict[str, int] = dict(counted)
            for term, (rows, _) in self._recent.items():
                found[term] = found.get(term, 0) + len(rows)
            self._vocabulary = Vocabulary(found)
        return self._vocabulary

    def quality(self, connection: apsw.Connection) -> tuple[Float, Bool] | None:
        """Quality vectors (size, 384) with which rows have one; None where too few have."""
        if self._quality_stale or (self._quality is not None and len(self._quality[1]) < self.size):
            self._read_quality(connection)
        return self._quality

    def _read_quality(self, connection: apsw.Connection) -> None:
        self._quality_stale = False
        found: list[Any] = connection.execute(QUALITY, (self.ns, self.lane)).fetchall()
        found = [f for f in found if f[0] < self.size]
        if not found:
            self._quality = None
            return
        rows = np.array([f[0] for f in found])
        vectors = np.zeros((self.size, len(found[0][1])), np.float32)
        vectors[rows] = unit(np.frombuffer(b"".join(f[1] for f in found), np.int8).reshape(len(found), -1))
        there = np.zeros(self.size, bool)
        there[rows] = True
        self._quality = (vectors, there)
