"""How much a sentence says on a question: its words, its meaning, and whether it holds what is asked for.

What is asked for is read from the question: a time, a number, a place, a reason. A question is no answer, and neither
is a greeting.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from recollect.answer.extract.signs import (
    ASKS_WHY,
    CODE,
    GREETING,
    LABEL,
    NUMBER,
    OFFER,
    PLACE,
    REASON,
    TIME,
    UNMARKED,
)
from recollect.answer.extract.spans import QuoteSpan, SpanKind, spans
from recollect.answer.intents import Intent
from recollect.index.passages import is_person
from recollect.models.embedding.static import StaticEmbedder
from recollect.record import Message, Role
from recollect.search.query.question import Question, read_question
from recollect.search.results.snippet import densest
from recollect.text.terms import terms

_LONG, _AROUND = 16_000, 12_000  # characters of a message, and of what is read of a longer one
_LONG_QUESTION = 140  # characters
_MOST = 160  # spans of a message that are weighed by their meaning

#: They say that something was chosen, and not what.
_CHOOSING = frozenset(
    terms(
        "choose chose chosen decide decided decision pick picked drop dropped use used switch switched go went reason"
    )
)


@dataclass(frozen=True, slots=True)
class Weighed:
    """A span of a message with what it is worth. `share` is how much of the question's words it holds itself."""

    message: Message
    span: QuoteSpan
    worth: float
    share: float

    @property
    def text(self) -> str:
        """The words."""
        return self.span.of(self.message.content)

    @property
    def asks(self) -> bool:
        """Whether it is a question: a user's may go without its mark."""
        return self.span.asks(self.message.content) or (
            self.message.role is Role.USER and bool(UNMARKED.match(self.text)) and len(self.text) < _LONG_QUESTION
        )

    @property
    def prose(self) -> bool:
        """Whether it is a sentence or an item that tells something."""
        return self.span.kind in (SpanKind.SENTENCE, SpanKind.ITEM) and not self.asks


class Scale:
    """Weighs what messages say against one question; how telling its words are, `messages` tell."""

    def __init__(self, question: str, messages: Iterable[Message], intent: Intent = Intent.QA) -> None:
        self.question: Question = read_question(question)
        self._intent = intent
        self._why = bool(ASKS_WHY.search(question)) or intent is Intent.DECISION
        told = {m.id: m for m in messages}.values()
        self._spans = {m.id: (m, _spans_of(m, self.question.terms)) for m in told}
        speakers = {term for m in told if is_person(m.speaker) for term in terms(m.speaker or "")}
        empty = speakers | (_CHOOSING if intent is Intent.DECISION else frozenset())
        self.terms = [term for term in self.question.terms if term not in empty] or list(self.question.terms)
        self._idf = self._weights(self.terms)
        self._total = sum(self._idf.values()) or 1.0
        self._known: dict[str, list[Weighed]] = {}
        meaning = not self.question.is_foreign_script
        self._vector = _embedder().embed([self.question.clean])[0] if meaning else None

    def weigh(self, message: Message) -> list[Weighed]:
        """Its spans with what they are worth, in order."""
        if message.id not in self._known:
            found = self._spans[message.id][1] if message.id in self._spans else _spans_of(message, self.terms)
            self._known[message.id] = self._weigh(message, found[:_MOST])
        return self._known[message.id]

    def best(self, message: Message) -> Weighed | None:
        """The span that says most; None for a message without words."""
        return max(self.weigh(message), key=lambda one: one.worth, default=None)

    def _weigh(self, message: Message, found: Sequence[QuoteSpan]) -> list[Weighed]:
        if not found:
            return []
        content = message.content
        near = np.zeros(len(found))
        if self._vector is not None:
            near = _embedder().embed([one.of(content) for one in found]) @ self._vector
        shares = [self.share(one.of(content)) for one in found]
        weighed = []
        for place, (span, share) in enumerate(zip(found, shares, strict=True)):
            lent = max((self.share(content[a:b]) for a, b in filter(None, (span.lead, span.before))), default=0.0)
            worth = share + 0.4 * max(0.0, lent - share) + 0.8 * float(near[place]) + self._fits(message, span)
            weighed.append(Weighed(message, span, worth - 0.01 * place / len(found), share))
        return weighed

    def share(self, text: str) -> float:
        """How much of the question's words a text holds, the telling ones counting more."""
        held = set(terms(text))
        return sum(weight for term, weight in self._idf.items() if term in held) / self._total

    def _fits(self, message: Message, span: QuoteSpan) -> float:
        """What it gains for holding what is asked for, and loses for being no answer."""
        text, question = span.of(message.content), self.question
        gain = 0.0
        if question.asks_when and TIME.search(text):
            gain += 0.25
        if question.asks_how_many and NUMBER.search(text):
            gain += 0.25
        if question.asks_where and PLACE.search(text):
            gain += 0.15
        if self._why and REASON.search(text):
            gain += 0.2
        if span.asks(message.content):
            gain -= 0.5
        if span.kind is SpanKind.HEADING:
            gain -= 0.6
        if span.kind is SpanKind.CODE:
            gain -= 0.4
        if len(CODE.findall(text)) > max(3, len(text) // 30):  # code outside of a block
            gain -= 0.5
        if text.rstrip().endswith((":", "：")):
            gain -= 0.7
        if GREETING.fullmatch(text) or OFFER.match(text):
            gain -= 0.6
        return gain

    def _weights(self, wanted: Sequence[str]) -> dict[str, float]:
        """How telling each term is among these spans."""
        held = Counter[str]()
        count = 0
        for message, found in self._spans.values():
            for span in found:
                count += 1
                held.update(set(terms(span.of(message.content))).intersection(wanted))
        return {term: math.log(1 + (count + 1) / (held[term] + 1)) for term in wanted}


def _spans_of(message: Message, wanted: Sequence[str]) -> list[QuoteSpan]:
    """Those of a message without the speaker's name before them; of a huge one those where most of the words are."""
    content = message.content
    found = spans(content)
    if len(content) > _LONG:
        middle = densest(content, wanted)
        first, last = max(0, middle - _AROUND // 2), middle + _AROUND // 2
        found = [span for span in found if first <= span.start and span.end <= last]
    label = LABEL.match(content) if is_person(message.speaker) else None
    if label and found and found[0].start < label.end() < found[0].end:
        found[0] = replace(found[0], start=label.end())
    return found


@lru_cache(maxsize=1)
def _embedder() -> StaticEmbedder:
    return StaticEmbedder()
