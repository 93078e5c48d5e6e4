"""The arithmetic of search: pure functions over arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recollect.store.passages import Float, Int


def dots(rows: Float, vector: Float) -> Float:
    """The products (n,) of rows (n, d) with a vector (d,).

    As fast as `rows @ vector`, since reading the rows takes the time and not the arithmetic. But that wakes the threads
    of numpy's BLAS, which then spin for a while on the core that the rest of the search wants, and double its time.
    """
    return np.asarray(np.einsum("ij,j->i", rows, vector), np.float32)


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
