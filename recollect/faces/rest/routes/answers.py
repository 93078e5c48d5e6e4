"""Ask, research and chat: answers with their sources, whole or as they come; and contexts for other models."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request, Response

from recollect.answer.results import Again, AnswerWords, AskAnswer, ChatAnswer, Report, SavedReport, Step, ToolUsed
from recollect.context.briefing import Brief
from recollect.context.result import Context
from recollect.faces.http.events import answered, in_events
from recollect.faces.http.once import ONCE
from recollect.faces.http.scope import WHOLE_STORE, Scoped
from recollect.faces.present.results import PageView, Whole
from recollect.faces.rest.base import calls, family
from recollect.faces.rest.bodies import ChatQuestion, QuestionBody, ResearchQuestion, ToPrepare, ToResolve
from recollect.ingest.requested import Requested

routes = family("answers")

_STEPS = (
    "Each `step` (name, detail), the `words` of a model's answer as they come (text), `again` where it broke off and "
    "is asked for anew (why); last `result`, the document, or `error`."
)
_EXAMPLE = 'event: step\ndata: {"name":"searched","detail":"…"}\n\nevent: result\ndata: {"question":"…"}\n\n'
_TURN = "The `words` of the answer as they come, each `tool` that was called, `again`; last `result` or `error`."
_WORDS = 'event: words\ndata: {"text":"It cost "}\n\nevent: result\ndata: {"answer":"…"}\n\n'
#: What is told before the result, by the names of the events.
_TOLD = {Step: "step", AnswerWords: "words", Again: "again", ToolUsed: "tool"}


@routes.post(
    "/ask", responses=in_events(_STEPS, _EXAMPLE), dependencies=[ONCE], openapi_extra=calls("ask", "ask_stream")
)
def ask(request: Request, memory: Scoped, asked: QuestionBody) -> AskAnswer | Response:
    """Answers a question from what was said, with numbered citations, or says that the conversations do not say."""
    return answered(request, lambda: memory.ask_stream(**asked.model_dump()), _TOLD, AskAnswer)


@routes.post(
    "/research",
    responses=in_events(_STEPS, _EXAMPLE),
    dependencies=[ONCE],
    openapi_extra=calls("research", "research_stream"),
)
def research(request: Request, memory: Scoped, asked: ResearchQuestion) -> Report | Response:
    """Takes a question apart, searches for each part, and writes a report that is saved as a document."""
    return answered(request, lambda: memory.research_stream(**asked.model_dump()), _TOLD, Report)


@routes.get("/reports")
def reports(memory: Scoped) -> PageView[SavedReport]:
    """The reports that are kept and the research that was interrupted, the newest first."""
    return PageView(memory.reports())


@routes.get("/reports/{id}")
def report(memory: Scoped, id: Annotated[str, Path(description="An id, or the end of one.")]) -> Report:
    """A report that is kept, with what it cites and is there still."""
    return memory.report(id)


@routes.post(
    "/chat", responses=in_events(_TURN, _WORDS), dependencies=[ONCE], openapi_extra=calls("chat", "chat_stream")
)
def chat(request: Request, memory: Scoped, asked: ChatQuestion) -> ChatAnswer | Response:
    """Answers within a conversation, from what was said in it, then from all the rest, and writes the turn."""
    return answered(request, lambda: memory.chat_stream(**asked.model_dump()), _TOLD, ChatAnswer)


@routes.post("/chat/resolve")
def resolve_references(memory: Scoped, asked: ToResolve) -> Whole:
    """A question made whole by what was said before it in a conversation, or as it was."""
    return Whole(memory.integration.resolve_references(asked.conversation_id, asked.question))


@routes.post("/context")
def prepare_context(memory: Scoped, asked: ToPrepare) -> Context:
    """What a model needs of everything that was said to answer a text, within a budget of tokens."""
    return memory.prepare_context(
        asked.text, asked.conversation_id, asked.budget, config=asked.config, known=asked.known, tools=asked.tools
    )


@routes.get("/requests")
def requests(memory: Scoped, limit: Annotated[int, Query(ge=1, le=200)] = 20) -> PageView[Requested]:
    """What the newest requests of the proxy, of chats, MCP clients and hooks were given, the newest first."""
    return PageView(memory.integration.requests(limit))


@routes.get("/brief", dependencies=[WHOLE_STORE])
def brief(
    memory: Scoped,
    folder: Annotated[str, Query(min_length=1, description="A folder of the server's machine.")],
    budget: Annotated[int, Query(description="Tokens at most.")] = 1_500,
) -> Brief:
    """What matters for work in a folder, for a coding agent at the start of a session."""
    return memory.brief(folder, budget)
