"""Sums over rows, from which means and deviations follow without a look at the rows."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from recollect.store.passages import Float

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
