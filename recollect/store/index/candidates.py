"""From a query to its candidates and their features, in numpy: the same for every engine.

The pool is found block by block, over all rows. What the ranker scores is then computed for the pool, its neighbours
and their sessions alone; z-scores need the mean and deviation over all rows, which follow from sums.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recollect.store.base import IndexDamaged, WrongEmbedder
from recollect.store.index.numeric import best_three
from recollect.store.index.pool import Cosines, Extras, allowed_rows, choose_pool
from recollect.store.index.quantize import cosines
from recollect.store.index.snapshot import Snapshot
from recollect.store.index.source import Source
from recollect.store.index.words import Words
from recollect.store.passages import OFFSETS, CandidateQuery, Features, Float, Int
from recollect.text.flags import Flag


def candidates(snapshot: Snapshot, source: Source, query: CandidateQuery) -> Features:
    """The passages that may answer a query. The source is one of the snapshot's state.

    Raises WrongEmbedder for a vector of another size, IndexDamaged.
    """
    if snapshot.parts and len(query.vector) != snapshot.parts[0].block.vectors.shape[1]:
        raise WrongEmbedder(
            f"The question has a vector of {len(query.vector)} numbers, "
            f"the store has {snapshot.parts[0].block.vectors.shape[1]}.",
            hint="Open it with the embedder that made it (recollect stats names it), or: recollect embed --again",
        )
    words = Words(snapshot, query.terms)
    wide, narrow = words.scores()
    dense = Cosines(snapshot, query.vector)
    extras = Extras(snapshot, source, query)
    allowed = allowed_rows(snapshot, source, query)
    pool = choose_pool(snapshot, allowed, (wide, narrow), dense, extras, query.pool)

    around = np.stack([snapshot.step(pool, offset) for offset in OFFSETS], axis=1)
    there = around >= 0
    rows, place = np.unique(around[there], return_inverse=True)  # everything below is looked up once a row
    at = np.zeros(around.shape, np.int64)
    at[there] = place
    previous, has_previous = at[:, 1], there[:, 1]
    own = np.searchsorted(rows, pool)
    bm25_z, dense_z = wide.at(snapshot, rows), dense.z(dense.at(rows))
    numbers, flags = snapshot.gather("number", rows), snapshot.gather("flags", rows)

    wanted, session = np.unique(snapshot.gather("session", pool), return_inverse=True)
    members, begins = snapshot.sessions(wanted)
    order = np.argsort(members, kind="stable")

    def of_sessions(values: Float) -> Float:
        by_session = np.empty_like(values)
        by_session[order] = values
        return best_three(by_session, begins)[session]

    members = members[order]
    nothing = np.zeros(len(pool), np.float32)
    similarity = session_similarity = nothing
    quality = snapshot.qualities.of(snapshot, source) if query.similarity is not None else None
    if quality is not None and query.similarity is not None:
        similarity = quality.z(pool, query.similarity)
        session_similarity = of_sessions(quality.z(members, query.similarity))
    return Features(
        passages=numbers[own],
        neighbours=np.where(there, numbers[at], -1) if len(rows) else around,
        messages=snapshot.gather("message", pool),
        conversations=snapshot.gather("conversation", pool),
        kinds=snapshot.gather("kind", pool).astype(np.uint8),
        flags=flags[own].astype(np.int64),
        idf=words.idf,
        holds=words.holds(rows)[at] * there[:, :, None]
        if len(rows)
        else np.zeros((0, 5, len(query.terms)), np.float32),
        there=there,
        bm25=np.where(there, bm25_z[at], 0.0).astype(np.float32) if len(rows) else np.zeros((0, 5), np.float32),
        dense=dense.at(pool),
        dense_z=dense_z[own],
        previous_dense_z=np.where(has_previous, dense_z[previous], 0.0).astype(np.float32) if len(rows) else nothing,
        previous_asks=(flags[previous] & int(Flag.QUESTION)).astype(bool) & has_previous if len(rows) else nothing > 0,
        windows=_runs(source.runs(numbers[own].tolist()), numbers[own], query.vector, dense.at(pool)),
        length_z=_length_z(snapshot, pool),
        speaker=extras.speaker(pool),
        dates=extras.dates(pool),
        session_bm25=of_sessions(wide.at(snapshot, members)),
        session_dense=of_sessions(dense.z(dense.at(members))),
        session_similarity=session_similarity,
        similarity=similarity,
        sought=extras.sought(pool),
        size=snapshot.living,
        frequencies=words.frequencies,
        quality=quality is not None,
        piece_idf=_piece_idf(source.pieces(), query.pieces) if quality is not None else {},
    )


def _length_z(snapshot: Snapshot, pool: Int) -> Float:
    mean, deviation = snapshot.statistics.log_spread
    logs = np.log1p(snapshot.gather("length", pool).astype(np.float32))
    return np.asarray((logs - np.float32(mean)) / np.float32(deviation + 1e-6), np.float32)


def _runs(found: Sequence[tuple[int, bytes]], numbers: Int, vector: Float, whole: Float) -> Float:
    """The best cosine over each passage's runs of sentences; where there is but one run it is the whole."""
    best = whole.astype(np.float32)
    found = [(number, blob) for number, blob in sorted(found) if blob]
    if found:
        size = len(vector)
        if any(len(blob) % size for _, blob in found):
            raise IndexDamaged(
                "Vectors of sentences in the search index have another size than they should.",
                hint="Build it anew: recollect reindex",
            )
        packed = np.frombuffer(b"".join(blob for _, blob in found), np.int8).reshape(-1, size)
        counts = np.array([len(blob) // size for _, blob in found])
        of_runs = np.maximum.reduceat(cosines(packed, vector), np.cumsum(counts) - counts)
        best[np.searchsorted(numbers, [number for number, _ in found])] = of_runs
    return best


def _piece_idf(counted: tuple[int, bytes] | None, pieces: tuple[int, ...]) -> dict[int, float]:
    if counted is None:
        return {}
    passages, counts = counted[0], np.frombuffer(counted[1], np.uint32)
    return {p: float(np.log(1 + (passages - counts[p] + 0.5) / (counts[p] + 0.5))) for p in set(pieces)}
