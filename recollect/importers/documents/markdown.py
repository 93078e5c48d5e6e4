"""Markdown, kept as it is written; its headings make the outline.

Only the lines that can be headings are looked at, in one pass: a parser of all of Markdown takes seconds and a hundred
times the memory for a long file. Tests compare the headings with those that such a parser finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from recollect.importers.documents.plain import Contents, decoded
from recollect.record.tree import Heading, outline

_HASHES = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_RULER = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})$")
_INSIDE = re.compile(r" {0,3}(?:>|[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)|<)")  # a quotation, a list, HTML
_CODE = re.compile(r" {4}|\t")
_LINK = re.compile(r"!?\[([^\]\n]{0,300})\]\([^)\n]{0,2000}\)")
_MARKUP = re.compile(r"(\*\*|__|`)")
_LONGEST = 300  # characters of a line: a heading is shorter


class Markdown:
    """Markdown as it stands."""

    name = "markdown 1"
    endings = (".md", ".markdown", ".mdown", ".mkd")
    largest = 16 << 20

    def read(self, stream: BinaryIO) -> Contents:
        """The text with its headings. Raises ImportProblem."""
        text = decoded(stream.read())
        return Contents(text, outline(headings=list(headings(text)), lines=True))


def headings(text: str) -> Iterator[Heading]:
    """The headings of a Markdown text, but for those inside of lists and quotations."""
    fence, before = "", ""  # the fence that is open; the lines before, where they may be a heading that is underlined
    inside = False  # of a quotation or list, whose paragraphs go on in the lines that follow
    place, begins = _after_front_matter(text), 0
    for line in _lines(text, place):
        if fence:
            closing = _FENCE.match(line)
            if closing and closing[1].startswith(fence) and not line[closing.end() :].strip():
                fence = ""
        elif opening := _FENCE.match(line):
            fence, before, inside = opening[1], "", False
        elif len(line) <= _LONGEST and (found := _HASHES.match(line)):
            yield place, len(found[1]), _words(_CLOSING.sub("", found[2] or ""))
            before, inside = "", False
        elif before and (found := _UNDERLINE.match(line)):
            yield begins, 1 if found[1][0] == "=" else 2, _words(before)
            before = ""
        elif not line.strip() or _RULER.match(line):
            before, inside = "", False
        elif _INSIDE.match(line):
            before, inside = "", True
        elif before:
            before = f"{before} {line}" if len(before) < _LONGEST else before
        elif not inside and not _CODE.match(line):
            before, begins = line, place
        place += len(line) + 1


def _lines(text: str, start: int) -> Iterator[str]:
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def _after_front_matter(text: str) -> int:
    """Where the text begins that follows a block of YAML at its head."""
    if not text.startswith("---\n"):
        return 0
    end = text.find("\n---\n", 3)
    return 0 if end < 0 else end + len("\n---\n")


def _words(line: str) -> str:
    """A heading without its markup."""
    return " ".join(_MARKUP.sub("", _LINK.sub(r"\1", line[:_LONGEST])).split())
