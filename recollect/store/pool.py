"""From a probe to its signals: the pool of RANKING.md 1, and everything that the ranker scores it by, in numpy.

Every engine's search is this one; what the arrays do not hold an engine is asked for through `Reader`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from recollect.errors import StoreError
from recollect.record import NodeId
from recollect.store.numeric import best_three, bm25, closeness, dots
from recollect.store.passages import KINDS, OFFSETS, ROLE_SHIFT, ROLES, Bool, Filter, Float, Int, Probe, Signals
from recollect.store.quantize import cosines
from recollect.store.resident import Postings, Resident
from recollect.text.flags import Flag

#: Up to so many passages all are scored in full.
SCORE_ALL = 2000

Group = list[
    tuple[Postings, float, float, int]
]  # postings of a query term and its alternatives, weight, idf, frequency


class Reader(Protocol):
    """What a search asks an engine for, of one lane."""

    def postings(self, term: str) -> Postings:
        """The living rows that hold a term."""
        ...

    def frequency(self, term: str) -> int:
        """In how many passages of the lane a term stands."""
        ...

    def conversations(self, sources: tuple[str, ...], ids: tuple[NodeId, ...] | None) -> Sequence[int]:
        """The numbers of the conversations from these sources (empty: any) with these ids (None: any)."""
        ...

    def holding(self, phrase: tuple[str, ...]) -> Int:
        """The numbers of the passages in which these words follow each other."""
        ...

    def speaker(self, name: str) -> int:
        """The number of a person; -1 for a stranger."""
        ...

    def windows(self, numbers: Int) -> Sequence[tuple[int, bytes]]:
        """The vectors of runs of sentences, int8, of those passages that have any, by number."""
        ...

    def quality(self) -> tuple[Float, Bool] | None:
        """Quality vectors (size, 384) with which rows have one; None without any."""
        ...

    def pieces(self) -> tuple[int, bytes] | None:
        """How many passages have quality vectors, and in how many of them each word piece stands (uint32)."""
        ...


@dataclass(frozen=True, slots=True)
class _Scored:
    """What is known of every row of the lane, as arrays (size,)."""

    bm25_z: Float
    narrow: Float  # BM25 for pools alone
    dense: Float
    dense_z: Float
    speaker: Float
    dates: Float
    similarity_z: Float
    sought: Bool
    quality: bool


def signals(rows: Resident, reader: Reader, probe: Probe) -> Signals:
    """The pool of a probe in one lane. Raises StoreError for a vector of another size."""
    if rows.size and len(probe.vector) != rows.vectors.shape[1]:
        raise StoreError(
            f"The question has a vector of {len(probe.vector)} numbers, the store has {rows.vectors.shape[1]}.",
            hint="Open it with the embedder that made it (recollect stats names it), or: recollect embed --again",
        )
    groups = [_group(rows, reader, group) for group in probe.terms]
    allowed = _allowed(rows, reader, probe)
    scored = _scored(rows, reader, probe, groups)
    pool = _pool(rows, allowed, scored, probe.pool)
    return _signals(rows, reader, probe, pool, groups, scored)


def _scored(rows: Resident, reader: Reader, probe: Probe, groups: list[Group]) -> _Scored:
    dense = dots(rows.vectors, probe.vector) if rows.size else np.zeros(0, np.float32)
    quality = reader.quality() if probe.similarity is not None else None
    similarity_z = np.zeros(rows.size, np.float32)
    if quality is not None and probe.similarity is not None:
        similarity_z = rows.zscore(dots(quality[0], probe.similarity), quality[1])
        similarity_z[~quality[1]] = 0.0
    return _Scored(
        bm25_z=rows.zscore(_bm25(rows, groups, k1=2.0, b=1.0)),
        narrow=_bm25(rows, groups, k1=0.9, b=0.4),
        dense=dense,
        dense_z=rows.zscore(dense),
        speaker=_speaker(rows, reader, probe),
        dates=_dates(rows, probe),
        similarity_z=similarity_z,
        sought=_matching(rows, reader, probe.sought),
        quality=quality is not None,
    )


def _group(rows: Resident, reader: Reader, group: tuple[tuple[str, float], ...]) -> Group:
    """The postings of a query term and its alternatives, each with its weight, idf and frequency."""
    found = []
    for term, weight in group:
        frequency = reader.frequency(term)
        idf = float(np.log(1 + (rows.population - frequency + 0.5) / (frequency + 0.5)))
        found.append((reader.postings(term), weight, idf, frequency))
    return found


def _bm25(rows: Resident, groups: list[Group], *, k1: float, b: float) -> Float:
    lengths, mean, _ = rows.lengths
    total = np.zeros(rows.size, np.float32)
    for group in groups:
        if len(group) == 1:
            (at, counts), weight, idf, _ = group[0]
            total[at] += weight * idf * bm25(counts, lengths[at] / mean, k1, b)
            continue
        best = np.zeros(rows.size, np.float32)
        for (at, counts), weight, idf, _ in group:
            best[at] = np.maximum(best[at], weight * idf * bm25(counts, lengths[at] / mean, k1, b))
        total += best
    return total


def _allowed(rows: Resident, reader: Reader, probe: Probe) -> Bool:
    """Which rows the filter, the phrases and the excluded words leave."""
    wanted: Filter = probe.filter
    columns = rows.columns
    allowed = rows.alive.copy()
    if wanted.kinds:
        allowed &= np.isin(columns["kind"], [KINDS.index(kind) for kind in wanted.kinds])
    if wanted.sources or wanted.conversation_ids is not None:
        found = reader.conversations(wanted.sources, wanted.conversation_ids)
        allowed &= np.isin(columns["conversation"], found)
    if wanted.since is not None:
        allowed &= columns["time"] >= wanted.since
    if wanted.until is not None:
        allowed &= (columns["time"] > 0) & (columns["time"] < wanted.until)
    if wanted.roles:
        allowed &= _roles(rows, wanted.roles)
    for phrase in probe.phrases:
        allowed &= _matching(rows, reader, (phrase,))
    for phrase in probe.excluded:
        allowed &= ~_matching(rows, reader, (phrase,))
    return allowed


def _roles(rows: Resident, roles: tuple[str, ...]) -> Bool:
    return np.isin((rows.columns["flags"] >> ROLE_SHIFT) & 3, [ROLES.index(role) for role in roles])


def _matching(rows: Resident, reader: Reader, phrases: tuple[tuple[str, ...], ...]) -> Bool:
    """Which rows hold at least one of the phrases, word by word."""
    found = np.zeros(rows.size, bool)
    for phrase in phrases:
        found[rows.rows_of(reader.holding(phrase))] = True
    return found


def _speaker(rows: Resident, reader: Reader, probe: Probe) -> Float:
    if not probe.speaker:
        return np.zeros(rows.size, np.float32)
    return np.asarray(probe.speaker_weight * (rows.columns["speaker"] == reader.speaker(probe.speaker)), np.float32)


def _dates(rows: Resident, probe: Probe) -> Float:
    if not probe.spans:
        return np.zeros(rows.size, np.float32)
    days, of_row = rows.days
    inside, near = closeness(days, probe.spans)
    return (probe.span_weights[0] * inside + probe.span_weights[1] * near).astype(np.float32)[of_row]


def _pool(rows: Resident, allowed: Bool, scored: _Scored, size: int) -> Int:
    """All allowed rows, or of many the best by the leading sum, by words and by meaning, each with its neighbours."""
    found = np.flatnonzero(allowed)
    if len(found) <= SCORE_ALL:
        return found
    words = np.where(rows.people, rows.zscore(scored.narrow), scored.bm25_z)
    lead = words + scored.dense_z + 0.5 * scored.speaker + 0.5 * scored.dates
    lead = lead + 4.0 * scored.sought
    best = [
        _best(found, lead, size // 2), _best(found, scored.narrow, size // 8), _best(found, scored.dense, size // 8)
    ]  # fmt: skip
    chosen = np.unique(np.concatenate(best))
    around = [chosen, *(_step(rows, chosen, offset)[0] for offset in OFFSETS[1:])]
    found = np.unique(np.concatenate(around))
    found = found[found >= 0]
    return np.asarray(found[allowed[found]])


def _best(rows: Int, scores: Float, count: int) -> Int:
    of_rows = scores[rows]
    return np.asarray(rows[np.argpartition(-of_rows, count)[:count]]) if count < len(rows) else rows


def _step(rows: Resident, start: Int, offset: int) -> tuple[Int, Bool]:
    """The rows so many places before or after, -1 where there is none."""
    before, after = rows.links
    link = before if offset < 0 else after
    at = start
    for _ in range(abs(offset)):
        at = np.where(at >= 0, link[at], -1)
    return at, at >= 0


def _signals(rows: Resident, reader: Reader, probe: Probe, pool: Int, groups: list[Group], scored: _Scored) -> Signals:
    steps = [_step(rows, pool, offset) if offset else (pool, np.ones(len(pool), bool)) for offset in OFFSETS]
    around = np.stack([found for found, _ in steps], axis=1) if len(pool) else np.zeros((0, 5), np.int64)
    there = around >= 0
    at = np.maximum(around, 0)
    columns = rows.columns
    numbers, order, begins = rows.sittings
    sittings = (numbers, order, begins, numbers[pool])
    no_quality = np.zeros(len(pool), np.float32)
    previous = at[:, 1]
    asks = (columns["flags"][previous] & int(Flag.QUESTION)).astype(bool) if rows.size else np.zeros(0, bool)
    return Signals(
        passages=columns["num"][pool].astype(np.int64),
        neighbours=np.where(there, columns["num"][at], -1) if rows.size else around,
        messages=columns["message"][pool].astype(np.int64),
        conversations=columns["conversation"][pool].astype(np.int64),
        kinds=columns["kind"][pool],
        flags=columns["flags"][pool].astype(np.int64),
        idf=np.array([max((idf for _, _, idf, _ in group), default=0.0) for group in groups], np.float32),
        holds=_holds(rows, groups, at, there),
        there=there,
        bm25=np.where(there, scored.bm25_z[at], 0.0).astype(np.float32),
        dense=scored.dense[pool],
        dense_z=scored.dense_z[pool],
        previous_dense_z=np.where(there[:, 1], scored.dense_z[previous], 0.0).astype(np.float32),
        previous_asks=asks & there[:, 1],
        windows=_windows(reader.windows(columns["num"][pool]), columns["num"][pool], probe.vector, scored.dense[pool]),
        length_z=rows.lengths[2][pool],
        speaker=scored.speaker[pool],
        dates=scored.dates[pool],
        sitting_bm25=best_three(scored.bm25_z, *sittings),
        sitting_dense=best_three(scored.dense_z, *sittings),
        sitting_similarity=best_three(scored.similarity_z, *sittings) if scored.quality else no_quality,
        similarity=scored.similarity_z[pool],
        sought=scored.sought[pool],
        size=rows.population,
        frequencies=np.array([max((frequency for _, _, _, frequency in g), default=0) for g in groups], np.int64),
        quality=scored.quality,
        piece_idf=_piece_idf(reader.pieces(), probe.pieces) if scored.quality else {},
    )


def _holds(rows: Resident, groups: list[Group], at: Int, there: Bool) -> Float:
    holds = np.zeros((*at.shape, len(groups)), np.float32)
    mark = np.zeros(rows.size, np.float32)
    for t, group in enumerate(groups):
        for (own, _), weight, _, _ in group:
            mark[own] = np.maximum(mark[own], weight)
        holds[:, :, t] = mark[at] * there
        for (own, _), _, _, _ in group:
            mark[own] = 0.0
    return holds


def _windows(found: Sequence[tuple[int, bytes]], numbers: Int, vector: Float, whole: Float) -> Float:
    """The best cosine over each passage's runs of sentences; where there is but one run it is the whole."""
    best = whole.astype(np.float32)
    if found:
        packed = np.frombuffer(b"".join(blob for _, blob in found), np.int8).reshape(-1, len(vector))
        counts = np.array([len(blob) // len(vector) for _, blob in found])
        of_runs = np.maximum.reduceat(cosines(packed, vector), np.cumsum(counts) - counts)
        best[np.searchsorted(numbers, [num for num, _ in found])] = of_runs  # rows, and so numbers, ascend
    return best


def _piece_idf(counted: tuple[int, bytes] | None, pieces: tuple[int, ...]) -> dict[int, float]:
    if counted is None:
        return {}
    passages, counts = counted[0], np.frombuffer(counted[1], np.uint32)
    return {p: float(np.log(1 + (passages - counts[p] + 0.5) / (counts[p] + 0.5))) for p in set(pieces)}
