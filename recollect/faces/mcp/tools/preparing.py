"""`context`: what a model needs of everything that was said to answer a text, as `prepare_context` gives it [1, 4]."""

from __future__ import annotations

from typing import Annotated

from recollect.answer.tools.base import About
from recollect.context import ToolNames
from recollect.faces.mcp.tools.base import ServerCall, ServerReply, tool
from recollect.faces.mcp.tools.shapes import NAMESPACE, TEXT, TEXT_OR_NONE, WHOLE, record
from recollect.faces.mcp.tools.texts import PART

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
