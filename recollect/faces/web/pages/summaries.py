"""The summaries of a conversation: of its parts (L1), and of several parts (L2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from recollect.errors import NotFound
from recollect.faces.http.scope import Scoped
from recollect.faces.present.summaries import SummaryLine, SummarySection, summary_lines, summary_sections
from recollect.faces.web.page import page

if TYPE_CHECKING:
    from recollect.derive.summaries.reading import Summary
    from recollect.memory import Memory
    from recollect.record import Message


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
    conversation = memory.integration.conversation_named(id)
    if conversation is None:
        raise NotFound(f"No conversation has the ID {id}.")
    every = memory.summaries(id)
    whole = next((one for one in every if one.kind == "conversation"), None)
    chapters = _chapters(memory, every)
    segments = memory.knowledge.segments(id)
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
