"""Which rows are scored in full: all that are allowed; of many the best by a leading sum, by words and by meaning."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.index.numeric import closeness
from recollect.index.snapshot import Snapshot, SnapshotPart, distinct
from recollect.index.source import Source
from recollect.index.terms import term_hashes
from recollect.index.words import Scores
from recollect.store.passages import KINDS, ROLE_SHIFT, ROLES, Bool, CandidateQuery, Float, Int, Partition
from recollect.text.terms import stemmed

#: Up to so many passages all are scored in full.
SCORE_ALL = 2000
#: What candidates are chosen by beside words and meaning, in standard deviations of these: about half of what the
#: ranker gives to who speaks (the first that is named, others), to the named being there, and to dates (on, near).
_LEAD_FIRST, _LEAD_OTHERS, _LEAD_PRESENT, _LEAD_DATES = 0.65, 0.3, 0.4, (1.0, 1.1)

_DAY = 86_400_000_000  # microseconds
#: Every so many-th row tells about where the best begin: so many times as many as are wanted, and some to be sure.
_SAMPLED, _MORE, _AT_LEAST = 61, 4, 8
#: Of a large snapshot so many times as many as are wanted are compared exactly: by the leading sum, by meaning alone.
_LIKELY, _LIKELY_BY_MEANING = 16, 32
_SIGNED_OR_LETTER = re.compile(r"[a-z](?:\+\+|#)?")  # "c++", "c#", "c", as surface words

#: Partitions whose passages belong to conversations, none of which shall fill the pool alone.
_OF_CONVERSATIONS = (Partition.SAID, Partition.OTHER)

#: Which rows of a part may be found; None: all.
Allowed = Bool | None


class Cosines:
    """The cosines of the rows of a snapshot with the vector of a query."""

    def __init__(self, snapshot: Snapshot, vector: Float) -> None:
        self._snapshot, self._vector = snapshot, vector
        self._scanned: dict[int, Float] = {}
        self.exact = not snapshot.is_large
        self.blind = not vector.any()
        moments = snapshot.statistics.moments
        self._mean, self._deviation = moments.spread(vector) if moments.count else (0.0, 0.0)

    def scan(self, place: int) -> Float:
        """Of all rows of a part: exact, or of a large snapshot roughly."""
        block = self._snapshot.parts[place].block
        if not self.exact:
            return block.rough_cosines(self._vector)
        if place not in self._scanned:
            self._scanned[place] = block.cosines(self._vector)
        return self._scanned[place]

    def at(self, at: Int) -> Float:
        """Of rows by ascending positions, exact."""
        found = np.empty(len(at), np.float32)
        for place, part, own, rows in self._snapshot.split(at):
            scanned = self._scanned.get(place)
            found[own] = part.block.cosines(self._vector, rows) if scanned is None else scanned[rows]
        return found

    def z(self, values: Float) -> Float:
        """Cosines in standard deviations from the mean of all living rows."""
        return np.asarray((values - np.float32(self._mean)) / np.float32(self._deviation + 1e-6), np.float32)


class Extras:
    """What counts beside words and meaning: who speaks, when, and what is sought as it was typed."""

    def __init__(self, snapshot: Snapshot, source: Source, query: CandidateQuery) -> None:
        self._snapshot, self._query = snapshot, query
        numbers = [source.speaker(name) for name in query.named]
        self._named = {number: place for place, number in enumerate(numbers, 1) if number is not None}
        self._talks = [self._conversations_of(number) for number in self._named]
        self._sought = holding(snapshot, source, query.sought)

    def who(self, speakers: NDArray[np.uint32]) -> Int:
        """Which of the named people speaks: 1 the first, 0 none of them."""
        found = np.zeros(len(speakers), np.int64)
        for number, place in self._named.items():
            found[speakers == number] = place
        return found

    def present(self, conversations: Int) -> Int:
        """How many of the named people speak in these conversations."""
        if not self._talks:
            return np.zeros(len(conversations), np.int64)
        unique, where = np.unique(conversations, return_inverse=True)
        return self._among(unique)[where]

    def dates(self, time: Int) -> tuple[Float, Float]:
        """Whether times lie on the days that the question names, and how near to them."""
        if not self._query.spans:
            return np.zeros(len(time), np.float32), np.zeros(len(time), np.float32)
        return closeness(np.where(time > 0, time // _DAY, -1), self._query.spans)

    def sought(self, at: Int) -> Bool:
        """Which rows hold a phrase that is sought."""
        return np.isin(at, self._sought)

    def lead(self, part: SnapshotPart) -> Float | None:
        """What all rows of a part gain in the choice of candidates; None: nothing."""
        query, block = self._query, part.block
        low, high = np.searchsorted(self._sought, [part.offset, part.offset + block.size])
        if not self._named and not query.spans and low == high:
            return None
        total = np.zeros(block.size, np.float32)
        for number, place in self._named.items():
            total += np.float32(_LEAD_FIRST if place == 1 else _LEAD_OTHERS) * (block.speaker == number)
        if self._talks:
            conversations, own = block.talks
            total += (np.float32(_LEAD_PRESENT) * np.minimum(self._among(conversations), 2))[own]
        if query.spans:
            inside, near = closeness(block.days, query.spans)
            total += (_LEAD_DATES[0] * inside + _LEAD_DATES[1] * near).astype(np.float32)[block.day]
        total[self._sought[low:high] - part.offset] += np.float32(4.0)
        return total

    def _conversations_of(self, speaker: int) -> Int:
        """The conversations in which a person speaks, ascending."""
        found = [np.zeros(0, np.int64)]
        for part in self._snapshot.parts:
            speaks = part.block.speaker == speaker
            found.append(part.block.conversation[speaks if part.alive is None else speaks & part.alive])
        return distinct(*found)

    def _among(self, conversations: Int) -> Int:
        return np.asarray(np.sum([np.isin(conversations, talks) for talks in self._talks], axis=0), np.int64)


def holding(snapshot: Snapshot, source: Source, phrases: Sequence[tuple[str, ...]]) -> Int:
    """The positions of the rows that hold at least one of the phrases, word by word, ascending."""
    found = []
    for phrase in phrases:
        at = snapshot.positions_of(np.asarray(source.holding(phrase), np.int64))
        # A full-text index takes C++, C# and C for one word; their terms tell them apart.
        for term in stemmed(word for word in phrase if _SIGNED_OR_LETTER.fullmatch(word)):
            at = at[_has_term(snapshot, term, at)]
        found.append(at)
    return found[0] if len(found) == 1 else distinct(np.zeros(0, np.int64), *found)


def _has_term(snapshot: Snapshot, term: str, at: Int) -> Bool:
    """Which rows by ascending positions hold a term."""
    has, hashes = np.zeros(len(at), bool), term_hashes([term])
    for _, part, own, rows in snapshot.split(at):
        ((start, end),) = part.block.terms.find(hashes)
        has[own] = np.isin(rows, part.block.terms.rows[start:end])
    return has


def allowed_rows(snapshot: Snapshot, source: Source, query: CandidateQuery) -> list[Allowed]:
    """Which living rows the filter, the phrases and the excluded words leave, part by part."""
    wanted = query.filter
    conversations = None
    if wanted.sources or wanted.conversation_ids is not None:
        conversations = np.array(source.conversations(wanted.sources, wanted.conversation_ids), np.int64)
    only = None if query.conversations is None else np.array(sorted(query.conversations), np.int64)
    demanded = [holding(snapshot, source, (phrase,)) for phrase in query.phrases]
    excluded = holding(snapshot, source, query.excluded)
    # Of a long message no passage may be found where another one holds the word; 0 is no message.
    unwanted = distinct(*snapshot.columns(excluded, "message"))
    unwanted = unwanted[unwanted > 0]

    def allowed(part: SnapshotPart) -> Allowed:
        block, conditions = part.block, [] if part.alive is None else [part.alive]
        if wanted.kinds:
            conditions.append(_table([KINDS.index(kind) for kind in wanted.kinds])[block.kind])
        if conversations is not None:
            conditions.append(block.of_conversations(conversations))
        if only is not None:
            conditions.append(block.of_conversations(only))
        if wanted.since is not None or wanted.until is not None:
            conditions.append(block.time != 0)  # known; before 1970 it is negative
        if wanted.since is not None:
            conditions.append(block.time >= wanted.since)
        if wanted.until is not None:
            conditions.append(block.time < wanted.until)
        if wanted.roles:
            conditions.append(_table([ROLES.index(role) for role in wanted.roles])[(block.flags >> ROLE_SHIFT) & 3])
        conditions += [_marked(part, at) for at in demanded]
        if len(excluded):
            conditions += [~_marked(part, excluded), ~np.isin(block.message, unwanted)]
        return np.logical_and.reduce(conditions) if conditions else None

    return [allowed(part) for part in snapshot.parts]


def _table(values: list[int]) -> Bool:
    table = np.zeros(256, bool)
    table[values] = True
    return table


def _marked(part: SnapshotPart, at: Int) -> Bool:
    marked = np.zeros(part.block.size, bool)
    low, high = np.searchsorted(at, [part.offset, part.offset + part.block.size])
    marked[at[low:high] - part.offset] = True
    return marked


@dataclass(frozen=True)
class Pool:
    """The positions of the pool, ascending, and whether they are all that may be found. Where they are not, `leads`
    sorts all rows, block by block, and `near` counts those with a leading sum above the average.
    """

    at: Int
    whole: bool
    near: int | None = None
    leads: Sequence[NDArray[Any]] | None = None


def choose_pool(
    snapshot: Snapshot,
    allowed: Sequence[Allowed],
    words: tuple[Scores, Scores],
    cosines: Cosines,
    extras: Extras,
    query: CandidateQuery,
) -> Pool:
    """Of many rows the best by the leading sum, by the words and by meaning are taken, each with its neighbours; or the
    newest that hold a word.
    """
    size = query.pool
    if query.by_words:
        allowed = [_marks(part, rows) for part, rows in zip(snapshot.parts, holding_rows(words, allowed), strict=True)]
    count = sum(
        p.block.size if own is None else np.count_nonzero(own) for p, own in zip(snapshot.parts, allowed, strict=True)
    )
    if count <= SCORE_ALL:
        return Pool(_together(snapshot, allowed_places(snapshot, allowed)), whole=True)
    if query.newest:
        held = (
            _together(snapshot, holding_rows(words, allowed))
            if query.terms
            else _together(snapshot, allowed_places(snapshot, allowed))
        )
        newest = np.sort(_best(held, snapshot.columns(held, "time")[0].astype(np.float64), size))
        return Pool(newest, len(newest) == len(held), leads=[part.block.time for part in snapshot.parts])
    scores = _Leading(snapshot, allowed, words, None if query.by_words else cosines, extras)
    chosen = scores.best(size // 2, size // 8, size // 8)
    if query.partition in _OF_CONVERSATIONS:
        chosen = distinct(chosen, scores.best_of_others(chosen, size // 8))
    found = distinct(snapshot.around(chosen).ravel())  # without -1: there is nothing there
    may = np.ones(len(found), bool)
    for place, _, own, rows in snapshot.split(found):
        mask = allowed[place]
        if mask is not None:
            may[own] = mask[rows]
    return Pool(
        found[may], whole=False, near=sum(int(np.count_nonzero(lead > 0)) for lead in scores.leads), leads=scores.leads
    )


def holding_rows(words: tuple[Scores, Scores], allowed: Sequence[Allowed]) -> list[Int]:
    """Which rows of each part may be found and hold a word."""
    return [rows if own is None else rows[own[rows]] for rows, own in zip(words[0].rows, allowed, strict=True)]


def _together(snapshot: Snapshot, rows: Sequence[Int]) -> Int:
    """The positions of rows of each part."""
    found = [own + part.offset for own, part in zip(rows, snapshot.parts, strict=True)]
    return np.concatenate([np.zeros(0, np.int64), *found])


def _marks(part: SnapshotPart, rows: Int) -> Bool:
    marked = np.zeros(part.block.size, bool)
    marked[rows] = True
    return marked


def allowed_places(snapshot: Snapshot, allowed: Sequence[Allowed]) -> list[Int]:
    """Which rows of each part may be found."""
    pairs = zip(snapshot.parts, allowed, strict=True)
    return [np.arange(part.block.size) if own is None else np.flatnonzero(own) for part, own in pairs]


class _Leading:
    """What candidates are chosen by, for all rows, block by block; -inf for rows that may not be found."""

    def __init__(
        self,
        snapshot: Snapshot,
        allowed: Sequence[Allowed],
        words: tuple[Scores, Scores],
        cosines: Cosines | None,
        extras: Extras,
    ) -> None:
        self._snapshot, self._allowed, self._cosines = snapshot, allowed, cosines
        self._words, (self._wide, self._narrow) = words, words
        self._extras = extras
        scored = [self._score(place) for place in range(len(snapshot.parts))]
        self.leads = [lead for lead, _ in scored]  # what candidates are chosen by
        self._dense = [dense for _, dense in scored]

    def _score(self, place: int) -> tuple[Float, Float]:
        part, allowed = self._snapshot.parts[place], self._allowed[place]
        if self._cosines is None:
            dense = np.zeros(part.block.size, np.float32)
            lead = dense.copy()
        else:
            dense = self._cosines.scan(place)
            lead = self._cosines.z(dense)
        self._add_words(place, lead)
        extra = self._extras.lead(part)
        if extra is not None:
            lead += extra
        if allowed is not None:
            lead[~allowed] = -np.inf
            dense = np.where(allowed, dense, np.float32(-np.inf))
        return lead, dense

    def _add_words(self, place: int, lead: Float) -> None:
        """BM25 as it suits who speaks: the words of people are short, those of assistants are not."""
        people, rows = self._snapshot.parts[place].block.people, self._wide.rows[place]
        if isinstance(people, bool):
            own = self._narrow if people else self._wide
            lead += own.nothing
            lead[rows] += own.z(place, rows) - own.nothing
        else:
            wide, narrow = self._wide, self._narrow
            lead += np.where(people, narrow.nothing, wide.nothing)
            of_people, of_others = narrow.z(place, rows) - narrow.nothing, wide.z(place, rows) - wide.nothing
            lead[rows] += np.where(people[rows], of_people, of_others)

    def best(self, by_lead: int, by_words: int, by_meaning: int) -> Int:
        """The positions of the best by each, ascending."""
        words = _best(*self._held(self._narrow.blocks), by_words)
        if self._cosines is None or self._cosines.blind:
            return distinct(words, _top(self._snapshot, self.leads, by_lead))
        if self._cosines.exact:
            lead = _top(self._snapshot, self.leads, by_lead)
            return distinct(words, lead, _top(self._snapshot, self._dense, by_meaning))
        likely, leading, near = self._compared(self._cosines, _LIKELY * by_lead, _LIKELY_BY_MEANING * by_meaning)
        return distinct(words, _best(likely, leading, by_lead), _best(likely, near, by_meaning))

    def _compared(self, cosines: Cosines, by_lead: int, by_meaning: int) -> tuple[Int, Float, Float]:
        """The positions of those that are likely the best, ascending, with their leading sums and cosines, exact."""
        snapshot = self._snapshot
        likely = distinct(_top(snapshot, self.leads, by_lead), _top(snapshot, self._dense, by_meaning))
        lead, rough = _at(snapshot, self.leads, likely), _at(snapshot, self._dense, likely)
        near = cosines.at(likely)
        return likely, lead + (cosines.z(near) - cosines.z(rough)), near

    def best_of_others(self, chosen: Int, count: int) -> Int:
        """Where few conversations fill the pool, the best rows of so many others that hold a word, one of each."""
        known = np.unique(self._snapshot.columns(chosen, "conversation")[0])
        if len(known) >= count:
            return chosen[:0]
        at, leads = self._held(self.leads)
        (conversations,) = self._snapshot.columns(at, "conversation")
        others = np.flatnonzero((conversations > 0) & ~np.isin(conversations, known))
        others = others[np.argsort(-leads[others], kind="stable")]
        firsts = np.sort(np.unique(conversations[others], return_index=True)[1])
        return np.sort(at[others[firsts[:count]]])

    def _held(self, blocks: Sequence[Float | None]) -> tuple[Int, Float]:
        """The rows that hold a word and may be found, ascending, with their values."""
        held = holding_rows(self._words, self._allowed)
        values = [own[rows] for rows, own in zip(held, blocks, strict=True) if own is not None]
        return _together(self._snapshot, held), np.concatenate([np.zeros(0, np.float32), *values])


def _best(rows: Int, scores: Float, count: int) -> Int:
    return np.asarray(rows[np.argpartition(-scores, count)[:count]]) if count < len(rows) else rows


def _at(snapshot: Snapshot, blocks: Sequence[Float], at: Int) -> Float:
    """Values by ascending positions."""
    found = np.empty(len(at), np.float32)
    for place, _, own, rows in snapshot.split(at):
        found[own] = blocks[place][rows]
    return found


def _top(snapshot: Snapshot, blocks: Sequence[Float], count: int) -> Int:
    """The positions of the highest of very many values, without sorting them: a sample tells about where they begin."""
    sample = np.concatenate([values[::_SAMPLED] for values in blocks])
    among = min(_MORE * count // _SAMPLED + _AT_LEAST, len(sample) - 1)
    least = np.partition(sample, -among)[-among]
    for bound in (least, np.float32(-np.inf)):
        rows = [np.flatnonzero(values > bound) for values in blocks]
        if sum(map(len, rows)) >= count:
            break
    at = np.concatenate([own + part.offset for own, part in zip(rows, snapshot.parts, strict=True)])
    values = np.concatenate([values[own] for own, values in zip(rows, blocks, strict=True)])
    return _best(at, values, count)
