"""Where in a document something stands: its page, the headings above it, its line. Kept in the document's metadata."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recollect.record.nodes import Document

#: A heading: where it begins in the text, its level from 1, its words.
Heading = tuple[int, int, str]

_PAGES, _HEADINGS, _LINES = "pages", "headings", "lines"
_BETWEEN = " > "


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a document. `heading` names those above too: "Travel > Trains"."""

    page: int | None = None
    heading: str = ""
    line: int | None = None

    def __str__(self) -> str:
        if self.page is not None:
            return f"page {self.page}"
        return self.heading or (f"line {self.line}" if self.line is not None else "")


def outline(*, pages: Sequence[int] = (), headings: Sequence[Heading] = (), lines: bool = False) -> dict[str, Any]:
    """The metadata that `place_in` reads: where pages and headings begin, and whether lines are those of the file."""
    made: dict[str, Any] = {}
    if pages:
        made[_PAGES] = list(pages)
    if headings:
        made[_HEADINGS] = [list(heading) for heading in headings]
    return made | ({_LINES: True} if lines else {})


def place_in(document: Document, at: int) -> Place:
    """The place of a character of the document's text."""
    kept = document.metadata
    pages, headings = kept.get(_PAGES) or [], kept.get(_HEADINGS) or []
    return Place(
        page=max(bisect_right(pages, at), 1) if pages else None,
        heading=_BETWEEN.join(_above(headings, at)),
        line=document.content.count("\n", 0, at) + 1 if kept.get(_LINES) else None,
    )


def _above(headings: Sequence[Sequence[Any]], at: int) -> list[str]:
    """The headings that a place stands under, the highest first."""
    found: list[str] = []
    lowest = 0
    for _, level, words in reversed(headings[: bisect_right(headings, at, key=lambda heading: heading[0])]):
        if words and (not lowest or level < lowest):
            found.append(words)
            lowest = level
            if level == 1:
                break
    return found[::-1]
