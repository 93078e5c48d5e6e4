"""How likely a memory holds an answer at all: a logistic model of a few signs, in absolute values where it can be.

The scores of the ranker say which passage is better than which; the best of nothing looks much like the best of a lot.
So what counts beside the best scores is how much of the question there is as such, whether its words are known and how
near the nearest passage is, and whether one conversation stands out: those that merely speak of the same matter come
about as near as each other. Rare words raise scores by themselves, so how rare they are is taken off. The weights were
fitted on questions with an answer, questions of other archives, and questions whose answer was taken out
(`python -m benchmarks.unanswered --fit`; docs/explanation/ranking.md).

A context is asked for with every text, a greeting too. `fit` decides by the same signs, with how near the text is to
the archive as a whole, whether anything is handed out (`python -m benchmarks.nothing`; docs/explanation/context.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from recollect.index.numeric import dots
from recollect.models.embedding import TokenVectors
from recollect.search.query.wants import speaks_of_own
from recollect.search.scoring import ScoreInput
from recollect.search.weights import (
    BLIND_COSINE,
    FITS,
    FITS_BY_MEANING,
    KNOWN_INSTANT,
    KNOWN_QUALITY,
    LATE_AFTER,
    LATE_BEFORE,
    LATE_ONE_CONVERSATION,
    NEIGHBOUR_SHARE,
    ONE_CONVERSATION,
    RUN_FOR_WORDS,
    SAYS_LITTLE,
    SAYS_NO_MORE,
    TELLING_SIZE,
    WHOLE_ARCHIVE,
)
from recollect.store.passages import Features, Float, Int, TokenRows
from recollect.text.terms import terms

_BEFORE, _AFTER = 1, 2  # places in OFFSETS


def wanted(features: Features) -> list[int]:
    """The passages whose token vectors are needed to score these: themselves and the ones beside them."""
    around = features.neighbours[:, [0, _BEFORE, _AFTER]].ravel()
    return sorted({n for n in around.tolist() if n >= 0})


@dataclass(frozen=True, slots=True)
class Late:
    """Late interaction with passages (n,): with each itself and with its neighbours too, the idf-weighted mean of the
    best cosine of each piece of the question; and these cosines (n, p) for themselves, with the pieces' idf (p,).
    """

    own: Float
    window: Float
    pieces: Float
    idf: Float

    def together(self, conversations: Int) -> float:
        """The same of the best conversation as a whole: of each piece counts its nearest passage there."""
        found = [self.pieces[conversations == number].max(axis=0) for number in np.unique(conversations)]
        return float((np.stack(found) @ self.idf).max()) / (float(self.idf.sum()) or 1.0) if found else 0.0


def late_interaction(features: Features, question: TokenVectors, rows: Mapping[int, TokenRows]) -> Late:
    """Of passages, from the word pieces of their own texts and of those beside them."""
    vectors = question.unit()
    idf = np.array([features.piece_idf.get(int(piece), 0.0) for piece in question.ids], np.float32)
    nearest = {number: _nearest(vectors, row) for number, row in rows.items()}
    nothing = np.zeros(len(vectors), np.float32)
    own = np.stack([nearest.get(int(n), nothing) for n in features.neighbours[:, 0]])
    window = own.copy()
    for place, share in ((_BEFORE, LATE_BEFORE), (_AFTER, LATE_AFTER)):
        numbers = [int(n) for n in features.neighbours[:, place]]
        beside = np.stack([nearest.get(n, nothing) for n in numbers])
        there = np.array([n in nearest for n in numbers], bool)
        window[there] = np.maximum(window[there], share * beside[there])
    total = float(idf.sum()) or 1.0
    return Late((own @ idf / total).astype(np.float32), (window @ idf / total).astype(np.float32), own, idf)


def _nearest(question: Float, row: TokenRows) -> Float:
    """For each piece of the question the best cosine among the message's pieces."""
    if not len(row.pieces):
        return np.zeros(len(question), np.float32)
    tokens = row.tokens.astype(np.float32) * np.float32(1 / 127)
    return np.asarray((question @ tokens.T).max(axis=1), np.float32)


#: Signs by name. Those of late interaction are there in the quality mode alone.
Signs = dict[str, float]


class Fit(IntEnum):
    """How well the best of a memory fits a text that need not ask for anything."""

    NOTHING = 0
    A_LITTLE = 1
    WELL = 2


#: So many of the best passages are looked at for the nearest.
_LOOKED_AT = 60
#: So many are the best; and the best conversation is compared with the one in that place. Late interaction sees fewer
#: of them, and compares it with the next.
_BEST, _NEXT = 10, 2


def signs(evidence: ScoreInput, people: Sequence[str], scores: Float, order: Int, late: Late | None = None) -> Signs:
    """The signs of a question that names people, by the scores (n,) of passages and their order, best first. `late` is
    of the first of these.
    """
    features, question = evidence.features, evidence.question
    # What is in no conversation, a document, stands by itself.
    of = np.where(features.conversations > 0, features.conversations, -1 - np.arange(len(features)))
    best, known = features.take(order[:_LOOKED_AT]), features.frequencies > 0
    names = {term for name in people for term in terms(name)}  # all that somebody says bears the name
    telling = features.idf * np.array([term not in names for term in question.terms], np.float32)
    telling = np.asarray(telling if telling.any() else features.idf, np.float32)
    held = dots((best.holds * NEIGHBOUR_SHARE[None, :, None]).max(axis=1), telling) / (float(telling.sum()) or 1.0)
    runs = best.windows if features.dense.any() else np.full_like(best.windows, BLIND_COSINE)
    near = np.asarray(held, np.float32) + np.asarray(RUN_FOR_WORDS * runs, np.float32)
    found = {
        "known": float(known.mean()) if len(known) else 1.0,
        "rarity": float(features.idf.mean()) / _rarest(features) if len(features.idf) else 0.0,
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
    logit = _logit(found, KNOWN_QUALITY if "late together" in found else KNOWN_INSTANT)
    plain = math.log(closeness / (1 - closeness)) if 0 < closeness < 1 else 0.0
    share = min(1.0, size / TELLING_SIZE)
    both = share * logit + (1 - share) * plain
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, both))))


def fit(evidence: ScoreInput, found: Signs) -> Fit:
    """Whether the best is worth showing to who may not have asked for it, by the signs that were found.

    Nothing fits a text whose words are mostly unknown or stand apart, and which is far from what the archive is about;
    a little where it speaks of what is the asker's own ("our decisions"), which may be here in other words.
    A known word or two that ask nothing fit a little, unless a passage that says more is near in meaning, or one holds
    what is rare enough to be in one passage alone. All fits where the signs say little (few passages, vectors that
    cannot read the text, another language than they were measured in) or the text names what is here (somebody who
    speaks, a day, an identifier).
    """
    features, question = evidence.features, evidence.question
    names = evidence.named or features.inside.any() or features.sought.any()
    tells = question.terms and question.is_english and features.size >= TELLING_SIZE and features.dense.any()
    if names or not tells:
        return Fit.WELL
    if _logit(found, KNOWN_INSTANT) + WHOLE_ARCHIVE * _mean_cosine(features) < FITS:
        return Fit.A_LITTLE if speaks_of_own(question.text) else Fit.NOTHING
    asks = question.is_personal or "?" in question.text
    plain = len(question.terms) <= SAYS_LITTLE and bool(features.frequencies.all())
    near = features.dense[features.length_z > SAYS_NO_MORE].max(initial=0.0)
    if asks or not plain or float(near) >= FITS_BY_MEANING:
        return Fit.WELL
    by_chance = float(dots(features.holds[:, 0, :], features.idf).max()) < _rarest(features)
    return Fit.A_LITTLE if by_chance else Fit.WELL


def _logit(found: Signs, weights: Mapping[str, float]) -> float:
    return weights["constant"] + sum(weight * found[name] for name, weight in weights.items() if name != "constant")


def _mean_cosine(features: Features) -> float:
    """The mean cosine of all passages of the memory, of which the pool tells by how far from it each is."""
    z, cosines = features.dense_z, features.dense
    high, low = int(z.argmax()), int(z.argmin())
    deviation = float(cosines[high] - cosines[low]) / (float(z[high] - z[low]) or 1.0)
    return float(cosines[high]) - deviation * float(z[high])


def _rarest(features: Features) -> float:
    """The idf of a word that is nowhere."""
    return math.log(1 + (features.size + 0.5) / 0.5)


def _ahead(values: Float, conversations: Int, place: int, alone: float) -> float:
    """How much the best conversation has more, in its best passage, than the one in that place, or the last of fewer.
    Where there is but one there is nothing to compare, and it is as much as is usual.
    """
    _, of = np.unique(conversations, return_inverse=True)
    best = np.full(int(of.max()) + 1, -np.inf, np.float32)
    np.maximum.at(best, of, values)
    ranked = np.sort(best)[::-1]
    return float(ranked[0] - ranked[min(place, len(ranked)) - 1]) if len(ranked) > 1 else alone
