"""Vectors small: a unit vector as int8 with one scale a row. The cosine is kept to about 0.003."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recollect.index.numeric import packed_dots
from recollect.store.passages import Float


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
    unit_into(rows, vectors)
    return rows


def unit_into(rows: Float, vectors: NDArray[np.generic]) -> None:
    """The same into rows (n, d) that are there, without a second copy of them at any time."""
    rows[:] = vectors
    rows /= np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1e-9)[:, None]


def cosines(packed: NDArray[np.int8], vector: Float) -> Float:
    """The cosines (n,) of int8 rows (n, d) with a unit vector (d,); 0 for a row of zeros."""
    import simsimd

    if not len(packed):
        return np.zeros(0, np.float32)
    lengths = np.sqrt(np.asarray(simsimd.dot(packed, packed)))
    return np.asarray(packed_dots(packed, vector) / np.maximum(lengths, 1e-9), np.float32)
