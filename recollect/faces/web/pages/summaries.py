"""What a summary says, as a page shows it: quotations as quotations, with who said them and when."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from recollect.errors import NotFound
from recollect.faces.http.scope import Scoped
from recollect.faces.web.page import page

if TYPE_CHECKING:
    from recollect.derive.summaries.reading import Summary
    from recollect.memory import Memory
    from recollect.record import Message


#: A quoted line, as in "2024-01-13 user: I want to plan …".
_LINE = re.compile(r"(?:(?P<day>\d{4}-\d\d-\d\d) )?(?P<who>[^:\n]{1,60}): (?P<text>.+)", re.DOTALL)

#: What parts are called, in the order in which they are shown.
_PARTS = {
    "themes": "About",
    "recurring_themes": "Again and again",
    "progressions": "Over time",
    "links": "Together",
    "concerns": "Concerns",
    "long_term_concerns": "Lasting concerns",
    "tried": "Tried",
    "emotional_state": "Feelings",
    "actions": "Actions",
    "specifics": "Exactly",
    "highlights": "Highlights",
    "open": "Left open",
    "resolved": "Resolved",
}
_BY = {"user": "you"}


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """A line of a summary; `who` is empty where it is nobody's words."""

    text: str
    who: str = ""
    day: datetime | None = None

    @property
    def is_you(self) -> bool:
        """Whether it is what the person said whose memory it is."""
        return self.who == "you"


@dataclass(frozen=True, slots=True)
class SummarySection:
    """A part of a summary with its heading; `short` ones go in one line."""

    key: str
    heading: str
    items: tuple[str, ...]
    short: bool


def summary_lines(summary: Summary) -> list[SummaryLine]:
    """The text, a line for each that is quoted, or for each paragraph that was written."""
    return [_line(one) if summary.extractive else SummaryLine(one) for one in summary.text.splitlines() if one.strip()]


def summary_sections(summary: Summary, *names: str) -> list[SummarySection]:
    """What it says in pieces, as far as there is any; only those of these names, if any are given."""
    wanted = names or tuple(_PARTS)
    found = [(key, _items(summary.parts.get(key))) for key in _PARTS if key in wanted]
    return [SummarySection(key, _PARTS[key], items, key.endswith("themes")) for key, items in found if items]


def _line(text: str) -> SummaryLine:
    found = _LINE.fullmatch(text)
    if found is None:
        return SummaryLine(text)
    day = datetime.fromisoformat(found["day"]).replace(tzinfo=UTC) if found["day"] else None
    return SummaryLine(found["text"], _BY.get(found["who"], found["who"]), day)


def _items(part: Any) -> tuple[str, ...]:
    if not part:
        return ()
    return (part,) if isinstance(part, str) else tuple(_worded(item) for item in part)


def _worded(item: Any) -> str:
    if not isinstance(item, Mapping):
        return str(item)
    if "steps" in item:
        steps: Sequence[str] = item["steps"]
        return f"{item['what']}: {'; '.join([*steps, str(item['now'])])}"
    if "outcome" in item:
        return f"{item['what']}: {item['outcome']}" if item["outcome"] else str(item["what"])
    state = item.get("state") if item.get("state") not in (None, "", "proposed") else ""
    told = ", ".join(filter(None, (_BY.get(str(item.get("by", "")), str(item.get("by", ""))), state)))
    return f"{item['what']} ({told})" if told else str(item["what"])


# The story of a conversation: what it came down to, part by part (L1), and over several parts (L2).

router = APIRouter()

_LINES = 6  # of a part's text; the rest is behind a fold


@dataclass(frozen=True, slots=True)
class L1Section:
    """A run of exchanges (an L1), with the first and last of its messages."""

    number: int
    summary: Summary
    first: Message | None
    last: Message | None
    lines: tuple[SummaryLine, ...]
    themes: tuple[str, ...]
    pieces: tuple[SummarySection, ...]


@dataclass(frozen=True, slots=True)
class L2Section:
    """Several parts and what they come to together (an L2, None where not enough have gathered)."""

    summary: Summary | None
    themes: tuple[str, ...]
    pieces: tuple[SummarySection, ...]
    lines: tuple[SummaryLine, ...]
    parts: tuple[L1Section, ...]


@router.get("/story/{id:path}")
def story(request: Request, memory: Scoped, id: str) -> Response:
    """Chapters of parts, in order; and where the talk turned to something else. Raises NotFound."""
    conversation = memory.conversation_named(id)
    if conversation is None:
        raise NotFound(f"No conversation has the ID {id}.")
    every = memory.summaries(id)
    whole = next((one for one in every if one.kind == "conversation"), None)
    chapters = _chapters(memory, every)
    segments = memory.segments(id)
    return page(
        request,
        "story.html",
        data=lambda: {"conversation": id, "title": conversation.title, "summaries": every},
        here="/search",
        conversation=conversation,
        whole=whole,
        whole_lines=summary_lines(whole) if whole else [],
        whole_parts=summary_sections(whole, "open") if whole else [],
        chapters=chapters,
        segments=segments,
        messages=sum(segment.messages for segment in segments),
        most=_LINES,
        extractive=all(one.extractive for one in every),
    )


def _chapters(memory: Memory, every: Sequence[Summary]) -> list[L2Section]:
    """The L2 with the L1 that they cover, in order; the L1 that are in none yet come last."""
    first_level = [one for one in every if one.kind == "l1"]
    ends = {i for one in first_level if one.covers for i in (one.covers[0], one.covers[-1])}
    known = {message.id: message for message in memory.messages(sorted(ends))}
    parts = {one.id: _part(number, one, known) for number, one in enumerate(first_level, 1)}
    chapters = [
        L2Section(
            one,
            _themes(one, "recurring_themes"),
            tuple(summary_sections(one, "progressions", "links", "long_term_concerns", "specifics")),
            () if one.extractive else tuple(summary_lines(one)),
            tuple(parts.pop(i) for i in one.covers if i in parts),
        )
        for one in every
        if one.kind == "l2"
    ]
    if parts:
        chapters.append(L2Section(None, (), (), (), tuple(parts.values())))
    return chapters


def _part(number: int, one: Summary, known: dict[Any, Message]) -> L1Section:
    return L1Section(
        number,
        one,
        known.get(one.covers[0]) if one.covers else None,
        known.get(one.covers[-1]) if one.covers else None,
        tuple(summary_lines(one)),
        _themes(one, "themes"),
        tuple(summary_sections(one, "concerns", "emotional_state", "actions", "specifics")),
    )


def _themes(one: Summary, name: str) -> tuple[str, ...]:
    return next((part.items for part in summary_sections(one, name)), ())
