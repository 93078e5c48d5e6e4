"""From a probe to its signals: the pool of RANKING.md 1, and everything that the ranker scores it by, in numpy."""

from __future__ import annotations

from typing import Any

import apsw
import numpy as np
import orjson

from recollect.errors import StoreError
from recollect.store.numeric import best_three, bm25, closeness, zscore
from recollect.store.passages import KINDS, OFFSETS, ROLE_SHIFT, ROLES, Bool, Filter, Float, Int, Probe, Signals
from recollect.store.quantize import cosines
from recollect.store.sqlite.corpus import Corpus, Postings
from recollect.store.sqlite.index import scope
from recollect.text.flags import Flag

#: Up to so many passages all are scored in full.
SCORE_ALL = 2000

SOURCES = """
SELECT num FROM conversation WHERE ns = ?1 AND (?2 IS NULL OR source IN (SELECT value FROM json_each(?2)))
  AND (?3 IS NULL OR id IN (SELECT value FROM json_each(?3)))
"""
SPEAKER = "SELECT num FROM speaker WHERE ns = ? AND name = ?"
WORDS = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid"
WINDOWS = "SELECT num, vectors FROM window_vector WHERE num IN (SELECT value FROM json_each(?))"
PIECES = "SELECT passages, counts FROM piece_count WHERE ns = ?"

Group = list[tuple[Postings, float, float]]  # postings, weight and idf of a query term and its alternatives


def signals(connection: apsw.Connection, corpus: Corpus, probe: Probe) -> Signals:
    """The pool of a probe in one lane."""
    if corpus.size and len(probe.vector) != corpus.vectors.shape[1]:
        raise StoreError(
            f"The question has a vector of {len(probe.vector)} numbers, the store has {corpus.vectors.shape[1]}.",
            hint="Open it with the embedder that made it (recollect stats names it), or: recollect embed --again",
        )
    groups = [_group(connection, corpus, group) for group in probe.terms]
    allowed = _allowed(connection, corpus, probe)
    sought = _matching(connection, corpus, probe.sought)
    bm = _bm25(corpus, groups, k1=2.0, b=1.0)
    narrow = _bm25(corpus, groups, k1=0.9, b=0.4)
    dense = corpus.vectors @ probe.vector if corpus.size else np.zeros(0, np.float32)
    bm_z, dense_z = zscore(bm, corpus.alive), zscore(dense, corpus.alive)
    speaker, dates = _speaker(connection, corpus, probe), _dates(corpus, probe)
    quality = corpus.quality(connection) if probe.similarity is not None else None
    similarity_z = np.zeros(corpus.size, np.float32)
    if quality is not None and probe.similarity is not None:
        similarity_z = zscore(quality[0] @ probe.similarity, corpus.alive & quality[1])
        similarity_z[~quality[1]] = 0.0
    lead = np.where(corpus.people, zscore(narrow, corpus.alive), bm_z) + dense_z + 0.5 * speaker + 0.5 * dates
    lead = lead + 4.0 * sought
    pool = _pool(corpus, allowed, lead, narrow, dense, probe.pool)
    return _signals(
        connection, corpus, probe, pool, groups, bm_z, dense, dense_z, speaker, dates, similarity_z, sought,
        quality is not None,
    )  # fmt: skip


def _group(connection: apsw.Connection, corpus: Corpus, group: tuple[tuple[str, float], ...]) -> Group:
    """The postings of a query term and its alternatives, each with its weight and idf."""
    living = int(corpus.alive.sum())
    found = []
    for term, weight in group:
        postings = corpus.postings(connection, term)
        frequency = len(postings[0])
        found.append((postings, weight, float(np.log(1 + (living - frequency + 0.5) / (frequency + 0.5)))))
    return found


def _bm25(corpus: Corpus, groups: list[Group], *, k1: float, b: float) -> Float:
    lengths, mean, _ = corpus.lengths
    total = np.zeros(corpus.size, np.float32)
    for group in groups:
        if len(group) == 1:
            (rows, counts), weight, idf = group[0]
            total[rows] += weight * idf * bm25(counts, lengths[rows] / mean, k1, b)
            continue
        best = np.zeros(corpus.size, np.float32)
        for (rows, counts), weight, idf in group:
            best[rows] = np.maximum(best[rows], weight * idf * bm25(counts, lengths[rows] / mean, k1, b))
        total += best
    return total


def _allowed(connection: apsw.Connection, corpus: Corpus, probe: Probe) -> Bool:
    """Which rows the filter, the phrases and the excluded words leave."""
    wanted: Filter = probe.filter
    columns = corpus.columns
    allowed = corpus.alive.copy()
    if wanted.kinds:
        allowed &= np.isin(columns["kind"], [KINDS.index(kind) for kind in wanted.kinds])
    if wanted.sources or wanted.conversation_ids is not None:
        sources = orjson.dumps(wanted.sources).decode() if wanted.sources else None
        ids = orjson.dumps(wanted.conversation_ids).decode() if wanted.conversation_ids is not None else None
        found = [row[0] for row in connection.execute(SOURCES, (corpus.ns, sources, ids))]
        allowed &= np.isin(columns["conversation"], found)
    if wanted.since is not None:
        allowed &= columns["time"] >= wanted.since
    if wanted.until is not None:
        allowed &= (columns["time"] > 0) & (columns["time"] < wanted.until)
    if wanted.roles:
        allowed &= _roles(corpus, wanted.roles)
    for phrase in probe.phrases:
        allowed &= _matching(connection, corpus, (phrase,))
    for phrase in probe.excluded:
        allowed &= ~_matching(connection, corpus, (phrase,))
    return allowed


def _roles(corpus: Corpus, roles: tuple[str, ...]) -> Bool:
    return np.isin((corpus.columns["flags"] >> ROLE_SHIFT) & 3, [ROLES.index(role) for role in roles])


def _matching(connection: apsw.Connection, corpus: Corpus, phrases: tuple[tuple[str, ...], ...]) -> Bool:
    """Which rows hold at least one of the phrases, word by word."""
    found = np.zeros(corpus.size, bool)
    for phrase in phrases:
        quoted = " ".join(word.replace('"', '""') for word in phrase)
        query = f'scope : {scope(corpus.ns, corpus.lane)} AND text : "{quoted}"'
        numbers = np.array([row[0] for row in connection.execute(WORDS, (query,))], np.int64)
        found[corpus.rows_of(numbers)] = True
    return found


def _speaker(connection: apsw.Connection, corpus: Corpus, probe: Probe) -> Float:
    if not probe.speaker:
        return np.zeros(corpus.size, np.float32)
    number = connection.execute(SPEAKER, (corpus.ns, probe.speaker)).get or -1
    return np.asarray(probe.speaker_weight * (corpus.columns["speaker"] == number), np.float32)


def _dates(corpus: Corpus, probe: Probe) -> Float:
    if not probe.spans:
        return np.zeros(corpus.size, np.float32)
    days, of_row = corpus.days
    inside, near = closeness(days, probe.spans)
    return (probe.span_weights[0] * inside + probe.span_weights[1] * near).astype(np.float32)[of_row]


def _pool(corpus: Corpus, allowed: Bool, lead: Float, narrow: Float, dense: Float, size: int) -> Int:
    """All allowed rows, or of many the best by the leading sum, by words and by meaning, each with its neighbours."""
    rows = np.flatnonzero(allowed)
    if len(rows) <= SCORE_ALL:
        return rows
    best = [_best(rows, lead, size // 2), _best(rows, narrow, size // 8), _best(rows, dense, size // 8)]
    chosen = np.unique(np.concatenate(best))
    around = [chosen, *(_step(corpus, chosen, offset)[0] for offset in OFFSETS[1:])]
    found = np.unique(np.concatenate(around))
    found = found[found >= 0]
    return np.asarray(found[allowed[found]])


def _best(rows: Int, scores: Float, count: int) -> Int:
    of_rows = scores[rows]
    return np.asarray(rows[np.argpartition(-of_rows, count)[:count]]) if count < len(rows) else rows


def _step(corpus: Corpus, rows: Int, offset: int) -> tuple[Int, Bool]:
    """The rows so many places before or after, -1 where there is none."""
    before, after = corpus.links
    link = before if offset < 0 else after
    at = rows
    for _ in range(abs(offset)):
        at = np.where(at >= 0, link[at], -1)
    return at, at >= 0


def _signals(
    connection: apsw.Connection,
    corpus: Corpus,
    probe: Probe,
    pool: Int,
    groups: list[Group],
    bm_z: Float,
    dense: Float,
    dense_z: Float,
    speaker: Float,
    dates: Float,
    similarity_z: Float,
    sought: Bool,
    quality: bool,
) -> Signals:
    steps = [_step(corpus, pool, offset) if offset else (pool, np.ones(len(pool), bool)) for offset in OFFSETS]
    around = np.stack([rows for rows, _ in steps], axis=1) if len(pool) else np.zeros((0, 5), np.int64)
    there = around >= 0
    at = np.maximum(around, 0)
    columns = corpus.columns
    numbers, order, begins = corpus.sittings
    sittings = (numbers, order, begins, numbers[pool])
    previous = at[:, 1]
    asks = (columns["flags"][previous] & int(Flag.QUESTION)).astype(bool) if corpus.size else np.zeros(0, bool)
    return Signals(
        passages=columns["num"][pool].astype(np.int64),
        neighbours=np.where(there, columns["num"][at], -1) if corpus.size else around,
        messages=columns["message"][pool].astype(np.int64),
        conversations=columns["conversation"][pool].astype(np.int64),
        kinds=columns["kind"][pool],
        flags=columns["flags"][pool].astype(np.int64),
        idf=np.array([max((idf for _, _, idf in group), default=0.0) for group in groups], np.float32),
        holds=_holds(corpus, groups, at, there),
        there=there,
        bm25=np.where(there, bm_z[at], 0.0).astype(np.float32),
        dense=dense[pool],
        dense_z=dense_z[pool],
        previous_dense_z=np.where(there[:, 1], dense_z[previous], 0.0).astype(np.float32),
        previous_asks=asks & there[:, 1],
        windows=_windows(connection, columns["num"][pool], probe.vector, dense[pool]),
        length_z=corpus.lengths[2][pool],
        speaker=speaker[pool],
        dates=dates[pool],
        sitting_bm25=best_three(bm_z, *sittings),
        sitting_dense=best_three(dense_z, *sittings),
        sitting_similarity=best_three(similarity_z, *sittings) if quality else np.zeros(len(pool), np.float32),
        similarity=similarity_z[pool],
        sought=sought[pool],
        size=int(corpus.alive.sum()),
        frequencies=np.array([max((len(rows) for (rows, _), _, _ in g), default=0) for g in groups], np.int64),
        quality=quality,
        piece_idf=_piece_idf(connection, corpus.ns, probe.pieces) if quality else {},
    )


def _holds(corpus: Corpus, groups: list[Group], at: Int, there: Bool) -> Float:
    holds = np.zeros((*at.shape, len(groups)), np.float32)
    mark = np.zeros(corpus.size, np.float32)
    for t, group in enumerate(groups):
        for (rows, _), weight, _ in group:
            mark[rows] = np.maximum(mark[rows], weight)
        holds[:, :, t] = mark[at] * there
        for (rows, _), _, _ in group:
            mark[rows] = 0.0
    return holds


def _windows(connection: apsw.Connection, numbers: Int, vector: Float, whole: Float) -> Float:
    """The best cosine over each passage's runs of sentences; where there is but one run it is the whole."""
    best = whole.astype(np.float32)
    found: list[Any] = connection.execute(WINDOWS, (orjson.dumps(numbers.tolist()).decode(),)).fetchall()
    if found:
        packed = np.frombuffer(b"".join(blob for _, blob in found), np.int8).reshape(-1, len(vector))
        counts = np.array([len(blob) // len(vector) for _, blob in found])
        of_runs = np.maximum.reduceat(cosines(packed, vector), np.cumsum(counts) - counts)
        best[np.searchsorted(numbers, [num for num, _ in found])] = of_runs  # rows, and so numbers, ascend
    return best


def _piece_idf(connection: apsw.Connection, ns: int, pieces: tuple[int, ...]) -> dict[int, float]:
    row = connection.execute(PIECES, (ns,)).fetchone()
    if row is None:
        return {}
    counts = np.frombuffer(row[1], np.uint32)
    return {p: float(np.log(1 + (row[0] - counts[p] + 0.5) / (counts[p] + 0.5))) for p in set(pieces)}
