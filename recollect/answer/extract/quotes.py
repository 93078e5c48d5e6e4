"""Quotes as they are read: a span with what it refers to, cut to a length, on one line, with who said it and when."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from recollect.answer.evidence import Citation, SourcePassage, Statement
from recollect.answer.extract.weighing import REFERS, Place, QuoteSpan, SpanKind, spans
from recollect.index.passages import is_person
from recollect.models.language.transcript import clean_name
from recollect.record import Message, Role
from recollect.text.language import addressed
from recollect.text.relative import relative_dates
from recollect.text.terms import has_unspaced_script, terms

_LINK = re.compile(r"!?\[([^\]\n]{0,200})\]\([^)\s]{1,500}\)")
_MARKS = re.compile(
    r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=[\w.!?])[*_](?!\w)|^#+\s*|^\s*>\s?|(?<!`)</?(?:b|i|u|br|em|strong|p|span|div|sub|sup)/?>"
)
_BULLET = re.compile(r"([:：])\s*\n\s*(?:[-*+•–]|\(?\d{1,2}[.)])\s+")
_BULLET_LATER = re.compile(r"([^\s:：])[ \t]*\n\s*(?:[-*+•–]|\(?\d{1,2}[.)])\s+")
_CELLS = re.compile(r"\s*\|\s*")
_NUMBERED = re.compile(r"[\[【]([\d ,;–-]{1,20})[\]】]")
#: Not within "1,2,3" or "a,,,b": cut there, a pasted table would be tried in millions of ways.
_CLAUSE = re.compile(
    r"(?<=[，；：、])(?![，；：、])|(?<=[,;:])\s+(?!\d{4}\b)|\s+(?=[-–—]\s)"
    r"|\s+(?=(?:because|so that|but|and|which|while|if|when)\s)"
)
_SHORT_ANSWER = 8  # words
_FEWEST_WORDS = 8  # words of a piece of a sentence, at least


def size(text: str) -> int:
    """Words; of scripts without blanks two characters count as one."""
    if text.isascii() or not has_unspaced_script(text):
        return len(text.split())
    wide = sum(char >= "\u2e80" for char in text)
    return len("".join(char if char < "\u2e80" else " " for char in text).split()) + -(-wide // 2)


def whole(content: str, span: QuoteSpan, room: int) -> Place:
    """The span, with the sentence before it where it refers to that, and both have room."""
    start, end = span.start, span.end
    if (
        span.before is not None
        and (REFERS.match(content, start, end) or size(content[start:end]) < _SHORT_ANSWER)
        and size(content[span.before[0] : end]) <= room
    ):
        start = span.before[0]
    elif (
        span.lead is not None
        and span.kind is SpanKind.ITEM
        and not content[span.lead[1] : start].strip(" \t\n-*+•–1.)(>")
        and size(content[span.lead[0] : end]) <= room
    ):
        start = span.lead[0]  # the first item, behind what introduces it
    return start, end


def shortened(content: str, place: Place, wanted: frozenset[str], room: int) -> Place:
    """The place, or where it is longer than there is room for, its clauses that hold most of what is wanted."""
    start, end = place
    if size(content[start:end]) <= room:
        return place
    edges = sorted({start, *(start + m.end() for m in _CLAUSE.finditer(content[start:end])), end})
    best, best_value = (start, start), (-1, False, 0)
    for i, first in enumerate(edges[:-1]):
        last = first
        for edge in edges[i + 1 :]:
            if size(content[first:edge]) > room:
                break
            last = edge
        words = size(content[first:last])
        value = _held(content[first:last], wanted), first == start, words
        if words >= min(_FEWEST_WORDS, room // 2) and value > best_value:
            best, best_value = (first, last), value
    if best[0] == best[1]:  # nothing to cut it at
        cut = start
        for match in re.finditer(r"\S+\s*", content[start:end]):
            if size(content[start : start + match.end()]) > room:
                break
            cut = start + match.end()
        best = (start, cut if cut > start else min(end, start + 2 * room))
    first, last = best
    while last > first and content[last - 1] in " \t\n,;:–—":
        last -= 1
    return first, last


def _held(text: str, wanted: frozenset[str]) -> int:
    return len(wanted & set(terms(text)))


def lead_of(content: str, span: QuoteSpan, place: Place, cited: str = "") -> str:
    """What introduces an item or a row, or heads a paragraph, in words, where the place does not hold it, nor what is
    `cited` of a document: the headings that it stands under.
    """
    if span.lead is None or place[0] <= span.lead[0]:
        return ""
    if span.kind is SpanKind.ROW or span.kind is SpanKind.CODE:
        return ""
    text = plain(content[slice(*span.lead)]).rstrip(":： ")
    if cited.casefold().endswith(text.casefold()):
        return ""
    return f"{text}: " if text else ""


def told(content: str, span: QuoteSpan, place: Place) -> str:
    """The quote as it is shown."""
    start, end = place
    if span.kind is SpanKind.ROW and span.lead is not None:
        return _row(content[slice(*span.lead)], content[start:end])
    text = plain(content[start:end])
    begun = start > span.start and start != 0 and not content[span.start : start].isspace()
    return f"{'… ' if begun else ''}{text}{' …' if end < span.end else ''}"


def _row(head: str, row: str) -> str:
    names, cells = ([c.strip() for c in _CELLS.split(line.strip().strip("|"))] for line in (head, row))
    if len(names) != len(cells):
        return plain(", ".join(cells))
    first, *rest = (f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=True))
    return plain("; ".join([first, *rest]))


def plain(text: str) -> str:
    """On one line, without marks of Markdown; numbers in brackets, which are citations here, in round ones."""
    text = _BULLET.sub(r"\1 ", _BULLET_LATER.sub(r"\1; ", _LINK.sub(r"\1", text)))
    text = " ".join(text.split())
    return _NUMBERED.sub(r"(\1)", _MARKS.sub("", text)).strip()


def speaker(message: Message) -> str:
    """Who said it, to the one who asks."""
    if message.speaker and is_person(message.speaker):
        return clean_name(message.speaker)
    return {Role.USER: "You", Role.ASSISTANT: "Assistant"}.get(message.role, message.role.value.capitalize())


def day(moment: date | None) -> str:
    """As in "9 May 2025"; nothing where it is not known."""
    return f"{moment.day} {moment:%B %Y}" if moment is not None else ""


# A quote: words of a message as they are shown, with what they refer to, whose they are and when they were said.

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
        return self.instead or self.context + told(self.message.content, self.span, self.place)

    def citation(self, number: int) -> Citation:
        """With this number."""
        p = self.passage
        return Citation(number, self.message, p.conversation, *self.place, p.cited, p.offset)


def speaker_of(quote: Quote) -> str:
    """Who said it; of a part of a document the file and the place."""
    return plain(quote.passage.cited) or speaker(quote.message)


def dates_of(quote: Quote) -> str:
    """What "yesterday" and the like meant on the day that it was said; nothing where it is not told."""
    said = quote.message.timestamp
    if said is None or not quote.tells_dates or quote.instead:
        return ""
    found = relative_dates(quote.message.content[slice(*quote.place)], said.date())
    shown = [
        day(span.start) if span.start == span.end else f"{day(span.start)} to {day(span.end)}"
        for span in dict.fromkeys(found)
        if (span.end - span.start).days <= _MONTH
    ]
    return f" ({'; '.join(shown)})" if shown else ""


def stated(held: Statement, is_now: bool) -> Quote:
    """A statement with the time from which it held."""
    said = held.message.timestamp
    since = f"since {day(held.since)}" if held.since else f"said {day(said)}" if said else ""
    head = (since or "now") if is_now else ", ".join(filter(None, ("before that", since)))
    told = f"{head[0].upper()}{head[1:]}: {plain(addressed(held.text))}"
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
    place = shortened(content, (best.start, best.end), wanted, FIRST)
    return Citation(passage.number, passage.message, passage.conversation, *place, passage.cited, passage.offset)


def size_of(quote: Quote) -> int:
    """Words, with those that say whose they are, and when they were said."""
    if quote.instead:
        return size(quote.instead) + 1
    asked = size(quote.asked.text) + 2 if quote.asked else 0
    said = size(quote.text) + size(dates_of(quote)) + asked
    return said + size(speaker_of(quote)) + 1 + _DATE * quote.is_dated


def dated(quotes: Sequence[Quote]) -> list[Quote]:
    """The quotes with those marked that say when: the others go on with the conversation and day before them."""
    days = [("", ""), *((quote.message.conversation_id, day(quote.message.timestamp)) for quote in quotes)]
    return [replace(quote, is_dated=days[at] != days[at + 1]) for at, quote in enumerate(quotes)]


# Quotes put into a text: a line a quote with who said it and when, in groups under headings where there are any.

#: Stands before what is near, where something else is clearly nearer.
ALSO = "Also near:"


@dataclass(frozen=True, slots=True)
class QuoteGroup:
    """Quotes that belong together, under a heading or none. `dated` says that the heading tells the day."""

    quotes: Sequence[Quote]
    heading: str = ""
    dated: bool = False


def tell(groups: Sequence[QuoteGroup], *, first: int = 1) -> Draft:
    """The groups in order, numbered from `first`."""
    written, cited = list[str](), list[Citation]()
    where = ("", "")
    for group in groups:
        if group.heading:
            written.append(group.heading)
        bullet = "- " if group.heading else ""
        for quote in group.quotes:
            when = "" if group.dated else day(quote.message.timestamp)
            here = (quote.message.conversation_id, when)
            head = f"{speaker_of(quote)}, {when}" if when and here != where else speaker_of(quote)
            where = here
            cited.append(quote.citation(first + len(cited)))
            said = quote.text if quote.instead else f"{head}: {quote.text}{dates_of(quote)}"
            line = f"{bullet}{said} [{cited[-1].number}]"
            if quote.asked is not None:
                cited.append(quote.asked.citation(first + len(cited)))
                line += f", to “{quote.asked.text}” [{cited[-1].number}]"
            written.append(line)
    return Draft("\n".join(written), tuple(cited))


def by_nearness(quotes: Sequence[Quote]) -> list[QuoteGroup]:
    """What answers, and apart from it what is only near."""
    groups = [QuoteGroup([q for q in quotes if not q.is_near]), QuoteGroup([q for q in quotes if q.is_near], ALSO)]
    return [group for group in groups if group.quotes]
