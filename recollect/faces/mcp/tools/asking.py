"""`ask`: an answer with the messages that prove it, and what was done on the way as progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from recollect.answer.tools.base import About
from recollect.answer.tools.output import day_of
from recollect.faces.mcp.tools.base import ServerCall, ServerReply, tool
from recollect.faces.mcp.tools.shapes import NAMESPACE, TEXT, TEXT_OR_NONE, WHOLE, YES, many, record
from recollect.faces.mcp.tools.texts import recalled, title_of
from recollect.record import iso

if TYPE_CHECKING:
    from recollect.answer.evidence import Citation
    from recollect.answer.results import AskAnswer

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
