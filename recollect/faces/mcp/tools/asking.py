"""`ask`: an answer with the messages that prove it; `context`, what a model needs; `timeline`, what was when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from recollect.answer.tools.base import About
from recollect.answer.tools.opening import nothing_said, span_of
from recollect.answer.tools.output import begin_of, day_of
from recollect.context import ToolNames
from recollect.faces.mcp.tools.base import (
    NAMESPACE,
    PART,
    TEXT,
    TEXT_OR_NONE,
    WHOLE,
    YES,
    ServerCall,
    ServerReply,
    many,
    recalled,
    record,
    title_of,
    tool,
)
from recollect.record import from_microseconds, iso, utc_now

if TYPE_CHECKING:
    from recollect.answer.evidence import Citation
    from recollect.answer.results import AskAnswer
    from recollect.memory import ConversationRow


_CITED = record(
    {"n": WHOLE, "id": TEXT, "title": TEXT, "url": TEXT, "quote": TEXT},
    {"date": TEXT_OR_NONE, "conversation_id": TEXT_OR_NONE},
)


@tool(
    "Ask the memory",
    "Use this when one question wants one answer out of earlier conversations, with its proof: why something was "
    "decided, what was agreed, what somebody said. It answers with numbered quotations, or says that the conversations "
    "do not say; then do not guess. To look around instead, use search. The question may hold the filters of search.",
    output=record(
        {"question": TEXT, "known": YES, "answer": TEXT, "citations": many(_CITED)},
        {**NAMESPACE, "model": TEXT_OR_NONE, "notes": many(TEXT)},
    ),
    question="Why did we choose Postgres for the job queue?",
)
def ask(call: ServerCall, question: Annotated[str, About("The question, in a sentence.")]) -> ServerReply:
    """The answer, once its steps are told."""
    from recollect.answer.results import AskAnswer, Step

    answer: AskAnswer | None = None
    for event in call.memory.ask_stream(question):
        match event:
            case Step(name, detail):
                call.tell(f"{name}: {detail}")
            case AskAnswer():
                answer = event
    assert answer is not None
    namespace = str(call.memory.namespace)
    cited = [_cited(call, citation) for citation in answer.citations]
    return ServerReply(
        recalled(_told(answer), "ask", namespace),
        {
            "question": answer.question,
            "known": answer.known,
            "answer": recalled(answer.text, "ask", namespace),
            "citations": cited,
            "model": answer.model,
            "notes": list(answer.notes),
            "namespace": namespace,
        },
    )


def _told(answer: AskAnswer) -> str:
    sources = [f"[{c.number}] {_source(c)}: {' '.join(c.quote.split())}" for c in answer.citations]
    return "\n".join([answer.text, *(["", "Sources:", *sources] if sources else []), *answer.notes])


def _source(citation: Citation) -> str:
    if citation.conversation is None:
        return f"{citation.cited} (id {citation.message.id})"
    named = [title_of(citation.conversation.title), citation.conversation.source, day_of(citation.message.timestamp)]
    return f"{', '.join(filter(None, named))} (id {citation.message.id})"


def _cited(call: ServerCall, citation: Citation) -> dict[str, Any]:
    message, conversation = citation.message, citation.conversation
    return {
        "n": citation.number,
        "id": message.id,
        "title": citation.cited if conversation is None else title_of(conversation.title),
        "url": call.links.document(message.id)
        if conversation is None
        else call.links.message(message.id, conversation.id),
        "quote": citation.quote,
        "date": iso(message.timestamp),
        "conversation_id": None if conversation is None else conversation.id,
    }


# `context`: what a model needs of everything that was said to answer a text, as `prepare_context` gives it [1, 4].

_BUDGET, _LEAST = 4_000, 400
_ALL = ToolNames()
#: What opens a message where only the small set is offered.
_CORE = ToolNames(
    message="fetch",
    messages="fetch",
    around="fetch",
    period="timeline",
    topic="search",
    cluster="",
    search="search",
    searching="query",
)


@tool(
    "Prepare for a question",
    "Use this before you answer, or once at the beginning of a task, to be given what matters of all earlier "
    "conversations at once: what is known of the user, the newest messages, what fits the text, and an index of the "
    "rest. Pass what the user wrote, whole. To look for one thing, use search; for one answer with its proof, ask.",
    output=record({"text": TEXT, "tokens": WHOLE}, {**NAMESPACE, "degraded": TEXT_OR_NONE}),
    text="Which database did we choose for the job queue, and why?",
)
def context(
    call: ServerCall,
    text: Annotated[str, About("What the user wrote, or what the task is.")],
    budget: Annotated[int, About("Tokens that it may have at most.", _LEAST, PART)] = _BUDGET,
    conversation_id: Annotated[str, About("The conversation that goes on, by its id in the memory.")] = "",
) -> ServerReply:
    """The context, with the names of the tools that the client has."""
    names = _ALL if _ALL.messages in call.offers else _CORE
    made = call.memory.prepare_context(text, conversation_id or None, budget, tools=names)
    if "remember" in call.offers:  # else nothing is written
        call.memory.integration.record_request("mcp", made.parts, text=text, conversation_id=conversation_id or None)
    namespace = str(call.memory.namespace)
    return ServerReply(
        made.text, {"text": made.text, "tokens": made.tokens, "degraded": made.degraded, "namespace": namespace}
    )


# `timeline`: which conversations there were in a time, and what each came down to.

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
