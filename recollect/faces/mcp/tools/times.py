"""`timeline`: which conversations there were in a time, and what each came down to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from recollect.answer.tools.base import About
from recollect.answer.tools.opening import nothing_said, span_of
from recollect.answer.tools.output import begin_of, day_of
from recollect.faces.mcp.tools.base import ServerCall, ServerReply, tool
from recollect.faces.mcp.tools.shapes import NAMESPACE, TEXT, TEXT_OR_NONE, WHOLE, YES, many, record
from recollect.faces.mcp.tools.texts import recalled, title_of
from recollect.record import from_microseconds, iso, utc_now

if TYPE_CHECKING:
    from recollect.memory import ConversationRow

_MOST = 50
_SUMMED = 240  # characters of a summary

_ROW = record(
    {"id": TEXT, "title": TEXT, "url": TEXT, "date": TEXT_OR_NONE, "messages": WHOLE}, {"source": TEXT, "summary": TEXT}
)


@tool(
    "What happened when",
    "Use this when a time is asked about rather than a subject: what was talked of today, this_week, last_month, in "
    '2025-03, on 2025-03-14, or "2025-03-01 to 2025-03-14"; and to see where things were left. It lists the '
    "conversations of that time, the newest first, each with its summary; fetch reads one by its id.",
    output=record({"period": TEXT, "conversations": many(_ROW), "more": YES}, NAMESPACE),
    period="last_month",
)
def timeline(
    call: ServerCall,
    period: Annotated[
        str, About('today, yesterday, this_week, last_month, 2025-03, "March 2025", "2025-03-01 to 2025-03-14", older.')
    ] = "this_month",
    limit: Annotated[int, About("How many conversations.", 1, _MOST)] = 20,
    offset: Annotated[int, About("How many to leave out: to go on where the last answer ended.", 0, 1e6)] = 0,
) -> ServerReply:
    """The conversations of a time."""
    since, until = (from_microseconds(moment) for moment in span_of(period, utc_now().date()))
    rows = call.memory.conversations(since=since, until=until, limit=limit + 1, offset=offset)
    shown, more = [_row(call, row) for row in rows[:limit]], len(rows) > limit
    namespace = str(call.memory.namespace)
    lines = [_line(row) for row in shown] or [_nothing(call, period, offset)]
    if more:
        lines.append(f"There are more: timeline(period={period!r}, offset={offset + limit})")
    return ServerReply(
        recalled("\n".join(lines), "timeline", namespace),
        {"period": period, "conversations": shown, "more": more, "namespace": namespace},
    )


def _nothing(call: ServerCall, period: str, offset: float) -> str:
    if offset:
        return f"No more from {period}."
    return nothing_said([day for day, _ in call.memory.knowledge.timeline(0).days], period, utc_now().date())


def _row(call: ServerCall, row: ConversationRow) -> dict[str, Any]:
    conversation = row.conversation
    summed = call.memory.summaries(conversation.id, "conversation")
    return {
        "id": conversation.id,
        "title": title_of(conversation.title),
        "url": call.links.conversation(conversation.id),
        "date": iso(conversation.updated or conversation.created),
        "day": day_of(conversation.updated or conversation.created),
        "messages": row.messages,
        "source": conversation.source,
        "summary": begin_of(summed[0].text, _SUMMED) if summed else "",
    }


def _line(row: dict[str, Any]) -> str:
    told = ", ".join(filter(None, (row["day"], row["source"], f"{row['messages']:,} messages")))
    return f"[{row['id']}] {row['title']} ({told})" + (f": {row['summary']}" if row["summary"] else "")
