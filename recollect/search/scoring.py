"""The score of a passage: a sum of terms, each a feature times a weight, X @ w.

`TERMS` is the one table: `--why` prints its names, the documentation its lines, and `benchmarks.fit` fits a weight for
each. The features come from what the store found (`Features`), from the question's own words, and in the quality mode
from late interaction (late.py). RANKING.md tells where they come from, docs/explanation/ranking.md what each earns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from recollect.search.question import Question
from recollect.search.weights import NEIGHBOUR_SHARE, QUOTED
from recollect.store.index.numeric import dots
from recollect.store.passages import KINDS, PEOPLE, ROLE_SHIFT, ROLES, Bool, Features, Float
from recollect.text.flags import Flag

_SAID = KINDS.index("said")
_USER = ROLES.index("user")


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that passages (n,) are scored by.

    `named` counts the people in the question, `titles` is how near in meaning the titles of the passages' conversations
    are, `typed` says that the question is a few words rather than a sentence, `quoted` that a sentence quotes something.
    `late` and `late_around` are late interaction, of the quality mode alone.
    """

    question: Question
    features: Features
    titles: Float
    named: int = 0
    typed: bool = False
    quoted: bool = False
    late: Float | None = None
    late_around: Float | None = None
    people: Bool = field(init=False)
    user: Bool = field(init=False)

    def __post_init__(self) -> None:
        flags = self.features.flags
        people = (flags & PEOPLE).astype(bool)
        user = ~people & ((flags >> ROLE_SHIFT) & 3 == _USER) & (self.features.kinds == _SAID)
        object.__setattr__(self, "people", people)
        object.__setattr__(self, "user", user)

    def has(self, flag: Flag) -> Bool:
        """Which passages bear a mark."""
        return (self.features.flags & int(flag)).astype(bool)


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the score: its name, whose messages it concerns, what it is, and its feature (n,)."""

    name: str
    whose: str
    says: str
    feature: Callable[[Evidence], Float | Bool]


@dataclass(frozen=True, slots=True)
class Scores:
    """The features (n, k) of passages, the weights (k,) of the terms, and their product (n,)."""

    matrix: Float
    weights: Float
    total: Float

    def terms(self, at: int) -> dict[str, float]:
        """What each term added to a passage, without those that added nothing."""
        added = self.matrix[at] * self.weights
        return {term.name: float(value) for term, value in zip(TERMS, added, strict=True) if value}


def score(evidence: Evidence, weights: Mapping[str, float]) -> Scores:
    """Scores passages by the terms that have a weight."""
    return weighed(matrix(evidence), weights)


def weighed(rows: Float, weights: Mapping[str, float]) -> Scores:
    """The scores of features (n, k)."""
    vector = np.array([weights.get(term.name, 0.0) for term in TERMS], np.float32)
    return Scores(rows, vector, dots(rows, vector))


def matrix(evidence: Evidence) -> Float:
    """The features (n, k) of passages, a column a term of `TERMS`."""
    columns = [np.asarray(term.feature(evidence), np.float32) for term in TERMS]
    return np.stack(columns, axis=1) if len(evidence.features) else np.zeros((0, len(TERMS)), np.float32)


# --- features --------------------------------------------------------------------------------------------------------
def pool_z(values: Float) -> Float:
    """Standard deviations from the mean of the pool."""
    if not len(values):
        return values
    return np.asarray((values - values.mean()) / (values.std() + 1e-6), np.float32)


def coverage(features: Features) -> Float:
    """The share of the question's idf that a passage and its neighbours hold: each term where it counts most."""
    return _share((features.holds * NEIGHBOUR_SHARE[None, :, None]).max(axis=1), features.idf)


def own_coverage(features: Features) -> Float:
    """The same of the passage's own words alone."""
    return _share(features.holds[:, 0, :], features.idf)


def _share(held: Float, idf: Float) -> Float:
    total = float(idf.sum())
    return dots(held, idf) / total if total and len(held) else np.zeros(len(held), np.float32)


def _session_meaning(evidence: Evidence) -> Float:
    f = evidence.features
    return f.session_similarity if f.quality else f.session_dense


def _asker(evidence: Evidence) -> Float:
    """+1 for what the user said where the question speaks of the asker; where it asks for the assistant's words,
    -1, and +1 for the assistant's.
    """
    q, other = evidence.question, ~evidence.people & ~evidence.user
    if q.asks_assistant:
        return np.where(evidence.user, -0.1, np.where(other, 1.1, 0)).astype(np.float32)
    return evidence.user.astype(np.float32) * q.is_personal


def _answer_type(evidence: Evidence) -> Float:
    q, none = evidence.question, np.zeros(len(evidence.features), np.float32)
    asked = ((q.asks_when, Flag.TIME), (q.asks_how_many, Flag.NUMBER), (q.asks_where, Flag.PLACE))
    return sum((evidence.has(flag).astype(np.float32) for wanted, flag in asked if wanted), none)


def _blind_words(evidence: Evidence) -> Float:
    """BM25 of the words, where the vectors cannot read the question."""
    f = evidence.features
    return f.bm25[:, 0] if not f.dense.any() else np.zeros(len(f), np.float32)


def _rule(wanted: Callable[[Question], bool], flag: Flag | None) -> Callable[[Evidence], Float | Bool]:
    def feature(evidence: Evidence) -> Float | Bool:
        if not wanted(evidence.question):
            return np.zeros(len(evidence.features), bool)
        return evidence.user if flag is None else evidence.user & evidence.has(flag)

    return feature


def _late(value: Float | None, evidence: Evidence) -> Float:
    return np.zeros(len(evidence.features), np.float32) if value is None else value


def _speaker(evidence: Evidence, which: str) -> Bool:
    who, alone = evidence.features.who, evidence.named == 1
    if which == "others":
        return np.asarray(who > 1)
    return np.asarray((who == 1) & (alone == (which == "only")))


def _all_words(evidence: Evidence) -> Float:
    """How much of a few typed words a passage holds, squared: all of them is more than twice half of them."""
    return own_coverage(evidence.features) ** 2 if evidence.typed else np.zeros(len(evidence.features), np.float32)


def _answers(evidence: Evidence) -> Float:
    return evidence.features.previous_dense_z * evidence.features.previous_asks


def _as_typed(evidence: Evidence) -> Float:
    return evidence.features.sought * np.float32(QUOTED if evidence.quoted else 1.0)


#: Every term, in the order in which `--why` and the documentation tell them.
TERMS: tuple[Term, ...] = (
    Term("words", "all", "how much of the question it covers with the messages around it", _words),
    Term("meaning", "all", "cosine of its best run of three sentences", lambda e: pool_z(e.features.windows)),
    Term("session words", "all", "BM25 of the three best messages of its session", lambda e: e.features.session_bm25),
    Term("session meaning", "all", "likeness of the three best messages of its session", _session_meaning),
    Term("blind words", "all", "BM25, where the vectors cannot read the question", _blind_words),
    Term("length", "people", "its length", lambda e: e.features.length_z * e.people),
    Term("only speaker", "all", "said by the one person that the question names", lambda e: _speaker(e, "only")),
    Term("first speaker", "all", "said by the first of several", lambda e: _speaker(e, "first")),
    Term("other speakers", "all", "said by another of them", lambda e: _speaker(e, "others")),
    Term(
        "present", "all", "how many of the named speak in its conversation", lambda e: np.minimum(e.features.present, 2)
    ),
    Term("asker", "assistant", "the user's words, where the question speaks of the asker", _asker),
    Term("date", "all", "said on a day that the question names", lambda e: e.features.inside),
    Term("near date", "all", "said near such a day", lambda e: e.features.near),
    Term("title", "all", "likeness of its conversation's title", lambda e: e.titles),
    Term("question", "all", "it asks something itself", lambda e: e.has(Flag.QUESTION)),
    Term("answers", "all", "likeness of the question that it answers", _answers),
    Term("answer type", "all", "a time, a number, a place, where one is asked for", _answer_type),
    Term("summary", "user", "the user's words, where a summary is wanted", _rule(lambda q: q.wants_summary, None)),
    Term("instruction", "user", "a standing instruction", _rule(lambda q: q.is_english, Flag.INSTRUCTION)),
    Term("instruction asked", "user", "one, where advice is asked", _rule(lambda q: q.is_how_to, Flag.INSTRUCTION)),
    Term(
        "preference asked", "user", "a preference, where advice is asked", _rule(lambda q: q.is_how_to, Flag.PREFERENCE)
    ),
    Term("advice", "user", "the user's words, where advice is asked", _rule(lambda q: q.is_how_to, None)),
    Term(
        "never", "user", "a denial, where it is asked if something ever was", _rule(lambda q: q.asks_ever, Flag.NEVER)
    ),
    Term("all words", "all", "all of a few typed words", _all_words),
    Term("as typed", "all", "an identifier or a quotation, as it was typed", _as_typed),
    Term("late", "all", "late interaction with it (quality)", lambda e: _late(e.late, e)),
    Term(
        "late around",
        "all",
        "late interaction with the messages around it too (quality)",
        lambda e: _late(e.late_around, e),
    ),
)
