"""One lane of a namespace in memory, as arrays: the columns and vectors of its passages, and what follows from them.

Rows of the arrays are the passages' rows in the store. How they come here is the engine's business.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect.store.columns import COLUMNS
from recollect.store.numeric import zscore
from recollect.store.passages import PEOPLE, Bool, Float, Int
from recollect.store.quantize import unit_into

#: Passages that are kept in memory over all lanes, some 1.5 KB each.
MOST_LOADED = 1_000_000

_DAY = 86_400_000_000  # microseconds
_SLICE = 1024  # vectors that are made ready at once, 1 MiB

#: The rows that hold a term, ascending, and how often.
Postings = tuple[Int, Float]
NO_POSTINGS: Postings = (np.zeros(0, np.int64), np.zeros(0, np.float32))


class Resident:
    """The rows of a lane. Not thread-safe: its owner lends it to one search at a time."""

    size: int

    # --- filling ---------------------------------------------------------------------------------------------------
    def _empty(self) -> None:
        self.size = 0
        self._columns = np.zeros(0, COLUMNS)
        self._vectors = np.zeros((0, 0), np.float32)
        self._alive = np.zeros(0, bool)

    def _append(self, columns: Sequence[bytes], vectors: Sequence[bytes]) -> None:
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
        for at in range(0, len(packed), _SLICE):  # while they are in the processor's cache
            unit_into(self._vectors[self.size + at : min(self.size + at + _SLICE, end)], packed[at : at + _SLICE])
        self.size = end

    def _bury(self, rows: Sequence[int]) -> None:
        """Says which rows are dead; all others live."""
        alive = np.ones(self.size, bool)
        alive[[row for row in rows if row < self.size]] = False
        self._alive = alive
        self._derive()

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

    @property
    def population(self) -> int:
        """How many passages of the lane can be found."""
        return int(self.alive.sum())

    def zscore(self, values: Float, of: Bool | None = None) -> Float:
        """Values (size,) in standard deviations from the mean of the lane, or of some of its rows."""
        return zscore(values, self.alive if of is None else self.alive & of)

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

    def rows_of(self, numbers: Int) -> Int:
        """The rows of passages by number; those that are not here are left out."""
        own = self.columns["num"]
        at = np.searchsorted(own, numbers)
        inside = at < self.size
        at, numbers = at[inside], numbers[inside]
        return np.asarray(at[own[at] == numbers], np.int64)

    def living(self, postings: Postings) -> Postings:
        """Of the rows that hold a term those that can be found."""
        rows, counts = postings
        alive = self.alive[rows]
        return (rows, counts) if alive.all() else (rows[alive], counts[alive])


R = TypeVar("R", bound=Resident)


class Loaded(Generic[R]):
    """The lanes that a store keeps in memory; of more than `most` passages those least recently searched go first."""

    def __init__(self, most: int = MOST_LOADED) -> None:
        self._most = most
        self._lanes: OrderedDict[tuple[int, int], R] = OrderedDict()

    def take(self, namespace: int, lane: int) -> R | None:
        """Takes a lane out, if it is there: what cannot be brought up to date shall not stay."""
        return self._lanes.pop((namespace, lane), None)

    def keep(self, namespace: int, lane: int, loaded: R) -> None:
        """Puts a lane back as the last one searched."""
        self._lanes[namespace, lane] = loaded
        while len(self._lanes) > 1 and sum(each.size for each in self._lanes.values()) > self._most:
            self._lanes.popitem(last=False)

    def clear(self) -> None:
        """Gives up all."""
        self._lanes.clear()
