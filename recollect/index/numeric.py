"""The arithmetic of search: pure functions over arrays."""

from __future__ import annotations

from collections.abc import Sequence

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
