"""From candidates to ranked passages: features, scores, late interaction for the best."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from recollect.index.numeric import LENT_BELOW
from recollect.models.embedding import QUALITY_TOKENS, TokenEmbedder
from recollect.search.known import Fit, Late, Signs, fit, late_interaction, likelihood, signs, wanted
from recollect.search.query.asking import Asked, candidate_query
from recollect.search.query.question import Question
from recollect.search.query.spelling import compounds
from recollect.search.scoring import (
    PassageScores,
    ScoreInput,
    Spread,
    coverage,
    in_order,
    matrix,
    own_coverage,
    pool_z,
    weighed,
)
from recollect.search.titles import Titles, titles_above
from recollect.search.weights import (
    BLIND_COSINE,
    CLOSE,
    COMPOUND,
    INSTANT,
    LATE_POOL,
    LIKE,
    LIKELIHOOD,
    MISSING_TOKENS,
    QUALITY,
    RANKED,
    RARE,
)
from recollect.store import View
from recollect.store.passages import (
    KINDS,
    ROLE_SHIFT,
    ROLES,
    Bool,
    CandidateQuery,
    Features,
    Float,
    Int,
    Matches,
    Partition,
    Rows,
    TokenRows,
)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage with its score. Equal numbers of messages and conversations mean the same ones, 0 none.

    `share` is how much of the question's idf its own words hold, `near` the best cosine of its runs of sentences;
    `matches` says that it has to do with the question by its words, or clearly by its meaning, `alone` that it holds a
    rare word which nobody said. `shift` is what is added
    to the sum of its terms, `reranked` what a re-ranker adds.
    """

    passage: int
    message: int
    conversation: int
    kind: str
    time: int
    total: float
    share: float
    near: float
    matches: bool
    scores: PassageScores
    row: int
    shift: float = 0.0
    alone: bool = False
    reranked: float = 0.0

    @property
    def score(self) -> float:
        """What it is ranked by."""
        return self.total + self.shift + self.reranked

    def terms(self) -> dict[str, float]:
        """What each term added."""
        more = {"not looked at closely": self.shift, "re-ranker": self.reranked}
        return self.scores.terms(self.row) | {name: value for name, value in more.items() if value}


@dataclass(frozen=True, slots=True)
class HeldPassages:
    """All passages of a partition that hold a word of the question, ranked or not; only those that hold at least so
    much of its idf.
    """

    partition: Partition
    matches: Matches
    least: float = 0.0

    @property
    def rows(self) -> Rows:
        """They themselves."""
        rows = self.matches.rows
        return rows.take(self.matches.shares >= self.least) if self.least else rows

    def within(self, conversations: Int) -> Rows:
        """Those of some conversations."""
        if not self.least:
            return self.matches.within(conversations)
        return self.rows.take(np.isin(self.rows.conversations, conversations))

    @property
    def conversations(self) -> Int:
        """Their conversations, each once, ascending."""
        return numbers(self.rows.conversations) if self.least else self.matches.conversations


def numbers(*several: Int) -> Int:
    """The numbers that stand for something, each once, ascending. 0 stands for nothing."""
    # with indexes, for without any numpy loads its masked arrays
    found = np.unique(np.concatenate([np.zeros(0, np.int64), *several]), return_index=True)[0]
    return found[found > 0]


def _no_rows() -> Rows:
    none = np.zeros(0, np.int64)
    return Rows(none, none, none, none.astype(np.uint8), none, none, np.zeros(0))


def _no_shares() -> Float:
    return np.zeros(0, np.float32)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The passages of a partition, best first: those that a search may show so far down, of longer lists the first.

    `pool` are all that were ranked, best first, `shares` how much of the question's idf each of them holds, and `held`
    all that hold a word, in the pool or not. `words` are the terms that were looked for, compounds included, `unknown`
    those of the question that are nowhere. `close` says that something near the question is there, `exact` that nothing
    that may be found was left out of the pool, unless for its words. `relevant` counts those of all that are nearer to
    the question than the average one (not only those ranked here). `vectors` are the rows of `Ranked.row`, where they
    were asked for. `likelihood` says, from `signs`, how likely an answer is there, and `fit` whether the best is worth
    showing unasked. `spreads` are those of the pool, by the term, for another ranking whose pool is small.
    """

    passages: Sequence[Ranked] = ()
    pool: Rows = field(default_factory=_no_rows)
    shares: Float = field(default_factory=_no_shares)
    held: tuple[HeldPassages, ...] = ()
    mode: str = "instant"
    words: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    searched: int = 0
    close: bool = True
    likelihood: float = 0.0
    signs: Signs | None = None
    fit: Fit = Fit.WELL
    exact: bool = True
    relevant: int = 0
    vectors: Float | None = None
    spreads: Mapping[str, Spread] = field(default_factory=dict)

    @property
    def held_rows(self) -> Rows:
        """All passages that hold a word, in the pool or not."""
        return Rows.joined(_no_rows(), *(own.rows for own in self.held))

    def held_within(self, conversations: Int) -> Rows:
        """Those of some conversations."""
        return Rows.joined(_no_rows(), *(own.within(conversations) for own in self.held))

    def only(self, passages: Sequence[Ranked]) -> Ranking:
        """The same with some of its passages, as if there were no others."""
        kept = np.isin(self.pool.passages, np.array([entry.passage for entry in passages], np.int64))
        return replace(self, passages=passages, pool=self.pool.take(kept), shares=self.shares[kept], held=())

    def holding(self, least: float = 0.0) -> Ranking:
        """The same with those that hold at least so much of the question's idf, and a word of it."""
        kept = (self.shares > 0) & (self.shares >= least)
        return replace(
            self,
            passages=[entry for entry in self.passages if entry.share > 0 and entry.share >= least],
            pool=self.pool.take(kept),
            shares=self.shares[kept],
            held=tuple(replace(own, least=least) for own in self.held),
        )

    def joined(self, other: Ranking, passages: Sequence[Ranked]) -> Ranking:
        """The same with those of another ranking, in the order of the passages given."""
        return replace(
            self,
            passages=passages,
            pool=Rows.joined(self.pool, other.pool),
            shares=np.concatenate([self.shares, other.shares]),
            held=(*self.held, *other.held),
            words=tuple({*self.words, *other.words}),
            unknown=tuple(term for term in other.unknown if term in self.unknown),
            searched=self.searched + other.searched,
            exact=self.exact and other.exact,
            relevant=self.relevant + other.relevant,
            likelihood=max(self.likelihood, other.likelihood),
        )


def rank(
    view: View,
    asked: Asked,
    partition: Partition,
    model: Callable[[], TokenEmbedder],
    *,
    vectors: bool = False,
    pool: int | None = None,
    by_words: bool = False,
    titled: bool = True,
    passages: Collection[int] | None = None,
    nearest: int | None = None,
    named: Collection[int] = (),
    lent: Mapping[str, Spread] | None = None,
    unsaid: Collection[str] = (),
    unmatched: bool = False,
) -> Ranking:
    """Ranks the passages of a partition that may answer, `pool` of many, with `by_words` those that hold most of its
    words; with `vectors` theirs are at hand. Titles count, unless `titled` is false. `passages` are ranked alone, by
    their numbers. What does not match is only among the `nearest`, if so many are given. Of the conversations that are
    `named` by number the best passage is always there. A small partition is measured by the `lent` spreads as well.
    `unsaid` are the terms of the question that stand nowhere in what was said. `unmatched` keeps what matches nothing
    of a few words too.
    """
    query = replace(candidate_query(asked, partition), vectors=vectors, by_words=by_words)
    if passages is not None:
        query = replace(query, passages=tuple(passages), similarity=None)
    query = query if pool is None else replace(query, pool=pool)
    known = view.known(partition, query.terms)
    if known is None:
        return Ranking(close=False, unknown=asked.question.terms)
    unknown = tuple(term for term, held in zip(asked.question.terms, known, strict=True) if not held)
    query = _widened(view, asked.question, query, unknown)
    features = view.candidates(query)
    newest = asked.search.sort == "newest"
    ranking = Ranking(
        words=tuple({term for group in query.terms for term, _ in group}),
        unknown=unknown,
        searched=features.size,
        exact=features.whole or newest or not asked.vector.any(),
        held=() if features.matches is None else (HeldPassages(partition, features.matches),),
        relevant=features.relevant,
        vectors=features.vectors,
    )
    if not len(features):
        return replace(ranking, close=False)
    titles = Titles(np.zeros(len(features), np.float32))
    if titled:
        titles = titles_above(view, asked, query.terms, features.conversations)
    evidence = ScoreInput(
        question=asked.question,
        features=features,
        named=len(asked.named),
        titles=titles.near,
        titled=titles.held,
        typed=asked.typed,
        quoted=bool(asked.quoted),
        lent=lent if lent and features.size < LENT_BELOW else {},
    )
    instant, shares = weighed(matrix(evidence), INSTANT), own_coverage(features)
    if asked.question.order is not None:
        evidence = replace(evidence, order=in_order(features, instant.total, asked.question.order))
        instant = weighed(matrix(evidence), INSTANT)
    order, matches = np.argsort(-instant.total, kind="stable"), _matches(evidence, shares, by_words=newest)
    if newest:
        order = order[np.argsort(-features.times[order], kind="stable")]
    near = _late(view, asked, features, order[:LATE_POOL], model) if features.quality else None
    late = None if near is None else _with_late(evidence, order[:LATE_POOL], near)
    # What is newest is not what is best: the signs are those of the best.
    best_first = np.argsort(-instant.total, kind="stable") if newest else order
    told = signs(evidence, asked.named, instant.total, best_first, None if newest else near)
    best, shift = order[:0], 0.0
    if late is not None:
        best, order = order[:LATE_POOL], order[LATE_POOL:]
        best = best[np.argsort(-late.total[best], kind="stable")]
        # What late interaction has not looked at comes after what it has.
        shift = min(float(late.total[best[-1]]) - float(instant.total[order[0]]), 0.0) if len(order) else 0.0
    every = np.concatenate([best, order])
    if passages is None:
        everything = asked.vector.any() and not newest and (unmatched or not asked.typed)
        some = 0 if not everything else len(every) if nearest is None else nearest
        shown = matches[every]
        shown[:some] = True
        looked_at = int(np.count_nonzero(shown[: len(best)]))
        every = every[shown]
        kept = _kept(features, every, asked.search.needed, named)
    else:
        looked_at, kept = 0, np.arange(len(every))
    entries, alone = [], _alone(features, asked.question.terms, unsaid)
    if late is not None:
        entries = _ranked(features, late, shares, matches, alone, every[kept[kept < looked_at]])
    entries += _ranked(features, instant, shares, matches, alone, every[kept[kept >= looked_at]], shift)
    totals = instant.total.astype(np.float64) + shift
    if late is not None:
        totals[best] = late.total[best]
    measured = {"words": coverage(features), "meaning": features.windows}
    measured |= {} if near is None else _late_values(near)
    near_by = closeness(features, shares) if asked.question.terms else 1.0
    return replace(
        ranking,
        passages=entries,
        pool=_rows(features, totals).take(every),
        shares=shares[every],
        mode="instant" if late is None else "quality",
        close=near_by >= CLOSE,
        likelihood=likelihood(told, near_by, features.size) if asked.question.terms else 1.0,
        signs=told,
        fit=fit(evidence, told),
        spreads={name: Spread.of(values) for name, values in measured.items()},
    )


def closeness(features: Features, shares: Float) -> float:
    """Whether anything comes near the question (RANKING.md 3), from 0 to 1: from the best share of the words, how many
    of them are known, and the best cosine, in absolute values.
    """
    known = float((features.frequencies > 0).mean())
    cosine = float(features.dense.max()) if features.dense.any() else BLIND_COSINE
    of_share, of_known, of_cosine, constant = LIKELIHOOD
    logit = of_share * float(shares.max()) + of_known * known + of_cosine * cosine + constant
    return 1 / (1 + math.exp(-logit))


def _widened(view: View, question: Question, query: CandidateQuery, unknown: Sequence[str]) -> CandidateQuery:
    """The query with the compounds that hold its words."""
    groups = list(query.terms)
    for term, similar in compounds(question, unknown, view.vocabulary()).items():
        at = question.terms.index(term)
        groups[at] = (*groups[at], *((other, COMPOUND) for other in similar))
    return replace(query, terms=tuple(groups))


def _rows(features: Features, leads: NDArray[np.float64]) -> Rows:
    """The passages as columns."""
    roles = (features.flags >> ROLE_SHIFT) & (len(ROLES) - 1)
    plain = (features.passages, features.messages, features.conversations, features.kinds, features.times)
    return Rows(*plain, roles, leads)


def _kept(features: Features, order: Int, needed: int, named: Collection[int]) -> Int:
    """The places in the order of the best passages, and of the best one of each further message and conversation, for
    so many results: a long one hides no other.
    """
    most = RANKED * needed
    if len(order) <= most:
        return np.arange(len(order))
    conversations, messages = features.conversations[order], features.messages[order]
    kept = [np.arange(most)]
    for column in (conversations, np.where(messages > 0, messages, -features.passages[order])):
        firsts = np.sort(np.unique(column, return_index=True)[1])
        kept.append(firsts[: 3 * needed])
    own, firsts = np.unique(conversations, return_index=True)
    kept.append(firsts[np.isin(own, np.array(sorted(named), np.int64))])
    return np.unique(np.concatenate(kept))


def _matches(evidence: ScoreInput, shares: Float, *, by_words: bool) -> Bool:
    """Which passages have to do with the question by their words or, where these are not all, clearly by meaning."""
    features = evidence.features
    if not evidence.question.terms:  # a phrase alone, which all of them hold
        return np.ones(len(features), bool)
    held = shares > 0
    return held if by_words else held | (features.windows >= LIKE) | features.sought


def _alone(features: Features, asked: Sequence[str], unsaid: Collection[str]) -> Bool:
    """Which passages hold a rare word that nobody said."""
    rare = features.idf >= RARE * math.log(1 + (features.size + 0.5) / 0.5)
    telling = rare & np.array([term in unsaid for term in asked], bool) if unsaid else rare[:0]
    if not telling.any():
        return np.zeros(len(features), bool)
    return np.asarray(features.holds[:, 0, telling].max(axis=1) > 0)


def _late(view: View, asked: Asked, features: Features, best: Int, model: Callable[[], TokenEmbedder]) -> Late | None:
    """Late interaction with the best; None where too many token vectors are missing."""
    if asked.tokens is None:
        return None
    chosen = features.take(best)
    needed = wanted(chosen)
    texts = view.passages(needed, tokens=True)
    rows = {text.number: text.tokens for text in texts if text.tokens is not None}
    missing = [text for text in texts if text.tokens is None]
    if len(missing) > max(MISSING_TOKENS, len(needed) // 10):
        return None
    if 0 < len(missing) <= MISSING_TOKENS:
        made = model().token_embed([text.text for text in missing], max_tokens=QUALITY_TOKENS)
        rows.update({t.number: TokenRows(m.ids, m.vectors) for t, m in zip(missing, made, strict=True)})
    return late_interaction(chosen, asked.tokens, rows)


def _late_values(late: Late) -> dict[str, Float]:
    return {"late": late.own, "late around": late.window}


def _with_late(evidence: ScoreInput, best: Int, late: Late) -> PassageScores:
    """The scores of the quality mode, good for the best alone."""
    both = []
    for name, values in _late_values(late).items():
        both.append(np.zeros(len(evidence.features), np.float32))
        both[-1][best] = pool_z(values, evidence.lent.get(name))
    return weighed(matrix(replace(evidence, late=both[0], around=both[1])), QUALITY)


def _ranked(
    features: Features, scores: PassageScores, shares: Float, matches: Bool, alone: Bool, order: Int, shift: float = 0.0
) -> list[Ranked]:
    columns = (features.passages, features.messages, features.conversations, features.kinds, features.times)
    figures = (scores.total, shares, features.windows, matches, alone)
    values = zip(order.tolist(), *(column[order].tolist() for column in (*columns, *figures)), strict=True)
    return [
        Ranked(
            passage, message, conversation, KINDS[kind], time, total, share, near, matching, scores, row, shift, rare
        )
        for row, passage, message, conversation, kind, time, total, share, near, matching, rare in values
    ]


# What holds a word of a question and is not in the pool: all else that a search reaches, in an order of its own.


class Beyond:
    """What a ranking left out."""

    def __init__(self, view: View, asked: Asked, ranking: Ranking, model: Callable[[], TokenEmbedder]) -> None:
        self._view, self._asked, self._ranking, self._model = view, asked, ranking, model

    @cached_property
    def conversations(self) -> Int:
        """The conversations in which a word is held, in the pool or not, each once, ascending."""
        return numbers(*(own.conversations for own in self._ranking.held))

    @cached_property
    def messages(self) -> Int:
        """The messages that hold a word, in the pool or not, each once, ascending."""
        return numbers(*(own.rows.messages for own in self._ranking.held))

    def further_conversations(self, known: Int, last: Sequence[int]) -> list[int]:
        """The conversations that are not among the known ones, by their best passages; then the `last` ones."""
        rows = self._sorted.take(~np.isin(self._sorted.conversations, known))
        firsts = np.sort(np.unique(rows.conversations, return_index=True)[1])
        found = rows.conversations[firsts].tolist()
        there = {*found, *known.tolist()}
        return [*found, *(number for number in last if number not in there)]

    def of_conversations(self, wanted: Collection[int], most: int, at: int) -> dict[int, list[tuple[int, Ranked]]]:
        """The best messages of each of some conversations, at most so many, in order; they all rank `at` a place."""
        rows = self._ranking.held_within(np.array(sorted(wanted), np.int64))
        rows = _one_a_message(_of_messages(rows))
        places: dict[int, list[int]] = {}
        for place, number in enumerate(rows.conversations.tolist()):
            if len(own := places.setdefault(number, [])) < most:
                own.append(place)
        chosen = sorted(place for own in places.values() for place in own)
        found: dict[int, list[tuple[int, Ranked]]] = {}
        for entry in self._scored(rows.take(np.array(chosen, np.int64))):
            found.setdefault(entry.conversation, []).append((at, entry))
        return found

    def further_messages(self, known: Int, first: int, last: int) -> list[Ranked]:
        """The best passages of messages that are not among the known ones, from one place to another."""
        rows = _one_a_message(self._sorted.take(~np.isin(self._sorted.messages, known)))
        return self._scored(rows.take(np.arange(len(rows))[first:last]))

    @cached_property
    def passages(self) -> Rows:
        """All that hold a word and are not in the pool, best first."""
        rows = self._ranking.held_rows
        rows = rows.take(~np.isin(rows.passages, self._ranking.pool.passages))
        return rows.take(np.argsort(-rows.leads, kind="stable"))

    def of_passages(self, wanted: Sequence[int]) -> dict[int, Ranked]:
        """Passages as ranked ones, by their numbers; none has a higher score than the last one of the pool."""
        found = dict[int, Ranked]()
        for own in self._ranking.held if wanted else ():
            ranking = rank(self._view, self._asked, own.partition, self._model, passages=wanted)
            found |= {entry.passage: entry for entry in ranking.passages}
        return {n: replace(entry, shift=min(0.0, self._least - entry.total)) for n, entry in found.items()}

    @cached_property
    def _sorted(self) -> Rows:
        """All passages of messages that hold a word, best first."""
        return _of_messages(self._ranking.held_rows)

    @cached_property
    def _least(self) -> float:
        """The score of the last one of the pool: none of these is better."""
        return float(self._ranking.pool.leads.min()) if len(self._ranking.pool) else 0.0

    def _scored(self, rows: Rows) -> list[Ranked]:
        """Passages as ranked ones, in their order."""
        found = self.of_passages(rows.passages.tolist())
        return [found[number] for number in rows.passages.tolist() if number in found]


def _of_messages(rows: Rows) -> Rows:
    """The rows of messages, best first."""
    rows = rows.take((rows.messages > 0) & (rows.conversations > 0))
    return rows.take(np.argsort(-rows.leads, kind="stable"))


def _one_a_message(rows: Rows) -> Rows:
    """The first of the rows of each message, in order."""
    return rows.take(np.sort(np.unique(rows.messages, return_index=True)[1]))
