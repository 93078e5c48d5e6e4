"""Late interaction (ColBERT's MaxSim): each word piece of the question against the nearest in a message.

Scored for the best of the instant mode only; the neighbours in the session count as a window (RANKING.md 1, LI).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from recollect.embedding import TokenVectors
from recollect.search.ranker import Scores, pool_z
from recollect.search.weights import Weights
from recollect.store.passages import PEOPLE, Features, Float, Int, TokenRows

_BEFORE, _AFTER = 1, 2  # places in OFFSETS
_BEFORE_SHARE, _AFTER_SHARE = 0.9, 0.8


def wanted(signals: Features, best: Int) -> list[int]:
    """The passages whose token vectors are needed to score these: themselves and the ones beside them."""
    around = np.unique(signals.neighbours[best][:, [0, _BEFORE, _AFTER]])
    return [int(n) for n in around if n >= 0]


def late_interaction(
    signals: Features, best: Int, question: TokenVectors, rows: Mapping[int, TokenRows]
) -> tuple[Float, Float]:
    """Own and window scores (m,) of the passages `best` (m,): idf-weighted mean of each piece's best cosine."""
    vectors = question.unit()
    idf = np.array([signals.piece_idf.get(int(piece), 0.0) for piece in question.ids], np.float32)
    nearest = {number: _nearest(vectors, row) for number, row in rows.items()}
    nothing = np.zeros(len(vectors), np.float32)
    neighbours = signals.neighbours[best]
    own = np.stack([nearest.get(int(n), nothing) for n in neighbours[:, 0]])
    window = own.copy()
    for place, share in ((_BEFORE, _BEFORE_SHARE), (_AFTER, _AFTER_SHARE)):
        beside = np.stack([nearest.get(int(n), nothing) if n >= 0 else nothing for n in neighbours[:, place]])
        there = np.array([int(n) in nearest for n in neighbours[:, place]], bool)
        window[there] = np.maximum(window[there], share * beside[there])
    total = float(idf.sum()) or 1.0
    return (own @ idf / total).astype(np.float32), (window @ idf / total).astype(np.float32)


def add_late(scores: Scores, signals: Features, best: Int, own: Float, window: Float, weights: Weights) -> None:
    """Adds late interaction to the scores of `best`; z over these alone."""
    people = (signals.flags[best] & PEOPLE).astype(bool)
    own_z, window_z = pool_z(own), pool_z(window)
    for name, weight_p, weight_ua, values in (
        ("meaning", weights.late_p, weights.late_ua, own_z),
        ("meaning nearby", weights.late_window_p, weights.late_window_ua, window_z),
    ):
        added = np.zeros(len(signals), np.float32)
        added[best] = np.where(people, weight_p, weight_ua) * values
        scores.add(name, added)


def _nearest(question: Float, row: TokenRows) -> Float:
    """For each piece of the question the best cosine among the message's pieces."""
    if not len(row.pieces):
        return np.zeros(len(question), np.float32)
    tokens = row.tokens.astype(np.float32) * np.float32(1 / 127)
    return np.asarray((question @ tokens.T).max(axis=1), np.float32)
