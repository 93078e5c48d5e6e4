"""A block: an immutable run of rows as arrays, in memory or mapped from a file, with all that is derived from them.

Blocks are what a search goes through, one after the other: at 65,536 rows the arrays of one stay in a core's cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.index.numeric import NO_MOMENTS, Moments, Statistics, packed_dots
from recollect.index.source import Segment
from recollect.index.terms import MOST_ROWS, Spelling, Terms, joined
from recollect.store.passages import PEOPLE, Bool, Float, Int

_SHARE = (3, 8)  # of the numbers of a vector
_INT8 = 127
_AT_ONCE = 4096  # vectors
#: Blocks of fewer rows and short vectors are soon read whole; the axes of very long vectors take too long to find.
_LEAST_ROWS, _SHORTEST, _LONGEST = 16_384, 64, 1024
#: Of the variance that the axes must hold: of vectors that differ in all directions alike, they would lose the nearest.
_LEAST_VARIANCE = 0.6


@dataclass(frozen=True)
class Shortened:
    """Of n vectors their places along k axes, from a centre."""

    rows: NDArray[np.int8]  # (n, k) in steps
    axes: Float  # (k, d) of length 1, in steps
    centre: Float  # (d,)

    @classmethod
    def of(cls, vectors: NDArray[np.int8], inverse_norm: Float, moments: Moments) -> Shortened | None:
        """Of packed vectors (n, d), their inverse lengths (n,) and their moments; None where it is not worth it."""
        n, d = vectors.shape
        kept = d * _SHARE[0] // _SHARE[1]
        if n < _LEAST_ROWS or not _SHORTEST <= d <= _LONGEST:
            return None
        centre, axes, share = moments.axes(kept)
        if share < _LEAST_VARIANCE:
            return None
        placed = np.empty((n, kept), np.float32)
        for at in range(0, n, _AT_ONCE):
            own = slice(at, at + _AT_ONCE)
            placed[own] = (vectors[own] * inverse_norm[own, None] - centre) @ axes.T
        step = max(float(np.abs(placed).max()) / _INT8, 1e-9)
        placed /= step
        return cls(np.rint(placed, out=placed).astype(np.int8), axes * np.float32(step), centre)

    def cosines(self, vector: Float) -> Float:
        """About the cosines (n,) with a unit vector (d,)."""
        found = packed_dots(self.rows, np.einsum("ij,j->i", self.axes, vector), roughly=True)
        found += np.float32(np.einsum("i,i->", self.centre, vector))
        return found


#: So many rows make a full block.
BLOCK_ROWS = MOST_ROWS

_DAY = 86_400_000_000  # microseconds
_SLICE = 1024  # vectors that are unpacked at once: they stay in a core's cache


@dataclass(frozen=True)
class RowOrder:
    """Rows sorted by a number that they have, and then by their place."""

    keys: Int  # (m,) ascending
    rows: NDArray[np.uint16]  # (m,)

    @classmethod
    def of(cls, keys: Int, rows: Int) -> RowOrder:
        """Of the keys (m,) of rows (m,), ascending."""
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], rows[order].astype(np.uint16))


@dataclass(frozen=True)
class RowBlock:
    """Up to BLOCK_ROWS rows, n, with vectors of d numbers. See COLUMNS for what is not said here."""

    number: Int
    message: Int
    conversation: Int
    previous: Int
    session: Int
    time: Int
    length: NDArray[np.uint32]
    speaker: NDArray[np.uint32]
    flags: NDArray[np.uint32]
    kind: NDArray[np.uint8]
    first: NDArray[np.uint8]
    days: Int  # (k,) the days on which something was said, since 1970, -1: unknown, ascending
    day: NDArray[np.uint16]  # (n,) each row's place in them
    vectors: NDArray[np.int8]  # (n, d)
    inverse_norm: Float
    terms: Terms
    by_message: RowOrder  # the rows that stand for a message
    by_previous: RowOrder  # those of them that follow another message
    by_session: RowOrder
    statistics: Statistics  # over all rows
    sorted_terms: Spelling | None = None  # None: sorted when somebody asks for them
    shortened: Shortened | None = None  # of full blocks from a file
    mapped: bool = False  # from a file: its pages are not memory of our own

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.number)

    @cached_property
    def spelling(self) -> Spelling:
        """The terms by how they are spelled."""
        return self.sorted_terms or Spelling.of(self.terms)

    @cached_property
    def lengths(self) -> Float:
        """The numbers of terms."""
        return self.length.astype(np.float32)

    @cached_property
    def people(self) -> Bool | bool:
        """Which rows lie in sessions of people with names; one answer where it is the same for all."""
        found = (self.flags & PEOPLE).astype(bool)
        return bool(found[0]) if found.all() or not found.any() else found

    @cached_property
    def messages_by_day(self) -> Int:
        """How many rows that stand for a message each of the days has (k,)."""
        return np.asarray(np.bincount(self.day[self.first > 0], minlength=len(self.days)), np.int64)

    def units(self, rows: Int | slice) -> Float:
        """The unit vectors of some rows."""
        return np.asarray(self.vectors[rows] * self.inverse_norm[rows, None], np.float32)

    def cosines(self, vector: Float, rows: Int | None = None) -> Float:
        """The cosines of all rows, or of some, with a unit vector."""
        own = slice(None) if rows is None else rows
        return packed_dots(self.vectors[own], vector) * self.inverse_norm[own]

    def rough_cosines(self, vector: Float) -> Float:
        """About the cosines of all rows, in less time."""
        if self.shortened is not None:
            return self.shortened.cosines(vector)
        return packed_dots(self.vectors, vector, roughly=True) * self.inverse_norm

    @cached_property
    def talks(self) -> tuple[Int, NDArray[np.uint16]]:
        """The conversations, ascending, and each row's place in them."""
        unique, place = np.unique(self.conversation, return_inverse=True)
        return unique, place.astype(np.uint16)

    def of_conversations(self, wanted: Int) -> Bool:
        """Which rows are of these conversations."""
        conversations, own = self.talks
        at = np.minimum(np.searchsorted(conversations, wanted), len(conversations) - 1)
        held = np.zeros(len(conversations), bool)
        held[at[conversations[at] == wanted]] = True
        return held[own]

    def rows_of(self, numbers: Int) -> Int:
        """The rows of passages by number; those that are not here are left out."""
        at = np.searchsorted(self.number, numbers)
        inside = at < self.size
        at, numbers = at[inside], numbers[inside]
        return np.asarray(at[self.number[at] == numbers], np.int64)


def build(segments: Sequence[Segment]) -> RowBlock:
    """A block of segments, which follow each other."""
    return _derived(
        columns=np.concatenate([segment.columns for segment in segments]),
        vectors=np.concatenate([segment.vectors for segment in segments]),
        terms=joined([(segment.terms, len(segment.columns)) for segment in segments]),
    )


def merged(blocks: Sequence[RowBlock]) -> RowBlock:
    """One block of several small ones, which follow each other: what is summed up already is not summed up again."""
    statistics = blocks[0].statistics
    for block in blocks[1:]:
        statistics += block.statistics
    return _arranged(
        {name: np.concatenate([getattr(block, name) for block in blocks]) for name in _PLAIN},
        np.concatenate([block.vectors for block in blocks]),
        np.concatenate([block.inverse_norm for block in blocks]),
        joined([(block.terms, block.size) for block in blocks]),
        statistics,
    )


_PLAIN = (
    "number", "message", "conversation", "previous", "session", "time", "length", "speaker", "flags", "kind", "first",
)  # fmt: skip


def _derived(columns: NDArray[np.void], vectors: NDArray[np.int8], terms: Terms) -> RowBlock:
    n = len(vectors)
    inverse, moments = np.empty(n, np.float32), NO_MOMENTS
    for at in range(0, n, _SLICE):
        some = vectors[at : at + _SLICE].astype(np.float32)
        inverse[at : at + _SLICE] = 1.0 / np.maximum(np.sqrt(np.einsum("ij,ij->i", some, some)), 1e-9)
        some *= inverse[at : at + _SLICE, None]
        moments += Moments.of(some)
    return _arranged(
        {name: np.ascontiguousarray(columns[name]) for name in _PLAIN},
        vectors,
        inverse,
        terms,
        Statistics.of(columns["length"], moments),
    )


def _arranged(
    plain: dict[str, NDArray[np.generic]],
    vectors: NDArray[np.int8],
    inverse_norm: Float,
    terms: Terms,
    statistics: Statistics,
) -> RowBlock:
    message, previous, time = (np.asarray(plain[name], np.int64) for name in ("message", "previous", "time"))
    standing = np.flatnonzero(plain["first"])
    following = standing[previous[standing] > 0]
    session = np.asarray(plain["session"], np.int64)
    days, day = np.unique(np.where(time > 0, time // _DAY, -1), return_inverse=True)
    columns: dict[str, Any] = dict(plain)
    return RowBlock(
        **columns,
        days=days,
        day=day.astype(np.uint16),
        vectors=vectors,
        inverse_norm=inverse_norm,
        terms=terms,
        by_message=RowOrder.of(message[standing], standing),
        by_previous=RowOrder.of(previous[following], following),
        by_session=RowOrder.of(session, np.arange(len(session))),
        statistics=statistics,
    )
