"""The arithmetic of search: pure functions over arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from recollect.store.passages import Float, Int

_INT8 = 127
_FINER = 254  # steps of the second row in one of the first: what rounding leaves is half a step at most
_IN_CACHE = 4096  # rows that are read for both at once


def dots(rows: Float, vector: Float) -> Float:
    """The products (n,) of rows (n, d) with a vector (d,).

    As fast as `rows @ vector`, since reading the rows takes the time and not the arithmetic. But that wakes the threads
    of numpy's BLAS, which then spin for a while on the core that the rest of the search wants, and double its time.
    """
    return np.asarray(np.einsum("ij,j->i", rows, vector), np.float32)


def products(rows: Float) -> Float:
    """The products (n, n) of some hundred rows (n, d) with each other; without the threads of BLAS, as `dots`."""
    import simsimd  # slow to import where nothing is searched

    return np.array(simsimd.cdist(np.ascontiguousarray(rows), np.ascontiguousarray(rows), "dot"), np.float32)


def packed_dots(rows: NDArray[np.int8], vector: Float, *, roughly: bool = False) -> Float:
    """The same of int8 rows, without unpacking them: the vector is taken as two rows of int8, the second of which
    holds what rounding leaves of the first, and whole numbers are multiplied. At 256 dimensions exact to some 1e-5 of
    the lengths; `roughly`, by the first row alone, to some 0.002 of them in half the time.
    """
    import simsimd  # slow to import where nothing is searched

    step = float(np.abs(vector).max(initial=0.0)) / _INT8
    found = np.zeros(len(rows), np.float32)
    if not step:
        return found
    coarse = np.rint(vector / step)
    fine = np.rint((vector / step - coarse) * _FINER)
    packed = np.stack([coarse] if roughly else [coarse, fine]).astype(np.int8)
    for at in range(0, len(rows), _IN_CACHE):
        products = np.asarray(simsimd.cdist(packed, rows[at : at + _IN_CACHE], "dot"))
        found[at : at + _IN_CACHE] = products[0] if roughly else products[0] + products[1] / _FINER
    found *= np.float32(step)
    return found


def bm25(counts: Float, relative_length: Float, k1: float, b: float) -> Float:
    """The term-frequency part of BM25: counts (n,) of a term, lengths (n,) in units of the mean length."""
    return np.asarray(counts * (k1 + 1) / (counts + k1 * (1 - b + b * relative_length)), np.float32)


def closeness(days: Int, spans: Sequence[tuple[int, int]]) -> tuple[Float, Float]:
    """How near days (n,) since 1970, -1 unknown, are to ranges of days: inside (0 or 1), and a kernel.

    The kernel is 1 inside, falls as exp(-days / 10) after and as exp(-days / 4) before: people speak of a thing rather
    after it than before (RANKING.md 1).
    """
    unique, where = np.unique(days, return_inverse=True)
    inside = np.zeros(len(unique), np.float32)
    near = np.zeros(len(unique), np.float32)
    for start, end in spans:
        within = (unique >= start) & (unique <= end)
        inside = np.maximum(inside, within)
        after, before = np.maximum(unique - end, 0), np.maximum(start - unique, 0)
        near = np.maximum(near, np.exp(-after / 10.0) * np.exp(-before / 4.0))
    known = unique >= 0
    return (inside * known)[where].astype(np.float32), (near * known)[where].astype(np.float32)


def best_three(values: Float, begins: Int) -> Float:
    """The mean of the three highest values of each session, of fewer where it has fewer.

    `values` (n,) stand session by session, `begins` (m + 1,) says where each of m sessions begins.
    """
    starts, sizes = begins[:-1], np.diff(begins)
    if (sizes == 1).all():
        return values
    filled = sizes > 0
    group = np.repeat(np.arange(len(sizes)), sizes)
    own = values.astype(np.float32)
    sums = np.zeros(len(sizes), np.float32)
    for place in range(3):  # take the highest of each session, three times: far quicker than sorting
        best = np.full(len(sizes), -np.inf, np.float32)
        best[filled] = np.maximum.reduceat(own, starts[filled]) if len(own) else 0.0
        sums += np.where(sizes > place, best, 0.0)
        at = np.flatnonzero(own == best[group])
        own[at[np.flatnonzero(np.diff(group[at], prepend=-1))]] = -np.inf
    return np.asarray(sums / np.maximum(np.minimum(sizes, 3), 1), np.float32)


# Vectors small: a unit vector as int8 with one scale a row. The cosine is kept to about 0.003.


def to_int8(vectors: Float) -> tuple[NDArray[np.int8], Float]:
    """Rows (n, d) as int8 (n, d) and scales (n,): `vectors ≈ int8 * scale[:, None]`. A zero row has scale 0."""
    scales = (
        (np.abs(vectors).max(axis=1) / 127).astype(np.float32) if vectors.size else np.zeros(len(vectors), np.float32)
    )
    safe = np.where(scales > 0, scales, 1.0)[:, None]
    return np.rint(vectors / safe).astype(np.int8), scales


def unit(vectors: NDArray[np.generic]) -> Float:
    """Rows (n, d) as float32 unit rows; zero rows stay zero. The scale of int8 rows therefore needs no keeping."""
    rows = np.empty(vectors.shape, np.float32)
    rows[:] = vectors  # no second copy of them at any time
    rows /= np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1e-9)[:, None]
    return rows


def cosines(packed: NDArray[np.int8], vector: Float) -> Float:
    """The cosines (n,) of int8 rows (n, d) with a unit vector (d,); 0 for a row of zeros."""
    import simsimd

    if not len(packed):
        return np.zeros(0, np.float32)
    lengths = np.sqrt(np.asarray(simsimd.dot(packed, packed)))
    return np.asarray(packed_dots(packed, vector) / np.maximum(lengths, 1e-9), np.float32)


# Sums over rows, from which means and deviations follow without a look at the rows.

Double = NDArray[np.float64]

#: Of a partition with fewer rows, means and deviations are those of its rows and of what was said together.
LENT_BELOW = 64

_FEW = 64  # rows
_ALIKE = 0.01  # a deviation of cosines below which all are alike: what is left is rounding


@dataclass(frozen=True)
class Moments:
    """Sums over n vectors: enough for the mean and deviation of their products with any other vector."""

    count: int
    total: Double  # (d,)
    squares: Double  # (d, d) Σ v vᵀ

    @classmethod
    def of(cls, vectors: Float) -> Moments:
        """Of rows (n, d), a few thousand at once.

        A variance is the small difference of large sums: what single precision multiplies is centred first.
        """
        n, total = len(vectors), vectors.sum(axis=0, dtype=np.float64)
        centre = (total / max(n, 1)).astype(np.float32)
        around = vectors - centre
        exact = centre.astype(np.float64)
        cross = np.outer(exact, total)
        # Of a few rows without the threads of BLAS, which cost more than the work (see `numeric.dots`).
        product = np.einsum("ni,nj->ij", around, around) if n <= _FEW else around.T @ around
        squares = product.astype(np.float64) + cross + cross.T - n * np.outer(exact, exact)
        return cls(n, total, squares)

    def __add__(self, other: Moments) -> Moments:
        if not self.count or not other.count:
            return self if not other.count else other
        return Moments(self.count + other.count, self.total + other.total, self.squares + other.squares)

    def __sub__(self, other: Moments) -> Moments:
        if not other.count:
            return self
        return Moments(self.count - other.count, self.total - other.total, self.squares - other.squares)

    def mean(self, vector: Float) -> float:
        """The mean of the products with a vector (d,)."""
        return float(np.einsum("i,i->", self.total, vector.astype(np.float64))) / self.count

    def spread(self, vector: Float) -> tuple[float, float]:
        """Mean and standard deviation of the products with a unit vector (d,), the latter 0.01 at least."""
        if not self.count:
            return 0.0, 0.0
        exact = vector.astype(np.float64)
        mean = self.mean(vector)
        product = np.einsum("ij,j->i", self.squares, exact)  # not @: see `numeric.dots`
        variance = float(np.einsum("i,i->", product, exact)) / self.count - mean * mean
        return mean, float(np.sqrt(max(variance, _ALIKE**2)))

    def axes(self, count: int) -> tuple[Float, Float, float]:
        """The mean (d,) of the vectors, the axes (count, d) along which they differ most from it, by the most, and
        which share of their variance lies along these.
        """
        mean = self.total / self.count
        variances, axes = np.linalg.eigh(self.squares / self.count - np.outer(mean, mean))
        share = float(variances[-count:].sum() / max(variances.sum(), 1e-12))
        return mean.astype(np.float32), np.ascontiguousarray(axes[:, : -count - 1 : -1].T, np.float32), share


NO_MOMENTS = Moments(0, np.zeros(0), np.zeros((0, 0)))


@dataclass(frozen=True)
class Statistics:
    """Sums over the rows of passages."""

    count: int
    length: float  # terms
    log: float  # of 1 + length
    log_squares: float
    moments: Moments  # of the unit vectors

    @classmethod
    def of(cls, lengths: NDArray[np.uint32], moments: Moments) -> Statistics:
        """Of lengths (n,) and the moments of as many vectors."""
        logs = np.log1p(lengths.astype(np.float64))
        return cls(len(lengths), float(lengths.sum(dtype=np.int64)), float(logs.sum()), float(logs @ logs), moments)

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __sub__(self, other: Statistics) -> Statistics:
        return Statistics(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(self)))

    @cached_property
    def mean_length(self) -> float:
        """In terms; 1 where there are no rows."""
        return self.length / self.count if self.count else 1.0

    @cached_property
    def log_spread(self) -> tuple[float, float]:
        """Mean and standard deviation of ln(1 + length)."""
        if not self.count:
            return 0.0, 1.0
        mean = self.log / self.count
        return mean, float(np.sqrt(max(self.log_squares / self.count - mean * mean, 0.0)))


NOTHING = Statistics(0, 0.0, 0.0, 0.0, NO_MOMENTS)
