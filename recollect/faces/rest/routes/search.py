"""Search: what was said, by meaning, words and relation."""

from __future__ import annotations

from typing import Annotated, Literal, cast

from fastapi import Query

from recollect.faces.http.scope import Scoped
from recollect.faces.rest.cursors import Paged
from recollect.faces.rest.routes.family import Before, Limit, Several, Since, Until, calls, family
from recollect.faces.rest.schemas.base import Page
from recollect.faces.rest.schemas.found import Found, FoundText
from recollect.faces.rest.schemas.records import Message
from recollect.record import RoleName

routes = family("search")

Query_ = Annotated[
    str,
    Query(
        alias="q",
        description='May hold filters: `source:claude since:2025-03 role:user "exact phrase" -word`.',
        examples=["that sourdough hydration trick"],
    ),
]


@routes.get("/search", openapi_extra=calls("search", "recall"))
def search(
    memory: Scoped,
    cursor: Paged,
    query: Query_,
    limit: Limit = 10,
    group_by: Literal["conversation", "message"] = "conversation",
    source: Several = None,
    role: Several = None,
    kind: Several = None,
    conversation: str | None = None,
    since: Since = None,
    until: Until = None,
    before: Before = None,
    mode: Literal["auto", "instant", "quality"] = "auto",
    sort: Literal["relevance", "newest"] = "relevance",
    literal: bool = False,
    facets: Annotated[bool, Query(description="Also counts what matches, by what it can be filtered by.")] = False,
) -> Found:
    """Finds messages by meaning, words and relation, grouped by conversation or one by one."""
    found = memory.search(
        query,
        limit=limit,
        offset=cursor.offset,
        group_by=group_by,
        source=source or (),
        role=cast("list[RoleName]", role or []),
        kind=kind or (),
        conversation=conversation,
        since=since,
        until=until,
        before=before,
        mode=mode,
        sort=sort,
        literal=literal,
        facets=facets,
    )
    return Found.model_validate(found.to_json() | {"next": cursor.following(found.next)})


@routes.get("/vector-search")
def vector_search(
    memory: Scoped, cursor: Paged, query: Query_, limit: Limit = 10, include_tool_calls: bool = True
) -> Page[FoundText]:
    """The index of what a query finds: each with an id that opens it, and what that costs in tokens."""
    found = memory.toolbox().vector_search(query, limit + 1, cursor.offset, include_tool_calls=include_tool_calls)
    items, following = cursor.rest(found, limit)
    return Page[FoundText].model_validate({"items": items, "next": following})


@routes.get("/retrieve")
def search_and_retrieve(memory: Scoped, query: Query_, limit: Annotated[int, Query(ge=1, le=100)] = 5) -> Page[Message]:
    """What a query finds, loaded at once: whole messages, of long ones the piece that fits."""
    return Page[Message].model_validate({"items": memory.toolbox().search_and_retrieve(query, limit)})
