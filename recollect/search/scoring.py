"""The score of a passage: a sum of terms, each a feature times a weight, X @ w.

`TERMS` is the one table: `--why` prints its names, the documentation its lines, and `benchmarks.fit` fits a weight for
each. The features come from what the store found (`Features`), from the question's own words, and in the quality mode
from late interaction (known.py). RANKING.md tells where they come from, docs/explanation/ranking.md what each earns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from recollect.index.numeric import dots
from recollect.search.query.question import Question
from recollect.search.query.wants import TimeOrder
from recollect.search.weights import (
    FIRST_OF_SEVERAL,
    IN_ORDER,
    NAMED_LATER,
    NEIGHBOUR_SHARE,
    NEXT_IN_ORDER,
    NO_QUESTION,
    QUOTED,
)
from recollect.store.passages import KINDS, PEOPLE, ROLE_SHIFT, ROLES, Bool, Features, Float
from recollect.text.language import Flag

_SAID = KINDS.index("said")
_USER = ROLES.index("user")


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean and standard deviation of a feature in a pool of so many passages."""

    count: int = 0
    mean: float = 0.0
    deviation: float = 0.0

    @classmethod
    def of(cls, values: Float) -> Spread:
        """Of values (n,)."""
        return cls(len(values), float(values.mean()), float(values.std())) if len(values) else cls()

    def __add__(self, other: Spread) -> Spread:
        """Of both pools together."""
        both = (self, other)
        count = self.count + other.count
        mean = sum(one.count * one.mean for one in both) / max(count, 1)
        squares = sum(one.count * (one.deviation**2 + (one.mean - mean) ** 2) for one in both)
        return Spread(count, mean, (squares / max(count, 1)) ** 0.5)


@dataclass(frozen=True, slots=True)
class ScoreInput:
    """All that passages (n,) are scored by.

    `named` counts the people in the question, `titles` is how near in meaning the titles of their conversations are,
    `typed` says that the question is a few words rather than a sentence, and `titled` (n, t) which of these the titles
    hold; `quoted` that a sentence quotes something. `late` and `around` are late interaction, of the quality mode
    alone. `order` is the place in time among those that match, where the first or
    the last is meant. `lent` are the spreads of what was said, by the term, for passages that are too few.
    """

    question: Question
    features: Features
    titles: Float
    named: int = 0
    titled: Float | None = None
    typed: bool = False
    quoted: bool = False
    late: Float | None = None
    around: Float | None = None
    order: Float | None = None
    lent: Mapping[str, Spread] = field(default_factory=dict)

    @property
    def nothing(self) -> Float:
        """Zeros (n,)."""
        return np.zeros(len(self.features), np.float32)

    @property
    def people(self) -> Bool:
        """Which passages are messages of people among themselves."""
        return self.has(PEOPLE)

    @property
    def user(self) -> Bool:
        """Which are a user's own words to an assistant."""
        role = (self.features.flags >> ROLE_SHIFT) & 3
        return np.asarray(~self.people & (role == _USER) & (self.features.kinds == _SAID))

    @property
    def assistant(self) -> Bool:
        """Which are all others."""
        return ~self.people & ~self.user

    def has(self, flag: int) -> Bool:
        """Which passages bear a mark."""
        return np.asarray(self.features.flags & int(flag) != 0)


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the score: its name, whose messages it concerns, what it is, and its feature (n,)."""

    name: str
    whose: str
    says: str
    feature: Callable[[ScoreInput], Float | Bool]


@dataclass(frozen=True, slots=True)
class PassageScores:
    """The features (n, k) of passages, the weights (k,) of the terms, and their product (n,)."""

    matrix: Float
    weights: Float
    total: Float

    def terms(self, at: int) -> dict[str, float]:
        """What each term added to a passage, without those that added nothing."""
        added = self.matrix[at] * self.weights
        return {name: value for name, value in zip(_PLACES, added.tolist(), strict=True) if value}

    def of(self, name: str, at: int) -> float:
        """What one term added to a passage."""
        place = _PLACES[name]
        return float(self.matrix[at, place] * self.weights[place])


def weighed(rows: Float, weights: Mapping[str, float]) -> PassageScores:
    """The scores of features (n, k)."""
    vector = np.array([weights.get(term.name, 0.0) for term in TERMS], np.float32)
    return PassageScores(rows, vector, dots(rows, vector))


def matrix(evidence: ScoreInput) -> Float:
    """The features (n, k) of passages, a column a term of `TERMS`."""
    columns = [np.asarray(term.feature(evidence), np.float32) for term in TERMS]
    return np.stack(columns, axis=1) if len(evidence.features) else np.zeros((0, len(TERMS)), np.float32)


# --- features --------------------------------------------------------------------------------------------------------
def pool_z(values: Float, lent: Spread | None = None) -> Float:
    """Standard deviations from the mean of the pool, or of this and another."""
    if not len(values):
        return values
    if lent is not None:
        pool = Spread.of(values) + lent
        return np.asarray((values - np.float32(pool.mean)) / np.float32(pool.deviation + 1e-6), np.float32)
    return np.asarray((values - values.mean()) / (values.std() + 1e-6), np.float32)


def coverage(features: Features) -> Float:
    """The share of the question's idf that a passage and its neighbours hold: each term where it counts most."""
    return _share((features.holds * NEIGHBOUR_SHARE[None, :, None]).max(axis=1), features.idf)


def in_order(features: Features, total: Float, order: TimeOrder) -> Float:
    """How early, or how late, a passage comes among those that match about as well as the best: 1 for those of the
    first conversation, half for the next.
    """
    near = (total >= total.max(initial=0.0) - IN_ORDER) & (features.times > 0)
    begins: dict[int, int] = {}
    for conversation, at in zip(features.conversations[near].tolist(), features.times[near].tolist(), strict=True):
        latest = max if order is TimeOrder.LAST else min
        begins[conversation] = latest(at, begins.get(conversation, at))
    ordered = sorted(begins, key=lambda conversation: begins[conversation], reverse=order is TimeOrder.LAST)
    worth = {conversation: NEXT_IN_ORDER**place for place, conversation in enumerate(ordered)}
    found = [worth.get(conversation, 0.0) for conversation in features.conversations.tolist()]
    return np.asarray(np.where(near, found, 0), np.float32)


def own_coverage(features: Features) -> Float:
    """The same of the passage's own words alone."""
    return _share(features.holds[:, 0, :], features.idf)


def _share(held: Float, idf: Float) -> Float:
    total = float(idf.sum())
    return dots(held, idf) / total if total and len(held) else np.zeros(len(held), np.float32)


def _words(evidence: ScoreInput) -> Float:
    return pool_z(coverage(evidence.features), evidence.lent.get("words"))


def _meaning(evidence: ScoreInput) -> Float:
    return pool_z(evidence.features.windows, evidence.lent.get("meaning"))


def _session_words(evidence: ScoreInput) -> Float:
    return evidence.nothing if evidence.typed else evidence.features.session_bm25


def _session_meaning(evidence: ScoreInput) -> Float:
    f = evidence.features
    if evidence.typed:
        return evidence.nothing
    return f.session_similarity if f.quality else f.session_dense


def _asker(evidence: ScoreInput) -> Float:
    """1 for the user's words, where the question speaks of the asker; for the assistant's, where it asks for those."""
    wanted = evidence.assistant if evidence.question.asks_assistant else evidence.user
    return wanted.astype(np.float32) * evidence.question.is_personal


def _answer_type(evidence: ScoreInput) -> Float:
    """How many of a time, a number and a place it has, of those that are asked for."""
    q = evidence.question
    asked = ((q.asks_when, Flag.TIME), (q.asks_how_many, Flag.NUMBER), (q.asks_where, Flag.PLACE))
    return sum((evidence.has(flag).astype(np.float32) for wanted, flag in asked if wanted), evidence.nothing)


def _request(evidence: ScoreInput) -> Float:
    """What the user wants kept in mind, where advice is asked; against the user's words, where a summary is wanted."""
    kept = evidence.user & evidence.has(Flag.INSTRUCTION | Flag.PREFERENCE)
    return evidence.nothing + evidence.question.is_how_to * kept - evidence.question.wants_summary * evidence.user


def _blind_words(evidence: ScoreInput) -> Float:
    return evidence.nothing if evidence.features.dense.any() else evidence.features.bm25[:, 0]


def _speaker(evidence: ScoreInput) -> Float:
    """1 for the only or first person that is named, less for another."""
    who = evidence.features.who
    first = 1.0 if evidence.named == 1 else FIRST_OF_SEVERAL
    return np.select([who == 1, who > 1], [first, NAMED_LATER]).astype(np.float32)


def _answers(evidence: ScoreInput) -> Float:
    """How much like the question the message before is, which this one answers if that asked something."""
    asked = np.where(evidence.features.previous_asks, np.float32(1), np.float32(NO_QUESTION))
    return evidence.features.previous_dense_z * asked


def _all_words(evidence: ScoreInput) -> Float:
    """How much of a few typed words it holds together with its title, squared: all of them is more than twice half of
    them. The title alone says nothing of the message.
    """
    if not evidence.typed:
        return evidence.nothing
    own = evidence.features.holds[:, 0, :]
    held = own if evidence.titled is None else np.maximum(own, evidence.titled)
    return np.where(own.any(axis=1), _share(held, evidence.features.idf) ** 2, np.float32(0))


def _as_typed(evidence: ScoreInput) -> Float:
    return evidence.features.sought * np.float32(QUOTED if evidence.quoted else 1.0)


#: Every term, in the order in which `--why` and the documentation tell them.
TERMS: tuple[Term, ...] = (
    Term("words", "all", "how much of the question it covers together with the messages around it", _words),
    Term("meaning", "all", "cosine of its best run of three sentences", _meaning),
    Term("session words", "all", "BM25 of the three best messages of its session", _session_words),
    Term("session meaning", "all", "likeness of the three best messages of its session", _session_meaning),
    Term("words alone", "all", "BM25, where the vectors cannot read the question", _blind_words),
    Term("speaker", "people", "said by somebody whom the question names", _speaker),
    Term(
        "present",
        "people",
        "how many of the named speak in its conversation",
        lambda e: np.minimum(e.features.present, 2),
    ),
    Term("length", "people", "its length", lambda e: e.features.length_z * e.people),
    Term("asker", "user, assistant", "said by the one whose words are asked for", _asker),
    Term(
        "date",
        "all",
        "said on a day that the question names, or near it",
        lambda e: e.features.inside + e.features.near,
    ),
    Term("order", "all", "the first or the last of what matches, where that is meant", lambda e: _given(e.order, e)),
    Term("title", "all", "likeness of its conversation's title", lambda e: e.titles),
    Term("answers", "all", "likeness of the message before, if that is a question", _answers),
    Term("answer type", "all", "has a time, a number, a place, where one is asked for", _answer_type),
    Term("question", "all", "asks something itself", lambda e: e.has(Flag.QUESTION)),
    Term("request", "user", "a standing instruction or preference, where advice is asked", _request),
    Term("all words", "all", "holds all of a few typed words, together with its conversation's title", _all_words),
    Term("as typed", "all", "holds an identifier or a quotation as it was typed", _as_typed),
    Term("late", "all", "late interaction with it (quality mode)", lambda e: _given(e.late, e)),
    Term(
        "late around",
        "all",
        "late interaction with it and its neighbours (quality mode)",
        lambda e: _given(e.around, e),
    ),
)


_PLACES = {term.name: place for place, term in enumerate(TERMS)}


def _given(values: Float | None, evidence: ScoreInput) -> Float:
    return evidence.nothing if values is None else values
