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

from recollect.store.index.numeric import dots
from recollect.store.index.segment import Segment
from recollect.store.index.spelling import Spelling
from recollect.store.index.statistics import NO_MOMENTS, Moments, Statistics
from recollect.store.index.terms import MOST_ROWS, Terms, joined
from recollect.store.passages import PEOPLE, Bool, Float, Int

#: So many rows make a full block.
BLOCK_ROWS = MOST_ROWS
#: Blocks of so many rows have short vectors too, by which cosines are estimated.
SHORT_ROWS = 32_768
#: Numbers in a short vector.
SHORT_SIZE = 48
#: So much of what short vectors tell of the differences between rows is computed; many of their numbers tell the rest.
_TOLD = 0.98

_DAY = 86_400_000_000  # microseconds
_SAMPLED = 61  # every so many-th row tells how much rows differ
_SLICE = 1024  # vectors that are unpacked at once: they stay in a core's cache
#: The greatest lengths of a short vector and of what it is multiplied with, in whole numbers: no sum leaves 16 bits.
_SHORT_LENGTH, _ASKED_LENGTH = 320, 100


@dataclass(frozen=True)
class Order:
    """Rows sorted by a number that they have, and then by their place."""

    keys: Int  # (m,) ascending
    rows: NDArray[np.uint16]  # (m,)

    @classmethod
    def of(cls, keys: Int, rows: Int) -> Order:
        """Of the keys (m,) of rows (m,), ascending."""
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], rows[order].astype(np.uint16))


@dataclass(frozen=True)
class Block:
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
    by_message: Order  # the rows that stand for a message
    by_previous: Order  # those of them that follow another message
    by_session: Order
    statistics: Statistics  # over all rows
    short: NDArray[np.int8]  # (s, n) the vectors less their mean in their main directions; s = 0: there are none
    basis: Float  # (s, d) these directions, so that `basis.T @ short[:, i]` is about vector i less the mean
    sorted_terms: Spelling | None = None  # None: sorted when somebody asks for them
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
        count = self.size if rows is None else len(rows)
        found = np.empty(count, np.float32)
        unpacked = np.empty((min(_SLICE, count), len(vector)), np.float32)
        for at in range(0, count, _SLICE):
            end = min(at + _SLICE, count)
            some = unpacked[: end - at]
            some[:] = self.vectors[at:end] if rows is None else self.vectors[rows[at:end]]
            found[at:end] = dots(some, vector)
        found *= self.inverse_norm if rows is None else self.inverse_norm[rows]
        return found

    def estimates(self, vector: Float) -> Float:
        """The cosines of all rows as the short vectors tell them, exact where there are none."""
        if not len(self.short):
            return self.cosines(vector)
        own = dots(self.basis, vector)
        told = (own * self._spread) ** 2
        order = np.argsort(-told)
        most = int(np.searchsorted(np.cumsum(told[order]), _TOLD * told.sum())) + 1
        scale = float(np.linalg.norm(own)) / _ASKED_LENGTH or 1.0
        factors = np.rint(own / scale).astype(np.int16)
        total, product = np.zeros(self.size, np.int16), np.empty(self.size, np.int16)
        for place in order[:most].tolist():
            np.multiply(self.short[place], factors[place], out=product)
            np.add(total, product, out=total)
        found = total * np.float32(scale)
        found += np.float32(self.statistics.moments.mean(vector))
        return found

    @cached_property
    def _spread(self) -> Float:
        """How much the short vectors differ in each of their numbers, by some of them."""
        return np.asarray(self.short[:, ::_SAMPLED].std(axis=1, dtype=np.float32), np.float32)

    @cached_property
    def talks(self) -> tuple[Int, NDArray[np.uint16]]:
        """The conversations, ascending, and each row's place in them."""
        unique, place = np.unique(self.conversation, return_inverse=True)
        return unique, place.astype(np.uint16)

    def rows_of(self, numbers: Int) -> Int:
        """The rows of passages by number; those that are not here are left out."""
        at = np.searchsorted(self.number, numbers)
        inside = at < self.size
        at, numbers = at[inside], numbers[inside]
        return np.asarray(at[self.number[at] == numbers], np.int64)


def build(segments: Sequence[Segment]) -> Block:
    """A block of segments, which follow each other."""
    return _derived(
        columns=np.concatenate([segment.columns for segment in segments]),
        vectors=np.concatenate([segment.vectors for segment in segments]),
        terms=joined([(segment.terms, len(segment.columns)) for segment in segments]),
    )


def merged(blocks: Sequence[Block]) -> Block:
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


def _derived(columns: NDArray[np.void], vectors: NDArray[np.int8], terms: Terms) -> Block:
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
) -> Block:
    message, previous, time = (np.asarray(plain[name], np.int64) for name in ("message", "previous", "time"))
    standing = np.flatnonzero(plain["first"])
    following = standing[previous[standing] > 0]
    session = np.asarray(plain["session"], np.int64)
    days, day = np.unique(np.where(time > 0, time // _DAY, -1), return_inverse=True)
    short, basis = _shortened(vectors, inverse_norm, statistics.moments)
    columns: dict[str, Any] = dict(plain)
    return Block(
        **columns,
        days=days,
        day=day.astype(np.uint16),
        vectors=vectors,
        inverse_norm=inverse_norm,
        terms=terms,
        by_message=Order.of(message[standing], standing),
        by_previous=Order.of(previous[following], following),
        by_session=Order.of(session, np.arange(len(session))),
        statistics=statistics,
        short=short,
        basis=basis,
    )


def _shortened(vectors: NDArray[np.int8], inverse_norm: Float, moments: Moments) -> tuple[NDArray[np.int8], Float]:
    """Short vectors and their basis: `(basis @ q) @ short[:, i]` is about `(v[i] - mean) @ q`.

    The directions are those in which the vectors differ most (the principal components), which tell far more of a
    cosine than as many bytes of signs: of 50,000 real messages 0.95 correlation against 0.7.
    """
    n, d = vectors.shape
    if n < SHORT_ROWS or d < 2 * SHORT_SIZE:
        return np.zeros((0, n), np.int8), np.zeros((0, d), np.float32)
    mean = moments.total / n
    _, directions = np.linalg.eigh(moments.squares / n - np.outer(mean, mean))
    basis = np.ascontiguousarray(directions[:, ::-1][:, :SHORT_SIZE]).astype(np.float32)
    offset = (mean @ basis).astype(np.float32)
    found = np.empty((n, SHORT_SIZE), np.float32)
    for at in range(0, n, _SLICE):
        found[at : at + _SLICE] = (vectors[at : at + _SLICE] * inverse_norm[at : at + _SLICE, None]) @ basis - offset
    longest = float(np.sqrt(np.einsum("ij,ij->i", found, found).max()))
    scale = np.float32(max(longest / _SHORT_LENGTH, float(np.abs(found).max()) / 127, 1e-9))
    short = np.empty((SHORT_SIZE, n), np.int8)
    for at in range(0, n, _SLICE):
        short[:, at : at + _SLICE] = np.rint(found[at : at + _SLICE].T / scale)
    return short, np.ascontiguousarray(basis.T) * scale
