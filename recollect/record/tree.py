"""A conversation as a tree: which messages lead to one, in which order all of it is read."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.record.ids import NodeId
from recollect.record.nodes import Document, Message


def path_to(leaf: NodeId | None, parents: Mapping[NodeId, NodeId | None]) -> list[NodeId]:
    """The way from a root down to `leaf`, both included; what is not in `parents` ends it.

    >>> path_to("c", {"a": None, "b": "a", "c": "b", "d": "a"})
    ['a', 'b', 'c']
    """
    path: dict[NodeId, None] = {}
    while leaf is not None and leaf in parents and leaf not in path:
        path[leaf] = None
        leaf = parents[leaf]
    return list(reversed(path))


def has_circle(parents: Mapping[NodeId, NodeId | None]) -> bool:
    """Whether following parents ever comes back.

    >>> has_circle({"a": "b", "b": "a"})
    True
    """
    safe: set[NodeId] = set()
    for start in parents:
        walk: set[NodeId] = set()
        at: NodeId | None = start
        while at is not None and at not in safe:
            if at in walk:
                return True
            walk.add(at)
            at = parents.get(at)
        safe |= walk
    return False


def reading_order(messages: Sequence[Message]) -> list[Message]:
    """Depth first from the roots, siblings as they came, except that the active path comes before all else."""
    known = {message.id for message in messages}
    children: dict[NodeId | None, list[Message]] = {}
    for message in sorted(messages, key=lambda m: (m.active, -m.position)):  # popped from the end
        above = message.parent_id if message.parent_id in known else None
        children.setdefault(above, []).append(message)
    ordered: list[Message] = []
    waiting = list(children.get(None, ()))
    while waiting:
        message = waiting.pop()
        ordered.append(message)
        waiting += children.get(message.id, ())
    return ordered


# Where in a document something stands: its page, the headings above it, its line. Kept in the document's metadata.

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
