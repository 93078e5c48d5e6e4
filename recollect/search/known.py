"""How likely a memory holds an answer at all: a logistic model of a few signs, in absolute values where it can be.

The scores of the ranker say which passage is better than which; the best of nothing looks much like the best of a lot.
So what counts beside the best scores is how much of the question there is as such, whether its words are known and how
near the nearest passage is, and whether one conversation stands out: those that merely speak of the same matter come
about as near as each other. Rare words raise scores by themselves, so how rare they are is taken off. The weights were
fitted on questions with an answer, questions of other archives, and questions whose answer was taken out
(`python -m benchmarks.unanswered --fit`; docs/explanation/ranking.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from recollect.index.numeric import dots
from recollect.search.late import Late
from recollect.search.scoring import Evidence
from recollect.search.weights import (
    BLIND_COSINE,
    KNOWN_INSTANT,
    KNOWN_QUALITY,
    LATE_ONE_CONVERSATION,
    NEIGHBOUR_SHARE,
    ONE_CONVERSATION,
    RUN_FOR_WORDS,
    TELLING_SIZE,
)
from recollect.store.passages import Features, Float, Int
from recollect.text.terms import terms

#: Signs by name. Those of late interaction are there in the quality mode alone.
Signs = dict[str, float]

#: So many of the best passages are looked at for the nearest.
_LOOKED_AT = 60
#: So many are the best; and the best conversation is compared with the one in that place. Late interaction sees fewer
#: of them, and compares it with the next.
_BEST, _NEXT = 10, 2


def signs(evidence: Evidence, people: Sequence[str], scores: Float, order: Int, late: Late | None = None) -> Signs:
    """The signs of a question that names people, by the scores (n,) of passages and their order, best first. `late` is
    of the first of these.
    """
    features, question = evidence.features, evidence.question
    # What is in no conversation, a document, stands by itself.
    of = np.where(features.conversations > 0, features.conversations, -1 - np.arange(len(features)))
    best, known = features.take(order[:_LOOKED_AT]), features.frequencies > 0
    near = _shares(best.holds, _telling(question.terms, people, features.idf)) + _meaning(features, best.windows)
    found = {
        "known": float(known.mean()) if len(known) else 1.0,
        "rarity": _rarity(features),
        "near": float(near.max()),
        "best ten": float(scores[order[:_BEST]].mean()),
        "ahead": _ahead(scores, of, _BEST, ONE_CONVERSATION),
    }
    if late is not None:
        of = of[order[: len(late.own)]]
        found |= {
            "late together": late.together(of),
            "late ahead": _ahead(late.window, of, _NEXT, LATE_ONE_CONVERSATION),
        }
    return found


def likelihood(found: Signs, closeness: float, size: int) -> float:
    """How likely a memory of so many passages holds an answer, from 0 to 1. The fewer they are, the less a score or a
    rare word says, and the more the plain `closeness` of the nearest counts (from 0 to 1).
    """
    weights = KNOWN_QUALITY if "late together" in found else KNOWN_INSTANT
    logit = weights["constant"] + sum(weights[name] * value for name, value in found.items())
    plain = math.log(closeness / (1 - closeness)) if 0 < closeness < 1 else 0.0
    share = min(1.0, size / TELLING_SIZE)
    both = share * logit + (1 - share) * plain
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, both))))


def _rarity(features: Features) -> float:
    """The mean idf of the question's words, on the scale of one that is nowhere: from 0 to 1."""
    most = math.log(1 + (features.size + 0.5) / 0.5)
    return float(features.idf.mean()) / most if len(features.idf) else 0.0


def _shares(holds: Float, idf: Float) -> Float:
    """How much of the question's idf passages hold with their neighbours."""
    held = (holds * NEIGHBOUR_SHARE[None, :, None]).max(axis=1)
    return np.asarray(dots(held, idf) / (float(idf.sum()) or 1.0), np.float32)


def _telling(asked: Sequence[str], people: Sequence[str], idf: Float) -> Float:
    """The idf of terms, 0 for the names of people: all that somebody says bears the name."""
    names = {term for name in people for term in terms(name)}
    telling = idf * np.array([term not in names for term in asked], np.float32)
    return np.asarray(telling if telling.any() else idf, np.float32)


def _meaning(features: Features, runs: Float) -> Float:
    """The cosines of the nearest runs of sentences, on the scale of shares of words."""
    can_read = bool(features.dense.any())
    return np.asarray(RUN_FOR_WORDS * (runs if can_read else np.full_like(runs, BLIND_COSINE)), np.float32)


def _ahead(values: Float, conversations: Int, place: int, alone: float) -> float:
    """How much the best conversation has more, in its best passage, than the one in that place, or the last of fewer.
    Where there is but one there is nothing to compare, and it is as much as is usual.
    """
    _, of = np.unique(conversations, return_inverse=True)
    best = np.full(int(of.max()) + 1, -np.inf, np.float32)
    np.maximum.at(best, of, values)
    ranked = np.sort(best)[::-1]
    return float(ranked[0] - ranked[min(place, len(ranked)) - 1]) if len(ranked) > 1 else alone
