"""Extracts: the sentences of messages that are worth keeping most, verbatim and in order. No model is asked.

What a sentence is worth is a weighted sum of features.py. The weights were fitted on questions about conversations, so
that the sentences that answer them are taken first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from recollect.derive.summaries.candidates import candidates
from recollect.derive.summaries.features import FEATURES, Candidate, features
from recollect.derive.summaries.policy import Policy
from recollect.derive.summaries.vectors import sentence_vectors
from recollect.models.embedding.base import Embedder
from recollect.record import Message

WEIGHTS = {
    "length": 6.96, "short": -0.12, "central": -0.79, "off its message": -1.88, "first": 0.06, "last": -0.16,
    "rare": 3.64, "density": 1.51, "numbers": -0.37, "date": 0.40, "names": 0.0, "question": -0.04, "own": -0.19,
    "answer": -2.05, "vital": 0.57,
}  # fmt: skip

#: Set by hand, beyond what questions of a test set ask for: an allergy that was mentioned once is never lost [1].
_VITAL = 2.5
_ENDS = 1.0  # for the beginning of the first message and the end of the last
_PER_LENGTH = 0.3  # of two sentences worth the same the shorter one, by this power of its length
_REPEATS = 2.0  # what it costs to say again, in full, what is said already

_WEIGHTS = np.array([WEIGHTS[name] for name in FEATURES])
_IS_VITAL, _IS_QUESTION, _IS_ANSWER = (FEATURES.index(name) for name in ("vital", "question", "answer"))


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that may be kept. `worth` compares it with others, `vital` are those that should not be lost."""

    text: str
    message: int  # its place among the messages that were given
    worth: float
    vital: bool
    own: bool  # said by a person, not by an assistant
    terms: frozenset[str]


def weighed(messages: Sequence[Message], policy: Policy, embedder: Embedder) -> list[Sentence]:
    """All sentences worth a look with what they are worth, in order."""
    found = candidates(messages, policy)
    if not found:
        return []
    table = features(found, sentence_vectors([one.text for one in found], embedder))
    vital = (table[:, _IS_VITAL] > 0) & (table[:, _IS_QUESTION] == 0) & (table[:, _IS_ANSWER] == 0)
    worth = table @ _WEIGHTS + _VITAL * vital + _ENDS * _ends(found, len(messages))
    return [
        Sentence(one.text, one.message, round(float(value), 3), bool(kept), not one.answer, one.terms)
        for one, value, kept in zip(found, worth, vital, strict=True)
    ]


def _ends(found: Sequence[Candidate], messages: int) -> NDArray[np.float64]:
    return np.array(
        [
            float(one.message == 0 and one.place == 0) + float(one.message == messages - 1 and one.place == one.of - 1)
            for one in found
        ]
    )


def choose(sentences: Sequence[Sentence], length: int) -> list[int]:
    """Which of them make the best extract of at most `length` characters: their places, in order.

    One after the other the best that still fits; what repeats a chosen one is worth less. The best of all is taken
    even where it alone is longer.
    """
    lengths = [len(one.text) + 1 for one in sentences]
    if sum(lengths) <= length:
        return list(range(len(sentences)))
    worth = [one.worth - _PER_LENGTH * math.log(size) for one, size in zip(sentences, lengths, strict=True)]
    waiting = [(-round(value, 3), place, 0) for place, value in enumerate(worth)]
    heapify(waiting)
    chosen: list[int] = []
    left = max(length, lengths[waiting[0][1]])
    while waiting:
        _, place, compared = heappop(waiting)
        if lengths[place] > left:
            continue
        if compared < len(chosen):  # what was chosen since may say the same: then it waits again, for it is worth less
            worth[place] -= _REPEATS * sum(
                _shared(sentences[place].terms, sentences[other].terms) for other in chosen[compared:]
            )
            heappush(waiting, (-round(worth[place], 3), place, len(chosen)))
            continue
        chosen.append(place)
        left -= lengths[place]
    return sorted(chosen)


def _shared(terms: frozenset[str], said: frozenset[str]) -> float:
    """How much of what it says is said already, beyond a third."""
    if not terms:
        return 1.0
    return max(0.0, len(terms & said) / len(terms) - 1 / 3) * 1.5
