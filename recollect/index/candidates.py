"""From a query to its candidates and their features, in numpy: the same for every engine.

The pool is found block by block, over all rows. What the ranker scores is then computed for the pool, its neighbours
and their sessions alone; z-scores need the mean and deviation over all rows, which follow from sums.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from recollect.index.numeric import LENT_BELOW, best_three, cosines
from recollect.index.pool import Cosines, Extras, Pool, allowed_places, allowed_rows, choose_pool, holding_rows
from recollect.index.snapshot import Snapshot, SnapshotPart, distinct
from recollect.index.source import Source
from recollect.index.terms import Terms, encoded, term_hashes
from recollect.index.words import WordMatches, Words, looked_up
from recollect.store.change import IndexDamaged, WrongEmbedder
from recollect.store.passages import KINDS, CandidateQuery, Features, Float, Int, Partition
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
    mean_length, length_deviation = measured.statistics.log_spread
    log_lengths = np.log1p(length.astype(np.float32)) - np.float32(mean_length)
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
        length_z=np.asarray(log_lengths / np.float32(length_deviation + 1e-6), np.float32),
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
        # nearer to the question than the average passage, by words and meaning together
        relevant=int(np.count_nonzero(bm25_z[own] + dense_z[own] > 0)) if chosen.near is None else chosen.near,
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


# Which passages share words with a text: by the rarest of them first, at a cost that does not grow with the index.

#: So many rows are looked at for all words together.
MOST_ROWS = 2048

_Rows = NDArray[np.uint16]


def sharing(
    snapshot: Snapshot, terms: Sequence[str], kinds: Sequence[str], most: int, *, inside: bool = False
) -> list[int]:
    """Numbers of living passages of these kinds (none: of all) that hold one of the terms: those that hold the rarest
    and most of them first, of equal ones the newest. With `inside`, words that contain a term count as the term.
    """
    wanted = list(dict.fromkeys(terms))
    postings = [_postings(part, wanted, inside) for part in snapshot.parts]
    counts = [sum(len(own[term]) for own in postings) for term in range(len(wanted))]
    rarest = sorted((term for term in range(len(wanted)) if counts[term]), key=lambda term: counts[term])
    rows = _newest(snapshot, postings, rarest)
    if not len(rows):
        return []
    scores = np.zeros(len(rows), np.float32)
    for place, part, own, inner in snapshot.split(rows):
        narrow = inner.astype(np.uint16)
        for term in rarest:
            holders = postings[place][term]
            if len(holders):
                at = np.minimum(np.searchsorted(holders, narrow), len(holders) - 1)
                scores[own] += (holders[at] == narrow) * np.float32(np.log(1 + snapshot.size / (counts[term] + 1)))
        if part.alive is not None:
            scores[own] *= part.alive[inner]
    if kinds:
        scores *= np.isin(snapshot.gather(rows, "kind")[0], [KINDS.index(kind) for kind in kinds])
    best = np.lexsort((-rows, -scores))[:most]
    best = best[scores[best] > 0]
    return [int(number) for number in snapshot.gather(rows[best], "number")[0]]


def _newest(snapshot: Snapshot, postings: Sequence[Sequence[_Rows]], rarest: Sequence[int]) -> Int:
    """Positions of holders, of the rarest terms first and of each term the newest, until there are enough."""
    found, left = [np.zeros(0, np.int64)], MOST_ROWS
    for term in rarest:
        for place in range(len(postings) - 1, -1, -1):
            if left <= 0:
                return distinct(*found)
            some = postings[place][term][-left:]
            left -= len(some)
            found.append(some.astype(np.int64) + snapshot.parts[place].offset)
    return distinct(*found)


def _postings(part: SnapshotPart, wanted: Sequence[str], inside: bool) -> list[_Rows]:
    """The rows of a part that hold each term, ascending; dead ones too. Nothing is copied: they may be many."""
    terms = part.block.terms
    found = [terms.rows[start:end] for start, end in terms.find(term_hashes(wanted))]
    if inside:
        for place, term in enumerate(wanted):
            others = [terms.rows[terms.starts[at] : terms.starts[at + 1]] for at in _containing(terms, encoded(term))]
            found[place] = np.unique(np.concatenate([found[place], *others]))
    return found


def _containing(terms: Terms, part: bytes) -> list[int]:
    """The places of the terms that contain this. What lies across two of them does not count."""
    begins = [found.start() for found in re.finditer(re.escape(part), terms.texts.tobytes())]
    places = np.searchsorted(terms.text_starts, begins, "right") - 1
    within = np.array(begins, np.int64) + len(part) <= terms.text_starts[places + 1]
    return sorted(set(places[within].tolist())) if begins else []
