"""Quotes as they are read: a span with what it refers to, cut to a length, on one line, with who said it and when."""

from __future__ import annotations

import re
from datetime import date

from recollect.answer.extract.signs import REFERS
from recollect.answer.extract.spans import Place, QuoteSpan, SpanKind
from recollect.index.passages import is_person
from recollect.models.language.transcript import clean_name
from recollect.record import Message, Role
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
_FEW = 8  # words of a piece of a sentence, at least


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
        if words >= min(_FEW, room // 2) and value > best_value:
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
