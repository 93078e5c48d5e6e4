"""A message cut into what can be quoted: sentences, items of lists, rows of tables, blocks of code, with their places.

What introduces an item ("Three things bite:") and the sentence before one are kept with it: neither says much alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from recollect.answer.extract.signs import QUESTION, TELLS
from recollect.text.markdown import code_blocks
from recollect.text.sentences import sentence_places

Place = tuple[int, int]


class SpanKind(StrEnum):
    """What a span is."""

    SENTENCE = "sentence"
    ITEM = "item"
    ROW = "row"
    HEADING = "heading"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class QuoteSpan:
    """`content[start:end]`. `lead` is the place of what introduces it, `before` that of the sentence it follows in its
    paragraph. `language` is what a block of code says it is in.
    """

    kind: SpanKind
    start: int
    end: int
    lead: Place | None = None
    before: Place | None = None
    language: str = ""

    def of(self, content: str) -> str:
        """The words."""
        return content[self.start : self.end]

    def asks(self, content: str) -> bool:
        """Whether it is a question and tells nothing besides: "I moved to Rome in May, what should I see?" does."""
        text = self.of(content).rstrip("\"'”’)*_ ")
        if not text.endswith(("?", "？", "؟")):
            return False
        return len(text) < _SHORT_QUESTION or (bool(QUESTION.match(text)) and not TELLS.search(text))


_ITEM = re.compile(r"[ \t]*(?:>[ \t]*)*(?:[-*+•–][ \t]+(?:\[[ xX]\][ \t]+)?|\(?\d{1,3}[.)、][ \t]+)")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+|[ \t]*(\*\*|__)[^*_\n]{1,80}\1:?[ \t]*$")
_QUOTED = re.compile(r"[ \t]*>[ \t]?")
_RULE = re.compile(r"[\s|:*_=–-]*")
_SHORT_QUESTION = 60  # characters
_WRAPPED = 50  # characters of a line that may be cut where the next one goes on


def spans(content: str) -> list[QuoteSpan]:
    """All of a message, in order, without what only lays it out."""
    found: list[QuoteSpan] = []
    at = 0
    for block in code_blocks(content):
        found += _prose(content, at, block.start)
        at = block.end
        if code := block.of(content).rstrip():
            lead = _lead_of_code(content, found)
            found.append(QuoteSpan(SpanKind.CODE, block.first, block.first + len(code), lead, language=block.language))
    return found + list(_prose(content, at, len(content)))


def _lead_of_code(content: str, found: list[QuoteSpan]) -> Place | None:
    """The last line before a block, which says what it is."""
    if not found or found[-1].kind is SpanKind.CODE:
        return None
    last = found[-1]
    return last.start, last.end


def _prose(content: str, start: int, end: int) -> Iterator[QuoteSpan]:
    lead: Place | None = None
    before: Place | None = None
    head: Place | None = None
    for first, last in _lines(content, start, end):
        line = content[first:last]
        if not line.strip() or _RULE.fullmatch(line):
            before = None
            continue
        if line.lstrip().startswith("|") and line.count("|") > 1:
            if head is None:
                head = (first, last)
            else:
                yield QuoteSpan(SpanKind.ROW, *_cells(content, first, last), head)
            continue
        head = None
        marked = _HEADING.match(line)
        if marked:
            at = first + (marked.end() if not marked[1] else 0)
            lead, before = _trimmed(content, at, last), None
            if lead[0] < lead[1]:
                yield QuoteSpan(SpanKind.HEADING, *lead)
            continue
        item = _ITEM.match(line)
        begins = first + (item.end() if item else 0)
        if quoted := _QUOTED.match(content, begins, last):
            begins = quoted.end()
        before = None if item else before
        for one in sentence_places(content, begins, last):
            kind = SpanKind.ITEM if item else SpanKind.SENTENCE
            yield QuoteSpan(kind, *one, lead if item or before is None else None, before)
            before = one
        if before is not None and content[: before[1]].rstrip("*_ ").endswith((":", "：")):
            if not item:
                lead = before
        elif not item:
            lead = None


def _lines(content: str, start: int, end: int) -> Iterator[Place]:
    """The lines, those in one that were cut only to be short."""
    first = start
    while first < end:
        last = content.find("\n", first, end)
        last = end if last < 0 else last
        while last < end and _goes_on(content, first, last, end):
            after = content.find("\n", last + 1, end)
            last = end if after < 0 else after
        yield first, last
        first = last + 1


def _goes_on(content: str, first: int, last: int, end: int) -> bool:
    line = content[content.rfind("\n", first, last) + 1 : last].rstrip() if "\n" in content[first:last] else ""
    line = line or content[first:last].rstrip()
    if content.count("`", first, last) % 2:  # within code
        return True
    following = content[last + 1 : end].lstrip(" \t")
    return (
        len(line) >= _WRAPPED
        and line[-1] not in ".!?:;|。！？：…"
        and bool(following)
        and following[0].islower()
        and not _ITEM.match(following)
    )


def _cells(content: str, start: int, end: int) -> Place:
    """A row of a table without the bars that frame it."""
    first, last = _trimmed(content, start, end)
    first, last = _trimmed(content, first + (content[first] == "|"), last - (content[last - 1] == "|"))
    return (first, last) if first < last else _trimmed(content, start, end)


def _trimmed(content: str, start: int, end: int) -> Place:
    while start < end and content[start].isspace():
        start += 1
    while end > start and content[end - 1].isspace():
        end -= 1
    return start, end
