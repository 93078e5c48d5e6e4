"""Late interaction (ColBERT's MaxSim): each word piece of the question against the nearest in a message.

Scored for the best of the instant mode only; the neighbours in the session count as a window (RANKING.md 1, LI).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from recollect.models.embedding import TokenVectors
from recollect.search.weights import LATE_AFTER, LATE_BEFORE
from recollect.store.passages import Features, Float, Int, TokenRows

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
