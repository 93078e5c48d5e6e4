"""Search, and the tools of a model, for programs that hand them to one."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Depends, Path, Query

from recollect.answer.tools.base import FoundText, ToolAnswer
from recollect.faces.http.once import ONCE
from recollect.faces.http.scope import Scoped
from recollect.faces.present.results import PageView, ToolDescriptions
from recollect.faces.rest.base import Before, Limit, Paged, SearchQuery, Several, Since, Until, calls, family
from recollect.faces.rest.bodies import ToolArguments
from recollect.faces.rest.schema import schema
from recollect.record import Message
from recollect.search.query.request import Filters
from recollect.search.results.result import SearchResults

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
