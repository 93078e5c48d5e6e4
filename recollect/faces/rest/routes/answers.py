"""Ask, research and chat: answers with their sources, whole or as they come; contexts; search, and a model's tools."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Depends, Path, Query, Request, Response

from recollect.answer.results import Again, AnswerWords, AskAnswer, ChatAnswer, Report, SavedReport, Step, ToolUsed
from recollect.answer.tools.base import FoundText, ToolAnswer
from recollect.context.briefing import Brief
from recollect.context.result import Context
from recollect.faces.http.answers import answered, in_events
from recollect.faces.http.once import ONCE
from recollect.faces.http.scope import WHOLE_STORE, Scoped
from recollect.faces.present.results import PageView, ToolDescriptions, Whole
from recollect.faces.rest.base import Before, Limit, Paged, SearchQuery, Several, Since, Until, calls, family
from recollect.faces.rest.bodies import (
    ChatQuestion,
    QuestionBody,
    ResearchQuestion,
    ToolArguments,
    ToPrepare,
    ToResolve,
)
from recollect.faces.rest.openapi import schema
from recollect.ingest.requested import Requested
from recollect.record import Message
from recollect.search.query.request import Filters
from recollect.search.results.result import SearchResults

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


# Search, and the tools of a model, for programs that hand them to one.

search_routes = family("search")


def filters(
    source: Several = None,
    role: Several = None,
    kind: Several = None,
    conversation: str | None = None,
    since: Since = None,
    until: Until = None,
    before: Before = None,
    mode: Literal["auto", "instant", "quality"] = "auto",
) -> Filters:
    """What the address narrows a search to."""
    return Filters.of(
        source=source,
        role=role,
        kind=kind,
        conversation=conversation,
        since=since,
        until=until,
        before=before,
        mode=mode,
    )


@search_routes.get("/search", response_model=schema(SearchResults))
def search(
    memory: Scoped,
    cursor: Paged,
    query: SearchQuery,
    filters: Annotated[Filters, Depends(filters)],
    limit: Limit = 10,
    group_by: Literal["conversation", "message"] = "conversation",
    sort: Literal["relevance", "newest"] = "relevance",
    literal: bool = False,
    facets: Annotated[bool, Query(description="Also counts what matches, by what it can be filtered by.")] = False,
) -> dict[str, Any]:
    """Finds messages by meaning, words and relation, grouped by conversation or one by one."""
    found = memory.search(
        query,
        limit=limit,
        offset=cursor.offset,
        group_by=group_by,
        sort=sort,
        literal=literal,
        facets=facets,
        **filters.given,
    )
    return found.to_json() | {"next": cursor.following(found.next)}


@search_routes.get("/vector-search")
def vector_search(
    memory: Scoped, cursor: Paged, query: SearchQuery, limit: Limit = 10, include_tool_calls: bool = True
) -> PageView[FoundText]:
    """The index of what a query finds: each with an id that opens it, and what that costs in tokens."""
    found = memory.toolbox().vector_search(query, limit + 1, cursor.offset, include_tool_calls=include_tool_calls)
    return cursor.rest(found, limit)


@search_routes.get("/retrieve")
def search_and_retrieve(
    memory: Scoped, query: SearchQuery, limit: Annotated[int, Query(ge=1, le=100)] = 5
) -> PageView[Message]:
    """What a query finds, loaded at once: whole messages, of long ones the piece that fits."""
    return PageView(memory.toolbox().search_and_retrieve(query, limit))


tools_routes = family("tools of a model")


@tools_routes.get("/tools")
def toolbox(
    memory: Scoped, provider: Literal["anthropic", "openai", "openai-responses"] = "anthropic", read_only: bool = False
) -> ToolDescriptions:
    """What a model is told of the tools."""
    return ToolDescriptions(memory.toolbox(read_only=read_only).schemas(provider))


@tools_routes.post("/tools/{name}", dependencies=[ONCE], openapi_extra=calls("toolbox"))
def call_tool(
    memory: Scoped, name: Annotated[str, Path(examples=["vector_search"])], called: ToolArguments
) -> ToolAnswer:
    """Does what a model asks. What is wrong with a call comes back as an answer that says what to do instead."""
    box = memory.toolbox(max_tokens=called.max_tokens, read_only=called.read_only)
    return box.call(name, called.arguments)
