"""Titles of conversations: what they add to the messages beneath them, and conversations found by their words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from recollect.record import NodeId
from recollect.search.query.asking import Asked, Groups, title_query
from recollect.search.scoring import own_coverage
from recollect.search.weights import ALL, TITLE_LIKE, TITLE_SHARE, TITLE_WORDS, TITLES
from recollect.store import View
from recollect.store.passages import Bool, Float, Int
from recollect.text.language import Flag
from recollect.text.terms import terms


@dataclass(frozen=True, slots=True)
class TitleMatch:
    """A title that holds most of the question: its passage, its conversation, and what it adds to that one's score.
    Whether the title holds all of the question, and whether the question is the title, word by word.
    """

    passage: int
    conversation_id: NodeId
    bonus: float
    holds_all: bool = False
    is_query: bool = False


@dataclass(frozen=True, slots=True)
class Titles:
    """What the titles of the conversations of passages (n,) say: how near in meaning they are, as a cosine above the
    least, 0 for a mere date; and of a few typed words, which of them (n, t) they hold.
    """

    near: Float
    held: Float | None = None


@dataclass(frozen=True, slots=True)
class Titled:
    """Conversations whose titles hold most of the question, by number: the `best` of them, and the `rest` by the
    passages of their titles.
    """

    best: Mapping[int, TitleMatch] = field(default_factory=dict)
    rest: Mapping[int, int] = field(default_factory=dict)

    def last(self) -> Titled:
        """The same where no title lifts its conversation: what is found by its title alone comes after all else."""
        return Titled(rest={**{number: title.passage for number, title in self.best.items()}, **self.rest})


def titles_above(view: View, asked: Asked, words: Groups, conversations: Int) -> Titles:
    """The titles of the conversations (n,) of passages, `words` being those of the question."""
    nothing = Titles(np.zeros(len(conversations), np.float32))
    if asked.phrases or not asked.question.terms or not (asked.typed or asked.vector.any()):
        return nothing
    wanted = sorted({n for n in conversations.tolist() if n > 0})
    query = replace(
        title_query(asked),
        terms=words if asked.typed else (),
        conversations=tuple(wanted),
        pool=2 * len(wanted) + 1,
    )
    titles = view.candidates(query)
    if not len(titles):
        return nothing
    at, known = _places(titles.conversations, conversations)
    near = np.clip(titles.dense - TITLE_LIKE[0], 0, TITLE_LIKE[1] - TITLE_LIKE[0])
    near = np.where(titles.flags & int(Flag.DATE), 0, near)
    held = np.where(known[:, None], titles.holds[at, 0], np.float32(0)) if asked.typed else None
    return Titles(np.asarray(np.where(known, near[at], 0), np.float32), held)


def _places(titled: Int, conversations: Int) -> tuple[Int, Bool]:
    """Where the titles of conversations stand among others, and which have one."""
    order = np.argsort(titled, kind="stable")
    places = np.searchsorted(titled[order], conversations)
    at = order[np.minimum(places, len(order) - 1)]
    return at, np.asarray(titled[at] == conversations)


def title_matches(view: View, asked: Asked) -> Titled:
    """Conversations whose titles hold most of the question."""
    if not asked.question.terms or asked.phrases:
        return Titled()
    by_words = replace(title_query(asked), vector=np.zeros_like(asked.vector), pool=TITLES)
    features = view.candidates(by_words)
    share, asked_words = own_coverage(features), {form for forms in by_words.terms for form, _ in forms}
    found = np.flatnonzero(share >= TITLE_SHARE)
    texts = {t.number: t for t in view.passages([int(n) for n in features.passages[found]])}
    matches = {}
    for at in found.tolist():
        text = texts.get(int(features.passages[at]))
        if text is None or text.conversation_id is None:
            continue
        words = set(terms(text.text))
        told = len(words & asked_words) / (len(words) or 1)
        bonus = TITLE_WORDS * (float(share[at]) ** 2 + told**2)
        holds_all = bool(share[at] >= ALL)
        matches[int(features.conversations[at])] = TitleMatch(
            text.number, text.conversation_id, bonus, holds_all, holds_all and told == 1
        )
    if features.whole or features.matches is None:
        return Titled(matches)
    rows = features.matches.rows.take(features.matches.shares >= TITLE_SHARE)
    pairs = zip(rows.conversations.tolist(), rows.passages.tolist(), strict=True)
    return Titled(matches, {number: passage for number, passage in pairs if number and number not in matches})
