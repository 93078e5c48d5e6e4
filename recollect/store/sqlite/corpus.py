"""One lane of a namespace, loaded for search: columns and vectors resident, postings read when they are asked for.

Loading reads a few large blobs; what is written afterwards, by this process or another, is read row by row before the
next search. Rows of the arrays are the passages' rows in the store.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import apsw
import numpy as np
import orjson
from numpy.typing import NDArray

from recollect.store.passages import PEOPLE, Bool, Float, Int
from recollect.store.quantize import unit
from recollect.store.sqlite.index import COLUMNS
from recollect.store.sqlite.vocabulary import Vocabulary

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

_DAY = 86_400_000_000
_CACHED_TERMS = 4096
_RELOAD_AFTER = 20_000  # rows kept in dictionaries before a reload moves them to postings
_NO_POSTINGS = (np.zeros(0, np.int64), np.zeros(0, np.float32))

Postings = tuple[Int, Float]


class Corpus:
    """What a search needs of one lane. Not thread-safe: its owner lends it to one search at a time."""

    def __init__(self, connection: apsw.Connection, ns: int, lane: int) -> None:
        self.ns, self.lane = ns, lane
        self.size = 0
        self._changes: int = 0
        self._first: int | None = None
        self._sealed: int = 0
        self._load(connection)

    # --- freshness -------------------------------------------------------------------------------------------------
    def refresh(self, connection: apsw.Connection) -> None:
        """Brings everything up to date with the file."""
        changes = connection.execute(CHANGES, (self.ns,)).get
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
        self.size = 0
        self._columns = np.zeros(0, COLUMNS)
        self._vectors = np.zeros((0, 0), np.float32)
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

    def _append(self, columns: list[bytes], vectors: list[bytes]) -> None:
        if not columns:
            return
        added = np.frombuffer(b"".join(columns), COLUMNS)
        packed = np.frombuffer(b"".join(vectors), np.int8).reshape(len(added), -1)
        end = self.size + len(added)
        if end > len(self._columns):  # grow by half, so that appends stay cheap
            room = max(end, len(self._columns) * 3 // 2) if self.size else end
            self._columns = np.concatenate([self._columns[: self.size], np.zeros(room - self.size, COLUMNS)])
            grown = np.zeros((room, packed.shape[1]), np.float32)
            if self.size:
                grown[: self.size] = self._vectors[: self.size]
            self._vectors = grown
        self._columns[self.size : end] = added
        for at in range(0, len(packed), 8192):  # in slices: no second float copy of everything
            self._vectors[self.size + at : self.size + min(at + 8192, len(packed))] = unit(packed[at : at + 8192])
        self.size = end

    def _read_dead(self, connection: apsw.Connection) -> None:
        alive = np.ones(self.size, bool)
        alive[[row[0] for row in connection.execute(DEAD, (self.ns, self.lane)) if row[0] < self.size]] = False
        self._alive = alive

    def _derive(self) -> None:
        if len(self._alive) < self.size:
            self._alive = np.concatenate([self._alive, np.ones(self.size - len(self._alive), bool)])
        for derived in ("links", "sittings", "lengths", "people", "years", "days"):
            self.__dict__.pop(derived, None)

    # --- what a search reads ---------------------------------------------------------------------------------------
    @property
    def columns(self) -> NDArray[np.void]:
        """The columns of all rows, dead ones included."""
        return self._columns[: self.size]

    @property
    def vectors(self) -> Float:
        """Unit vectors (size, d)."""
        return self._vectors[: self.size]

    @property
    def alive(self) -> Bool:
        """Which rows can be found."""
        return self._alive

    @cached_property
    def lengths(self) -> tuple[Float, float, Float]:
        """Numbers of terms (size,), their mean over the living, and z of ln(1 + length)."""
        lengths = self.columns["length"].astype(np.float32)
        living = lengths[self.alive]
        mean = float(living.mean()) if len(living) else 1.0
        logs = np.log1p(lengths)
        of_living = logs[self.alive]
        spread = (float(of_living.mean()), float(of_living.std())) if len(living) else (0.0, 1.0)
        return lengths, mean, ((logs - spread[0]) / (spread[1] + 1e-6)).astype(np.float32)

    @cached_property
    def links(self) -> tuple[Int, Int]:
        """Rows before and after each row in reading order within its sitting; -1 where there is none."""
        columns, size = self.columns, self.size
        standing = np.flatnonzero((columns["first"] == 1) & self.alive)
        messages = columns["message"]
        row_of = np.full(int(max(messages.max(), columns["previous"].max()) + 1) if size else 1, -1, np.int64)
        row_of[messages[standing]] = standing
        before = np.where(columns["previous"] > 0, row_of[columns["previous"]], -1)
        other = columns["sitting"][np.maximum(before, 0)] != columns["sitting"]
        before[(before >= 0) & other] = -1
        after = np.full(size, -1, np.int64)
        linked = standing[before[standing] >= 0]
        after[before[linked]] = linked  # of several branches the last one written
        extra = np.flatnonzero(columns["first"] == 0)  # further passages of a message share its neighbours
        own = row_of[messages[extra]]
        after[extra] = np.where(own >= 0, after[np.maximum(own, 0)], -1)
        return before, after

    @cached_property
    def sittings(self) -> tuple[Int, Int, Int]:
        """Each row's sitting by number (size,), the living rows by sitting, where each sitting begins in them."""
        _, numbers = np.unique(self.columns["sitting"], return_inverse=True)
        living = np.flatnonzero(self.alive)
        order = living[np.argsort(numbers[living], kind="stable")]
        begins = np.searchsorted(numbers[order], np.arange(int(numbers.max()) + 2 if self.size else 1))
        return numbers, order, begins

    @cached_property
    def years(self) -> list[int]:
        """The years in which something was said, ascending."""
        time = self.columns["time"][self.alive]
        known = np.unique(time[time > 0].astype("datetime64[us]").astype("datetime64[Y]"))
        return [int(year) + 1970 for year in known.astype(np.int64)]

    @cached_property
    def days(self) -> tuple[Int, Int]:
        """The days on which something was said, since 1970, -1: unknown; and the place of each row's day in them."""
        time = self.columns["time"]
        days, of_row = np.unique(np.where(time > 0, time // _DAY, -1), return_inverse=True)
        return days, of_row

    @cached_property
    def people(self) -> Bool:
        """Which rows lie in sittings of people with names."""
        return (self.columns["flags"] & PEOPLE).astype(bool)

    def postings(self, connection: apsw.Connection, term: str) -> Postings:
        """The living rows that hold a term, ascending, and how often."""
        cached = self._postings.get(term)
        if cached is None:
            cached = self._read_postings(connection, term)
            if len(self._postings) >= _CACHED_TERMS:
                self._postings.clear()
            self._postings[term] = cached
        rows, counts = cached
        living = self.alive[rows]
        return (rows, counts) if living.all() else (rows[living], counts[living])

    def _read_postings(self, connection: apsw.Connection, term: str) -> Postings:
        found: list[Any] = connection.execute(POSTINGS, (self.ns, self.lane, term, self._sealed)).fetchall()
        rows = np.frombuffer(b"".join(f[0] for f in found), np.uint32).astype(np.int64)
        counts = np.frombuffer(b"".join(f[1] for f in found), np.uint8).astype(np.float32)
        recent = self._recent.get(term)
        if recent:
            rows = np.concatenate([rows, np.array(recent[0], np.int64)])
            counts = np.concatenate([counts, np.array(recent[1], np.float32)])
        return (rows, counts) if len(rows) else _NO_POSTINGS

    def rows_of(self, numbers: Int) -> Int:
        """The rows of passages by number; those that are not here are left out."""
        own = self.columns["num"]
        at = np.searchsorted(own, numbers)
        inside = at < self.size
        at, numbers = at[inside], numbers[inside]
        return np.asarray(at[own[at] == numbers], np.int64)

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
