"""Titles of conversations: what they add to the messages beneath them, and conversations found by their words."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recollect.record import NodeId
from recollect.search.asking import Asked, title_query
from recollect.search.scoring import own_coverage
from recollect.search.weights import TITLE_LIKE, TITLE_SHARE, TITLE_WORDS, TITLES
from recollect.store import View
from recollect.store.passages import Float, Int
from recollect.text.flags import Flag
from recollect.text.terms import terms


@dataclass(frozen=True, slots=True)
class TitleMatch:
    """A title that holds most of the question: its passage, its conversation, and what it adds to that one's score."""

    passage: int
    conversation_id: NodeId
    bonus: float


def title_closeness(view: View, asked: Asked, conversations: Int) -> Float:
    """How near in meaning the titles of these conversations are, as a cosine above the least; 0 for a mere date."""
    nothing = np.zeros(len(conversations), np.float32)
    if asked.phrases or not asked.question.terms or not asked.vector.any():
        return nothing
    wanted = sorted({n for n in conversations.tolist() if n > 0})
    query = replace(title_query(asked), terms=(), conversations=tuple(wanted), pool=2 * len(wanted) + 1)
    titles = view.candidates(query)
    if not len(titles):
        return nothing
    near = np.clip(titles.dense - TITLE_LIKE[0], 0, TITLE_LIKE[1] - TITLE_LIKE[0])
    near = np.where(titles.flags & int(Flag.DATE), 0, near)
    order = np.argsort(titles.conversations, kind="stable")
    places = np.searchsorted(titles.conversations[order], conversations)
    at = order[np.minimum(places, len(order) - 1)]
    return np.asarray(np.where(titles.conversations[at] == conversations, near[at], 0), np.float32)


def title_matches(view: View, asked: Asked) -> dict[int, TitleMatch]:
    """Conversations whose titles hold most of the question, by number."""
    if not asked.question.terms or asked.phrases:
        return {}
    by_words = replace(title_query(asked), vector=np.zeros_like(asked.vector), pool=TITLES)
    features = view.candidates(by_words)
    share = own_coverage(features)
    found = np.flatnonzero(share >= TITLE_SHARE)
    texts = {t.number: t for t in view.passages([int(n) for n in features.passages[found]])}
    matches = {}
    for at in found.tolist():
        text = texts.get(int(features.passages[at]))
        if text is None or text.conversation_id is None:
            continue
        words = set(terms(text.text))
        told = len(words & set(asked.question.terms)) / (len(words) or 1)
        bonus = TITLE_WORDS * (float(share[at]) ** 2 + told**2)
        matches[int(features.conversations[at])] = TitleMatch(text.number, text.conversation_id, bonus)
    return matches
