"""The timeline: how much was said when, topics as bands, and the days of a month with what was talked about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from recollect.faces.http.scope import Scoped
from recollect.faces.web import told
from recollect.faces.web.bands import thin, wide
from recollect.faces.web.page import page
from recollect.faces.web.spans import Span

if TYPE_CHECKING:
    from recollect.derive.summaries.reading import Summary
    from recollect.memory import Memory
    from recollect.memory.timeline import Day, Timeline

router = APIRouter()

_TOPICS = 12


@router.get("/timeline")
def timeline(request: Request, memory: Scoped, asked: Annotated[str, Query(alias="in")] = "") -> Response:
    """All months, and one of them (or a quarter, a year) day by day; the last one where none is named."""
    whole = memory.knowledge.timeline(_TOPICS)
    chosen = Span.of(asked) if asked else Span.around(whole.days[-1][0]) if whole.days else None
    days = memory.knowledge.days(chosen.period) if chosen else []
    return page(
        request,
        "timeline.html",
        data=lambda: _as_json(whole, chosen, days),
        here="/timeline",
        timeline=whole,
        total=sum(count for _, count in whole.days) + whole.undated,
        reach=_reach(whole),
        pictures=[(name, drawn) for name, drawn in (("wide", wide(whole, chosen)), ("thin", thin(whole, chosen)))],
        chosen=chosen,
        before=_nearest(whole, chosen, -1),
        after=_nearest(whole, chosen, 1),
        days=days,
        messages=sum(day.messages for day in days),
        conversations=len({row.conversation.id for day in days for row in day.rows}),
        summary=_summary(memory, chosen),
        parts_of=told.parts,
    )


def _reach(whole: Timeline) -> str:
    """As in "April 2023 to October 2026"."""
    if not whole.days:
        return ""
    first, last = Span.around(whole.days[0][0]).label, Span.around(whole.days[-1][0]).label
    return first if first == last else f"{first} to {last}"


def _nearest(whole: Timeline, chosen: Span | None, way: int) -> Span | None:
    """The nearest span as long, before or after, in which something was said."""
    if chosen is None:
        return None
    spans = {Span.around(day, chosen.length) for day, _ in whole.days}
    beyond = sorted(one for one in spans if (one.place - chosen.place) * way > 0)
    return None if not beyond else beyond[0] if way > 0 else beyond[-1]


def _summary(memory: Memory, chosen: Span | None) -> Summary | None:
    """What a month came down to."""
    if chosen is None or chosen.length > 1:
        return None
    found = memory.summaries(kind="period", since=chosen.since, before=chosen.after.since)
    return next((one for one in found if one.period == f"month {chosen}"), None)


def _as_json(whole: Timeline, chosen: Span | None, days: list[Day]) -> dict[str, Any]:
    return {
        "days": {day.isoformat(): count for day, count in whole.days},
        "undated": whole.undated,
        "topics": [
            {
                "id": band.topic.id,
                "label": band.topic.label,
                "months": [
                    {"month": m.month, "messages": m.messages, "conversations": m.conversations} for m in band.months
                ],
            }
            for band in whole.bands
        ],
        "in": str(chosen) if chosen else None,
        "conversations": [
            {
                "day": day.day.isoformat(),
                "conversation": row.conversation.id,
                "title": row.conversation.title,
                "source": row.conversation.source,
                "message": row.first,
                "messages": row.messages,
            }
            for day in days
            for row in day.rows
        ],
    }
