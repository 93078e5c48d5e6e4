"""Vectors shortened to the axes along which those of a block differ most: enough to tell which may be near a question.

To go through a million vectors takes as long as to read them from memory. Of the shortened ones three eighths are
read, and the few thousand nearest are then compared exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recollect.index.numeric import packed_dots
from recollect.store.passages import Float

if TYPE_CHECKING:
    from recollect.index.statistics import Moments

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
