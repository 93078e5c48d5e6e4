"""A quote: words of a message as they are shown, with what they refer to, whose they are and when they were said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect.answer.evidence import Citation, SourcePassage, Statement
from recollect.answer.extract import showing
from recollect.answer.extract.spans import Place, QuoteSpan, SpanKind, spans
from recollect.record import Message
from recollect.text.language import addressed
from recollect.text.relative import relative_dates
from recollect.text.terms import terms

FIRST = 50  # words of the best quote, at most
_DATE = 3  # words
_FEW = 2  # terms: a sentence of no more proves little
_MONTH = 31  # days: what is longer says little of when


@dataclass(frozen=True, slots=True)
class Draft:
    """A text with numbers, and what they stand for: 1, 2, 3 …"""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a passage, or of what stands beside it; `place` is where they are in the message. `context` is what they
    refer to, in words: what introduces them, the question that they answer.
    """

    passage: SourcePassage
    message: Message
    span: QuoteSpan
    place: Place
    worth: float
    share: float
    context: str = ""
    asked: Quote | None = None  # the question that they answer, cited as well
    is_near: bool = False  # and no more than that: others are clearly better
    is_dated: bool = False  # it says when, as the one before it was said in another conversation or on another day
    tells_dates: bool = False  # words like "yesterday" are told as dates as well
    instead: str = ""  # what is told in place of the words, where these are long

    @property
    def text(self) -> str:
        """As it is shown, with its context."""
        return self.instead or self.context + showing.told(self.message.content, self.span, self.place)

    def citation(self, number: int) -> Citation:
        """With this number."""
        p = self.passage
        return Citation(number, self.message, p.conversation, *self.place, p.cited, p.offset)


def speaker_of(quote: Quote) -> str:
    """Who said it; of a part of a document the file and the place."""
    return showing.plain(quote.passage.cited) or showing.speaker(quote.message)


def dates_of(quote: Quote) -> str:
    """What "yesterday" and the like meant on the day that it was said; nothing where it is not told."""
    said = quote.message.timestamp
    if said is None or not quote.tells_dates or quote.instead:
        return ""
    found = relative_dates(quote.message.content[slice(*quote.place)], said.date())
    shown = [
        showing.day(span.start) if span.start == span.end else f"{showing.day(span.start)} to {showing.day(span.end)}"
        for span in dict.fromkeys(found)
        if (span.end - span.start).days <= _MONTH
    ]
    return f" ({'; '.join(shown)})" if shown else ""


def stated(held: Statement, is_now: bool) -> Quote:
    """A statement with the time from which it held."""
    said = held.message.timestamp
    since = f"since {showing.day(held.since)}" if held.since else f"said {showing.day(said)}" if said else ""
    head = (since or "now") if is_now else ", ".join(filter(None, ("before that", since)))
    told = f"{head[0].upper()}{head[1:]}: {showing.plain(addressed(held.text))}"
    span = QuoteSpan(SpanKind.SENTENCE, held.start, held.end)
    passage = SourcePassage(0, held.message, held.conversation, 0.0)
    return Quote(passage, held.message, span, (held.start, held.end), 1.0, 1.0, instead=told)


def best_quote(passage: SourcePassage, wanted: frozenset[str]) -> Citation:
    """The sentence of a passage that holds most of the wanted terms; of equals the first that tells more than "No."."""
    content = passage.message.content
    found = [span for span in spans(content) if span.kind is not SpanKind.HEADING] or spans(content)
    if not found:
        return Citation(
            passage.number, passage.message, passage.conversation, 0, len(content), passage.cited, passage.offset
        )

    def tells(span: QuoteSpan) -> tuple[int, bool, bool]:
        text = span.of(content)
        return len(wanted & set(terms(text))), not span.asks(content), len(terms(text)) > _FEW

    best = max(found, key=tells)
    place = showing.shortened(content, (best.start, best.end), wanted, FIRST)
    return Citation(passage.number, passage.message, passage.conversation, *place, passage.cited, passage.offset)


def size_of(quote: Quote) -> int:
    """Words, with those that say whose they are, and when they were said."""
    if quote.instead:
        return showing.size(quote.instead) + 1
    asked = showing.size(quote.asked.text) + 2 if quote.asked else 0
    said = showing.size(quote.text) + showing.size(dates_of(quote)) + asked
    return said + showing.size(speaker_of(quote)) + 1 + _DATE * quote.is_dated


def dated(quotes: Sequence[Quote]) -> list[Quote]:
    """The quotes with those marked that say when: the others go on with the conversation and day before them."""
    days = [("", ""), *((quote.message.conversation_id, showing.day(quote.message.timestamp)) for quote in quotes)]
    return [replace(quote, is_dated=days[at] != days[at + 1]) for at, quote in enumerate(quotes)]
