"""BM25 over a snapshot: the query terms in every block, their weights, and scores that are known for all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from recollect.index.numeric import bm25
from recollect.index.snapshot import Snapshot, SnapshotPart, distinct
from recollect.index.terms import term_hashes
from recollect.store.passages import ROLE_SHIFT, ROLES, Bool, Float, Int, QueryTerms, Rows

#: k1 and b of BM25: of what is ranked, and of what chooses candidates among the words of people.
WIDE, NARROW = (2.0, 1.0), (0.9, 0.4)

_NO_ROWS = np.zeros(0, np.int64)

_Found = tuple[Int, Float]  # the living rows of a block that hold a term, and how often


@dataclass(frozen=True)
class Scores:
    """A number for every row of a snapshot: block by block, None where it is 0 for the whole block.

    `rows` are those of each block where it is not 0.
    """

    blocks: Sequence[Float | None]
    rows: Sequence[Int]
    mean: float
    deviation: float

    def z(self, place: int, rows: Int) -> Float:
        """Of some rows of a block, in standard deviations from the mean of all living rows."""
        own = self.blocks[place]
        values = np.zeros(len(rows), np.float32) if own is None else own[rows]
        return np.asarray((values - np.float32(self.mean)) / np.float32(self.deviation + 1e-6), np.float32)

    @property
    def nothing(self) -> np.float32:
        """Of a row where it is 0."""
        return -np.float32(self.mean) / np.float32(self.deviation + 1e-6)

    def at(self, snapshot: Snapshot, at: Int) -> Float:
        """The same by ascending positions."""
        found = np.empty(len(at), np.float32)
        for place, _, own, rows in snapshot.split(at):
            found[own] = self.z(place, rows)
        return found


class Words:
    """The words of a query, in groups of alternatives with weights, as a snapshot holds them.

    Alternatives of a group that have the weight 1 are one word ("kept", "keep"), as rare as they are together. What a
    `lender` has of the same words counts for how rare they are and how their scores vary; the statistics of the
    snapshot include its rows.
    """

    def __init__(
        self, snapshot: Snapshot, groups: Sequence[Sequence[tuple[str, float]]], lender: Words | None = None
    ) -> None:
        self._snapshot = snapshot
        alternatives = [_alternatives(group) for group in groups]
        self._weights = [weight for group in alternatives for _, weight in group]
        self._ends = np.cumsum([0, *(len(group) for group in alternatives)]).tolist()
        words = [forms for group in alternatives for forms, _ in group]
        hashes = term_hashes(term for forms in words for term in forms)
        self._found = [_found(part, hashes, [len(forms) for forms in words]) for part in snapshot.parts]
        self._frequencies = [sum(len(own[0]) for own in of if own) for of in zip(*self._found, strict=True)]
        self._frequencies = self._frequencies or [0] * len(self._weights)
        self._lender = lender

    @property
    def living(self) -> int:
        """How many passages can be found, those of the lender included."""
        return self._snapshot.living

    @property
    def held(self) -> Sequence[int]:
        """In how many of these each alternative stands."""
        if self._lender is None:
            return self._frequencies
        return [own + lent for own, lent in zip(self._frequencies, self._lender.held, strict=True)]

    @cached_property
    def frequencies(self) -> NDArray[np.int64]:
        """In how many passages each group's most frequent alternative stands."""
        return np.array([max(self._frequencies[a:b], default=0) for a, b in self._groups()], np.int64)

    @cached_property
    def idf(self) -> Float:
        """The inverse document frequency of each group: of its rarest alternative."""
        return np.array([max(self._idf[a:b], default=0.0) for a, b in self._groups()], np.float32)

    @cached_property
    def _idf(self) -> list[float]:
        living = self.living
        return [float(np.log(1 + (living - count + 0.5) / (count + 0.5))) for count in self.held]

    @cached_property
    def scores(self) -> tuple[Scores, Scores]:
        """BM25 of every living row, with WIDE and with NARROW parameters."""
        living = self.living
        scored = [self._totals(place) for place in range(len(self._snapshot.parts))]
        rows = [_NO_ROWS if totals is None else np.flatnonzero(totals[0] != 0) for totals in scored]
        scores = []
        for which in range(2):
            blocks = [None if totals is None else totals[which] for totals in scored]
            some = [own[at] for own, at in zip(blocks, rows, strict=True) if own is not None]
            total, squares = sum(float(s.sum()) for s in some), sum(float((s * s).sum()) for s in some)
            if self._lender is not None:
                lent, count = self._lender.scores[which], self._lender.living
                total += lent.mean * count
                squares += (lent.mean**2 + lent.deviation**2) * count
            scores.append(Scores(blocks, rows, *_spread(total, squares, living)))
        return scores[0], scores[1]

    def holds(self, at: Int) -> Float:
        """How much of each group rows at ascending positions (n,) hold: the weight of the alternative, (n, groups)."""
        held = np.zeros((len(at), len(self._ends) - 1), np.float32)
        for place, _, own, rows in self._snapshot.split(at):
            for group, (a, b) in enumerate(self._groups()):
                for term in range(a, b):
                    found = self._found[place][term]
                    if found is not None:
                        there = _among(found[0], rows) * np.float32(self._weights[term])
                        np.maximum(held[own, group], there, out=held[own, group])
        return held

    def _groups(self) -> list[tuple[int, int]]:
        return list(zip(self._ends[:-1], self._ends[1:], strict=True))

    def _totals(self, place: int) -> tuple[Float, Float] | None:
        """BM25 of all rows of a part, with both parameters; None: no row holds a word."""
        part, found = self._snapshot.parts[place], self._found[place]
        if not any(found):
            return None
        mean_length = self._snapshot.statistics.mean_length
        totals = np.zeros(part.block.size, np.float32), np.zeros(part.block.size, np.float32)
        for a, b in self._groups():
            scored = [self._scored(part, own, term, mean_length) for term in range(a, b) if (own := found[term])]
            if len(scored) == 1:
                rows, *values = scored[0]
                for total, value in zip(totals, values, strict=True):
                    total[rows] += value
            elif scored:
                for which, total in enumerate(totals):
                    best = np.zeros(part.block.size, np.float32)
                    for rows, *values in scored:
                        best[rows] = np.maximum(best[rows], values[which])
                    total += best
        return totals

    def _scored(self, part: SnapshotPart, found: _Found, term: int, mean_length: float) -> tuple[Int, Float, Float]:
        rows, counts = found
        weight = self._weights[term] * self._idf[term]
        lengths = part.block.lengths[rows] / mean_length
        return rows, weight * bm25(counts, lengths, *WIDE), weight * bm25(counts, lengths, *NARROW)


_LOOKED_UP: WeakKeyDictionary[Snapshot, WeakValueDictionary[QueryTerms, Words]] = WeakKeyDictionary()


def looked_up(snapshot: Snapshot, groups: QueryTerms) -> Words:
    """The words of a query in a snapshot: the same ones for as long as anybody holds what was found by them."""
    of_snapshot = _LOOKED_UP.setdefault(snapshot, WeakValueDictionary())
    found = of_snapshot.get(groups)
    if found is None:
        of_snapshot[groups] = found = Words(snapshot, groups)
    return found


def known(snapshot: Snapshot, terms: QueryTerms) -> list[bool] | None:
    """Whether any living passage holds each of the terms or one of its alternatives; None where no passage lives."""
    if not snapshot.living:
        return None
    hashes = [term_hashes(term for term, _ in group) for group in terms]
    found = [False] * len(hashes)
    for part in snapshot.parts:
        for place in [place for place, is_known in enumerate(found) if not is_known]:
            found[place] = any(_lives(part, *span) for span in part.block.terms.find(hashes[place]))
        if all(found):
            break
    return found


def _lives(part: SnapshotPart, start: int, end: int) -> bool:
    """Whether any row of a posting lives."""
    return start < end and (part.alive is None or bool(part.alive[part.block.terms.rows[start:end]].any()))


def _alternatives(group: Sequence[tuple[str, float]]) -> list[tuple[tuple[str, ...], float]]:
    """The words of a group, each with its forms."""
    words = [(tuple(term for term, weight in group if weight == 1), 1.0)]
    words += [((term,), weight) for term, weight in group if weight != 1]
    return [(forms, weight) for forms, weight in words if forms]


def _found(part: SnapshotPart, hashes: NDArray[np.uint64], forms: Sequence[int]) -> list[_Found | None]:
    """Of words with so many forms each, the rows that hold one, and how often they hold all of them."""
    spans = iter(part.block.terms.find(hashes))
    return [_living(part, [(start, end) for start, end in islice(spans, many) if start != end]) for many in forms]


def _living(part: SnapshotPart, spans: Sequence[tuple[int, int]]) -> _Found | None:
    """The living rows of postings, and their counts; of several postings together."""
    if not spans:
        return None
    terms = part.block.terms
    rows = np.concatenate([terms.rows[start:end] for start, end in spans]).astype(np.int64)
    counts = np.concatenate([terms.counts[start:end] for start, end in spans]).astype(np.float32)
    if len(spans) > 1:
        rows, own = np.unique(rows, return_inverse=True)
        counts = np.bincount(own, counts).astype(np.float32)
    if part.alive is not None:
        living = part.alive[rows]
        rows, counts = rows[living], counts[living]
    return (rows, counts) if len(rows) else None


def _among(rows: Int, wanted: Int) -> Bool:
    """Which of the wanted rows are among these, which ascend."""
    at = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    return np.asarray(rows[at] == wanted)


def _spread(total: float, squares: float, count: int) -> tuple[float, float]:
    """Mean and standard deviation from sums."""
    mean = total / count if count else 0.0
    return mean, float(np.sqrt(max(squares / count - mean * mean, 0.0))) if count else 0.0


# All rows of a snapshot that hold a word of a query, in the pool or not: counts are exact, a search is complete.

_COLUMNS = ("number", "message", "conversation", "kind", "time", "flags")


class WordMatches:
    """Implements `recollect.store.passages.Matches`."""

    def __init__(
        self, snapshot: Snapshot, words: Words, rows: Sequence[Int], leads: Sequence[NDArray[Any]] | None
    ) -> None:
        """`rows` of each part, and what sorts all rows of each; None: nothing is left to sort."""
        self._snapshot, self._words, self._rows, self._leads = snapshot, words, rows, leads

    @cached_property
    def conversations(self) -> Int:
        """Their conversations, each once, ascending."""
        found = [np.zeros(0, np.int64)]
        for part, rows in zip(self._snapshot.parts, self._rows, strict=True):
            conversations, own = part.block.talks
            held = np.zeros(len(conversations), bool)
            held[own[rows]] = True
            found.append(conversations[held])
        every = distinct(*found)
        return every[every > 0]

    @cached_property
    def rows(self) -> Rows:
        """They themselves, by position."""
        return self._columns(self._rows)

    def within(self, conversations: Int) -> Rows:
        """Those of some conversations, by position."""
        parts = zip(self._snapshot.parts, self._rows, strict=True)
        return self._columns([rows[part.block.of_conversations(conversations)[rows]] for part, rows in parts])

    def _columns(self, of: Sequence[Int]) -> Rows:
        number, message, conversation, kind, time, flags = self._snapshot.columns(self._positions(of), *_COLUMNS)
        if self._leads is None:
            leads = np.zeros(len(number))
        else:
            leads = np.concatenate([own[rows] for own, rows in zip(self._leads, of, strict=True)])
        roles = (flags.astype(np.int64) >> ROLE_SHIFT) & (len(ROLES) - 1)
        return Rows(number, message, conversation, kind, time, roles, leads.astype(np.float64))

    @cached_property
    def shares(self) -> Float:
        """How much of the query's idf each of the rows holds."""
        idf = self._words.idf
        total = float(idf.sum())
        if not total:
            return np.zeros(len(self._at), np.float32)
        return np.asarray(self._words.holds(self._at) @ idf / total, np.float32)

    @cached_property
    def _at(self) -> Int:
        return self._positions(self._rows)

    def _positions(self, of: Sequence[Int]) -> Int:
        parts = zip(self._snapshot.parts, of, strict=True)
        return np.concatenate([rows + part.offset for part, rows in parts])
