"""The linear scorer of RANKING.md 1: from the signals of a pool to one score a passage, term by term, so that each hit
can say what it owes to which term.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.search.question import Question
from recollect.search.weights import Weights
from recollect.store.index.numeric import dots
from recollect.store.passages import KINDS, PEOPLE, ROLE_SHIFT, ROLES, Bool, Features, Float
from recollect.text.flags import Flag

#: How much of a term a neighbour's words count towards a passage, in the order of OFFSETS.
NEIGHBOUR_SHARE = np.array([1.0, 0.8, 0.6, 0.4, 0.4], np.float32)

_SAID = KINDS.index("said")
_USER, _ASSISTANT = ROLES.index("user"), ROLES.index("assistant")


@dataclass(slots=True)
class Scores:
    """Scores of a pool (n,), and what each term added to them."""

    total: Float
    terms: dict[str, Float] = field(default_factory=dict)

    def add(self, name: str, values: NDArray[Any]) -> None:
        """Adds a term, or more to it."""
        added = np.asarray(values, np.float32)
        if added.any():
            self.total = self.total + added
            self.terms[name] = self.terms[name] + added if name in self.terms else added


def pool_z(values: Float) -> Float:
    """Standard deviations from the mean of the pool."""
    if not len(values):
        return values
    return np.asarray((values - values.mean()) / (values.std() + 1e-6), np.float32)


def coverage(signals: Features) -> Float:
    """The share of the question's idf that a passage and its neighbours hold: each term where it counts most."""
    weight = float(signals.idf.sum())
    if not weight or not len(signals):
        return np.zeros(len(signals), np.float32)
    best = (signals.holds * NEIGHBOUR_SHARE[None, :, None]).max(axis=1)
    return dots(best, signals.idf) / weight


def own_coverage(signals: Features) -> Float:
    """The same of the passage's own words alone."""
    weight = float(signals.idf.sum())
    if not weight or not len(signals):
        return np.zeros(len(signals), np.float32)
    return dots(signals.holds[:, 0, :], signals.idf) / weight


def score(signals: Features, question: Question, weights: Weights) -> Scores:
    """Scores a pool. Late interaction is added by `recollect.search.late`, for its best."""
    people, user, other = _sides(signals)
    asks = (signals.flags & int(Flag.QUESTION)).astype(bool)
    scores = Scores(np.zeros(len(signals), np.float32))
    scores.add("who", signals.speaker)
    scores.add("date", signals.dates)
    covered = pool_z(coverage(signals))
    own_words = weights.bm25_ua * signals.bm25[:, 0] + weights.coverage_ua * covered
    scores.add("words", np.where(people, weights.coverage_p * covered, own_words))
    scores.add("words nearby", np.where(people, weights.two_away_bm25_p * (signals.bm25[:, 3] + signals.bm25[:, 4]), 0))
    scores.add("words nearby", np.where(user, weights.next_bm25_u * signals.bm25[:, 2], 0))
    scores.add("meaning", np.where(people, weights.windows_p, weights.windows_ua) * pool_z(signals.windows))
    whole = weights.dense_ua * pool_z(signals.dense) + weights.similarity_ua * signals.similarity
    scores.add("meaning", np.where(people, 0, whole))
    scores.add("answers", weights.previous_question * np.where(signals.previous_asks, signals.previous_dense_z, 0))
    scores.add("answers", np.where(other, weights.previous_dense_a * signals.previous_dense_z, 0))
    session_dense = np.where(people, weights.session_dense_p, weights.session_dense_ua)
    scores.add("session", weights.session_bm25 * signals.session_bm25 + session_dense * signals.session_dense)
    scores.add("session", weights.session_similarity * signals.session_similarity)
    scores.add("length", np.where(people, weights.length_p, np.where(other, weights.length_a, 0)) * signals.length_z)
    scores.add("question", np.where(people & asks, weights.asks_p, 0))
    scores.add("role", np.where(user, weights.user, 0))
    if question.is_english:
        _add_rules(scores, signals, question, weights, user, other)
    return scores


def _sides(signals: Features) -> tuple[Bool, Bool, Bool]:
    """Which passages are people's, a user's own words to an assistant, and all others."""
    people = (signals.flags & PEOPLE).astype(bool)
    role = (signals.flags >> ROLE_SHIFT) & 3
    user = ~people & (role == _USER) & (signals.kinds == _SAID)
    return people, user, ~people & ~user


def _add_rules(
    scores: Scores, signals: Features, question: Question, weights: Weights, user: Bool, other: Bool
) -> None:
    """What English questions ask for, and which messages have it."""

    def has(flag: Flag) -> Bool:
        return (signals.flags & int(flag)).astype(bool)

    if question.asks_when:
        scores.add("time", weights.when_time * has(Flag.TIME))
    if question.asks_how_many:
        scores.add("number", weights.many_number * has(Flag.NUMBER))
    if question.asks_where:
        scores.add("place", weights.where_place * has(Flag.PLACE))
    if question.asks_assistant:
        scores.add("role", np.where(user, -weights.assistants_words, np.where(other, weights.assistants_words, 0)))
    if question.wants_summary:
        scores.add("role", weights.user_summary * user)
    instruction = user & has(Flag.INSTRUCTION)
    scores.add("instruction", weights.instruction * instruction)
    if question.is_how_to:
        scores.add("role", weights.user_how_to * user)
        scores.add("instruction", weights.instruction_how_to * instruction)
        scores.add("preference", weights.preference_how_to * (user & has(Flag.PREFERENCE)))
    if question.asks_ever:
        scores.add("never", weights.never * (user & has(Flag.NEVER)))
