"""Search: what is remembered of it, typed; the messages, shown, as one types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

from fastapi import APIRouter, Depends, Query, Request, Response

from recollect.errors import InvalidInput, RecollectError, StoreError
from recollect.faces.http.problems import status_of, told
from recollect.faces.http.scope import Scoped, served
from recollect.faces.web.asked import LIMIT, SearchParameters
from recollect.faces.web.before import BeforeSearch, Listed
from recollect.faces.web.found import EmptyResultsPage, SearchResultsPage
from recollect.faces.web.page import address, page, wants_json, wants_part
from recollect.memory import Memory
from recollect.search.query.request import GroupBy, Sort

if TYPE_CHECKING:
    from recollect.memory import Memory

router = APIRouter()

Names = Annotated[list[str], Query()]


def asked(
    q: str = "",
    source: Names = [],  # noqa: B006 - FastAPI copies it
    role: Names = [],  # noqa: B006
    kind: Names = [],  # noqa: B006
    since: str = "",
    until: str = "",
    month: str = "",
    in_: Annotated[str, Query(alias="in")] = "",
    sort: str = "",
    group: str = "",
    literal: bool = False,
    from_: Annotated[int, Query(alias="from", ge=0)] = 0,
) -> SearchParameters:
    """The search that an address asks for."""
    return SearchParameters(
        q=q.strip(),
        source=_given(source),
        role=_given(role),
        kind=_given(kind),
        since=since.strip() or month,
        until=until.strip() or month,
        in_=in_.strip(),
        sort="newest" if sort == "newest" else "",
        group="message" if group == "message" else "",
        literal=literal,
        offset=from_,
    )


def _given(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


@router.get("/search")
def search(
    request: Request,
    memory: Scoped,
    asked: Annotated[SearchParameters, Depends(asked)],
    every: Annotated[bool, Query(alias="all")] = False,
) -> Response:
    """Results, grouped by conversation, with what they can be filtered by; before a search, where to begin, or the
    conversations of a filter.
    """
    shown = address("/search", request, **asked.query(offset=asked.offset), all="1" if every else "")
    if not asked.q and (every or asked.source or asked.since or asked.until):
        return _listed(request, memory, asked, shown)
    if not asked.q:
        before = BeforeSearch(memory)
        parts: dict[str, Any] = {"asked": asked, "state": "before", "before": before}
        return _at(shown, page(request, "search.html", data=before.to_json, fragment="results", **parts))
    try:
        found = memory.search(
            asked.q,
            limit=LIMIT,
            offset=asked.offset,
            group_by=cast("GroupBy", asked.group or "conversation"),
            sort=cast("Sort", asked.sort or "relevance"),
            facets=True,
            **asked.filters(),
        )
    except (InvalidInput, StoreError) as problem:
        return _problem(request, asked, problem)
    context: dict[str, Any] = {"asked": asked, "state": "found" if found.total or found.documents else "nothing"}
    if context["state"] == "found":
        context["page"] = SearchResultsPage(found, asked, request)
        if asked.offset and wants_part(request):  # they are put behind those before them
            return page(request, "search-hits.html", fragment="hits", **context)
    elif not wants_json(request):
        context["nothing"] = EmptyResultsPage(memory, found, asked)
    return _at(shown, page(request, "search.html", data=found, fragment="results", **context))


def _listed(request: Request, memory: Memory, asked: SearchParameters, shown: str) -> Response:
    """Conversations, newest first."""
    try:
        listed = Listed.read(memory, asked, shown)
    except (InvalidInput, StoreError) as problem:
        return _problem(request, asked, problem)
    context: dict[str, Any] = {"asked": asked, "state": "listed", "listed": listed}
    if asked.offset and wants_part(request):
        return page(request, "search-rows.html", fragment="rows", **context)
    return _at(shown, page(request, "search.html", data=listed.to_json, fragment="results", **context))


def _at(shown: str, answer: Response) -> Response:
    """The answer, with the address that the browser shows then."""
    answer.headers["HX-Replace-Url"] = shown
    return answer


def _problem(request: Request, asked: SearchParameters, problem: RecollectError) -> Response:
    """What is wrong with the search, or that nobody could look: never that nothing is there."""
    problem = served(request).public(problem)
    status = status_of(problem)
    if wants_json(request):
        return told(problem)
    state = "unknown" if isinstance(problem, StoreError) else "wrong"
    return page(request, "search.html", status=status, fragment="results", asked=asked, state=state, problem=problem)
