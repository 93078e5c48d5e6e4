"""How likely a memory holds an answer at all: a logistic model of a few signs, in absolute values where it can be.

The scores of the ranker say which passage is better than which; the best of nothing looks much like the best of a lot.
So what counts beside the best score is how much of the question there is as such: whether its words are known, whether
one conversation holds them together, how near the nearest passage is, and whether it stands out from what other
conversations say. The weights were fitted on questions with an answer, questions of other archives, and questions whose
answer was taken out (`python -m benchmarks.unanswered --fit`; docs/explanation/ranking.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from recollect.search.late import Late
from recollect.search.scoring import Evidence
from recollect.search.weights import (
    BLIND_COSINE,
    KNOWN_INSTANT,
    KNOWN_QUALITY,
    NEIGHBOUR_SHARE,
    RUN_FOR_WORDS,
    TELLING_SIZE,
)
from recollect.store.index.numeric import dots
from recollect.store.passages import Features, Float, Int
from recollect.text.terms import terms

#: Signs by name. Those of late interaction are there in the quality mode alone.
Signs = dict[str, float]

#: So many of the best passages are looked at for the nearest.
_BEST = 60


def signs(evidence: Evidence, people: Sequence[str], scores: Float, order: Int, late: Late | None = None) -> Signs:
    """The signs of a question that names people, by the scores (n,) of passages and their order, best first. `late` is
    of the first of these.
    """
    features, question = evidence.features, evidence.question
    # What is in no conversation, a document, stands by itself.
    of = np.where(features.conversations > 0, features.conversations, -1 - np.arange(len(features)))
    best = features.take(order[:_BEST])
    known, meaning = features.frequencies > 0, _meaning(features, best.windows)
    found = {
        "known": float(known.mean()) if len(known) else 1.0,
        "words together": _together(features.holds[:, 0, :], of, features.idf),
        "near": float((_shares(best.holds, _telling(question.terms, people, features.idf)) + meaning).max()),
        "score": float(scores[order[0]]),
    }
    if late is not None:
        of = of[order[: len(late.own)]]
        found |= {"late together": late.together(of), "late ahead": _ahead(late.window, of)}
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


def _together(holds: Float, conversations: Int, idf: Float) -> float:
    """The most of the question's idf that the passages of one conversation hold together."""
    total = float(idf.sum())
    if not total:
        return 0.0
    _, of = np.unique(conversations, return_inverse=True)
    held = np.zeros((int(of.max()) + 1, holds.shape[1]), np.float32)
    np.maximum.at(held, of, holds)
    return float(dots(held, idf).max()) / total


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


def _ahead(near: Float, conversations: Int) -> float:
    """How much nearer the best conversation comes than any other one."""
    best = int(np.argmax(near))
    others = near[conversations != conversations[best]]
    return float(near[best] - (others.max() if len(others) else 0.0))
