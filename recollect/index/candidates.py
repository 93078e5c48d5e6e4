"""From a query to its candidates and their features, in numpy: the same for every engine.

The pool is found block by block, over all rows. What the ranker scores is then computed for the pool, its neighbours
and their sessions alone; z-scores need the mean and deviation over all rows, which follow from sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from recollect.index.matches import WordMatches
from recollect.index.numeric import best_three
from recollect.index.parts import distinct
from recollect.index.pool import (
    Cosines,
    Extras,
    Pool,
    allowed_places,
    allowed_rows,
    choose_pool,
    holding_rows,
)
from recollect.index.quantize import cosines
from recollect.index.snapshot import Snapshot
from recollect.index.source import Source
from recollect.index.statistics import LENT_BELOW
from recollect.index.words import Words, looked_up
from recollect.store.errors import IndexDamaged, WrongEmbedder
from recollect.store.passages import CandidateQuery, Features, Float, Int, Partition
from recollect.text.language import Flag

_OF_POOL = ("message", "conversation", "kind", "time", "length", "speaker", "session")


def candidates(
    snapshot: Snapshot, source: Source, query: CandidateQuery, said: Callable[[], Snapshot] | None = None
) -> Features:
    """The passages that may answer a query. The source is one of the snapshot's state.

    Of a few tool results the rarity of words and the z-scores say nothing by themselves: `said` gives what was said,
    which counts for these beside them.

    Raises WrongEmbedder for a vector of another size, IndexDamaged.
    """
    if not snapshot.parts:
        return Features.none(len(query.terms))
    if len(query.vector) != snapshot.parts[0].block.vectors.shape[1]:
        raise WrongEmbedder(
            f"The question has a vector of {len(query.vector)} numbers, "
            f"the store has {snapshot.parts[0].block.vectors.shape[1]}.",
            hint="Use the embedder that made them (recollect stats shows it), or rebuild the index: recollect reindex",
        )
    if said is not None and query.partition is Partition.OTHER and snapshot.living < LENT_BELOW:
        lender = said()
        measured = replace(snapshot, statistics=snapshot.statistics + lender.statistics)
        words = Words(measured, query.terms, looked_up(lender, query.terms))
    else:
        measured, words = snapshot, looked_up(snapshot, query.terms)
    wide, narrow = words.scores
    dense = Cosines(measured, query.vector)
    extras = Extras(snapshot, source, query)
    matches = None
    if query.passages is not None:
        chosen = Pool(snapshot.positions_of(np.array(sorted(query.passages), np.int64)), whole=False)
    else:
        allowed = allowed_rows(snapshot, source, query)
        chosen = choose_pool(snapshot, allowed, (wide, narrow), dense, extras, query)
        held = holding_rows((wide, narrow), allowed) if query.terms else allowed_places(snapshot, allowed)
        matches = WordMatches(snapshot, words, held, chosen.leads)
    pool = chosen.at

    # All that is scored is looked up once: the pool, what stands around it, and the sessions in which it lies.
    around = snapshot.around(pool)
    there = around >= 0
    message, conversation, kind, time, length, speaker, own_session = snapshot.columns(pool, *_OF_POOL)
    members, begins, session = _sessions(snapshot, pool, own_session)
    rows = distinct(around[there], members)
    at, members = np.searchsorted(rows, around) * there, np.searchsorted(rows, members)
    own, previous, has_previous = at[:, 0], at[:, 1], there[:, 1]
    bm25_z, cosine = wide.at(snapshot, rows), dense.at(rows)
    dense_z, (numbers, flags) = dense.z(cosine), snapshot.columns(rows, "number", "flags")
    near = distinct(at[there])
    inside, near_days = extras.dates(time)
    quality = snapshot.qualities.of(snapshot, source) if query.similarity is not None else None
    similarity_z = np.zeros(len(rows), np.float32)
    if quality is not None and query.similarity is not None:
        similarity_z = quality.z(rows, query.similarity)
    return Features(
        passages=numbers[own],
        neighbours=np.where(there, numbers[at], -1),
        messages=message,
        conversations=conversation,
        kinds=kind,
        times=time,
        flags=flags[own].astype(np.int64),
        idf=words.idf,
        holds=words.holds(rows[near])[np.searchsorted(near, at)] * there[:, :, None],
        there=there,
        bm25=np.where(there, bm25_z[at], 0.0).astype(np.float32),
        dense=cosine[own],
        dense_z=dense_z[own],
        previous_dense_z=np.where(has_previous, dense_z[previous], 0.0).astype(np.float32),
        previous_asks=(flags[previous] & int(Flag.QUESTION)).astype(bool) & has_previous,
        windows=_windows(source, query, numbers[own], cosine[own]),
        length_z=_length_z(measured, length),
        who=extras.who(speaker),
        present=extras.present(conversation),
        inside=inside,
        near=near_days,
        session_bm25=best_three(bm25_z[members], begins)[session],
        session_dense=best_three(dense_z[members], begins)[session],
        session_similarity=best_three(similarity_z[members], begins)[session]
        if quality is not None
        else similarity_z[own],
        similarity=similarity_z[own],
        sought=extras.sought(pool),
        size=snapshot.living,
        whole=chosen.whole,
        frequencies=words.frequencies,
        quality=quality is not None,
        piece_idf=_piece_idf(source.pieces(), query.pieces) if quality is not None else {},
        relevant=_relevant(bm25_z[own] + dense_z[own]) if chosen.near is None else chosen.near,
        vectors=snapshot.units(pool) if query.vectors else None,
        matches=matches,
    )


def _sessions(snapshot: Snapshot, at: Int, own: Int) -> tuple[Int, Int, Int]:
    """The sessions of rows, by the numbers of these: their members one session after the other, where each begins, and
    each row's own.

    A row without a session (0: a title, a document) is one by itself: all titles together are no session.
    """
    if not own.any():
        return at, np.arange(len(at) + 1), np.arange(len(at))
    wanted, place = np.unique(np.where(own > 0, own, -1 - at), return_inverse=True)
    alone = int(np.searchsorted(wanted, 0))
    members, begins = snapshot.sessions(wanted[alone:])
    return np.concatenate([-1 - wanted[:alone], members]), np.concatenate([np.arange(alone), begins + alone]), place


def _relevant(leading: Float) -> int:
    """How many of these are nearer to the question than the average passage, by words and meaning together."""
    return int(np.count_nonzero(leading > 0))


def _length_z(snapshot: Snapshot, length: NDArray[np.uint32]) -> Float:
    mean, deviation = snapshot.statistics.log_spread
    logs = np.log1p(length.astype(np.float32))
    return np.asarray((logs - np.float32(mean)) / np.float32(deviation + 1e-6), np.float32)


def _windows(source: Source, query: CandidateQuery, numbers: Int, whole: Float) -> Float:
    """The best cosine over each passage's runs of sentences; where there is but one run it is the whole."""
    best, vector = whole.astype(np.float32), query.vector
    if query.partition == Partition.TITLE or not vector.any():  # titles are one sentence each
        return best
    found = [(number, blob) for number, blob in sorted(source.runs(numbers.tolist())) if blob]
    if found:
        size = len(vector)
        if any(len(blob) % size for _, blob in found):
            raise IndexDamaged(
                "Sentence vectors in the search index have the wrong size.",
                hint="Rebuild it: recollect reindex",
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
