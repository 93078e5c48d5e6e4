"""Clusters among vectors: communities of a graph of likeness, and every vector to the nearest of them.

The communities are found in a sample that depends on the ids alone, and everything else is put to the nearest centre.
So the same segments always give the same topics, whatever came first, and the cost of a larger history is a product of
two matrices. The graph's communities are networkx's (Louvain): the library is here for paths already, and a clustering
library would bring fifty megabytes for this one function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

#: Vectors whose communities are looked for, and how many neighbours of each have a say.
SAMPLE, NEIGHBOURS = 1_500, 12
_SEED = 0


@dataclass(frozen=True, slots=True)
class Cluster:
    """Rows that belong together, nearest to the centre first, with their likeness to it."""

    rows: tuple[int, ...]
    likeness: tuple[float, ...]


def clusters(vectors: Vectors, threshold: float, least: int) -> list[Cluster]:
    """Clusters of unit rows, of at least `least` each. Rows must be in an order that does not depend on when they came:
    the first are the sample.

    What all have in common is taken off first: in one person's chats everything is alike. `threshold` is on the cosine.
    """
    if len(vectors) < least:
        return []
    sample = vectors[:SAMPLE]
    mean = sample.mean(axis=0) if len(sample) > 2 * least else np.zeros(vectors.shape[1], np.float32)
    own = _unit(vectors - mean)
    centres = [_unit(own[rows].mean(axis=0, keepdims=True))[0] for rows in _communities(own[:SAMPLE], threshold, least)]
    if not centres:
        return []
    likeness = own @ np.stack(centres).T
    nearest, best = likeness.argmax(axis=1), likeness.max(axis=1)
    found = []
    for number in range(len(centres)):
        rows = np.flatnonzero((nearest == number) & (best >= threshold))
        if len(rows) >= least:
            near = {int(row): round(float(best[row]), 4) for row in rows}
            ordered = sorted(near, key=lambda row: (-near[row], row))
            found.append(Cluster(tuple(ordered), tuple(near[row] for row in ordered)))
    return found


def _communities(own: Vectors, threshold: float, least: int) -> list[list[int]]:
    import networkx

    likeness = own @ own.T
    np.fill_diagonal(likeness, -1)
    graph: networkx.Graph[int] = networkx.Graph()
    graph.add_nodes_from(range(len(own)))
    for row in range(len(own)):
        order = np.argsort(-likeness[row], kind="stable")[:NEIGHBOURS]
        graph.add_weighted_edges_from(
            (row, int(other), round(float(likeness[row, other]), 4))
            for other in order
            if likeness[row, other] >= threshold
        )
    found = networkx.community.louvain_communities(graph, seed=_SEED, resolution=1.0)
    return sorted(sorted(rows) for rows in found if len(rows) >= least)


def _unit(rows: Vectors) -> Vectors:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Vectors = (rows / np.where(norms > 0, norms, 1)).astype(np.float32)
    return unit


def stacked(rows: Sequence[bytes], dimensions: int) -> Vectors:
    """Unit rows of int8 bytes."""
    flat = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(rows), dimensions)
    return _unit(flat.astype(np.float32))


def as_bytes(vector: NDArray[np.float32]) -> bytes:
    """A unit row as int8 bytes."""
    return bytes(np.clip(np.round(vector * 127), -127, 127).astype(np.int8).tobytes())
