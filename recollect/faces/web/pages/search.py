"""The search page: results as you type; before a search, examples and the newest conversations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, cast
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from recollect.errors import InvalidInput, RecollectError, StoreError
from recollect.faces.http.answers import status_of, told
from recollect.faces.http.scope import Scoped, served
from recollect.faces.present.results import EmptyResults
from recollect.faces.web.page import address, page, wants_json, wants_part
from recollect.faces.web.views.search_results import LIMIT, SearchParameters, SearchResultsPage
from recollect.memory import ConversationRow, Memory
from recollect.record import Kind, Role
from recollect.search.query.request import GroupBy, Sort

_EXAMPLES, _LATELY = 3, 8
_LISTED = 50  # conversations of a page
_READ = 12  # messages at the end of a conversation, for a question of one's own

#: A question that stands alone: no code, no address, and not the end of a thought begun before.
_QUESTION = re.compile(r"(?:^|(?<=[.!?]\s))[^\W\d_][^.!?:;\n`<>{}=/\\()|*\[\]]{14,70}\?(?=\s|$)", re.MULTILINE)
_LEANS = re.compile(r"(?:and|but|so|ok|okay|or|also|then|it|that|this|e|mas|und|aber|och|men)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Listed:
    """The conversations that a search without words is about, newest first; `further` is the address of the next."""

    rows: list[ConversationRow]
    further: str
    next: int | None

    @classmethod
    def read(cls, memory: Memory, asked: SearchParameters, shown: str) -> Listed:
        """Those of a page whose address is `shown`. Raises InvalidInput."""
        rows = memory.conversations(
            source=asked.source,
            since=asked.since or None,
            until=asked.until or None,
            limit=_LISTED + 1,
            offset=asked.offset,
        )
        next_ = asked.offset + _LISTED if len(rows) > _LISTED else None
        path, _, query = shown.partition("?")
        kept = [(name, value) for name, value in parse_qsl(query) if name != "from"]
        further = f"{path}?{urlencode([*kept, ('from', str(next_))])}" if next_ else ""
        return cls(rows[:_LISTED], further, next_)

    def to_json(self) -> dict[str, Any]:
        """What is listed."""
        return {
            "conversations": self.rows,
            "next": self.next,
        }


@dataclass(frozen=True)
class BeforeSearch:
    """Read when it is shown."""

    memory: Memory

    def to_json(self) -> dict[str, Any]:
        """What there is to begin with."""
        return {
            "examples": self.examples,
            "lately": [{"id": row.conversation.id, "title": row.conversation.title} for row in self.lately],
        }

    @cached_property
    def lately(self) -> list[ConversationRow]:
        """The newest conversations."""
        return self.memory.conversations(limit=_LATELY)

    @cached_property
    def examples(self) -> list[str]:
        """What could be searched for: questions once asked, one of a conversation, else what many are about."""
        found = list(dict.fromkeys(self._questions()))[:_EXAMPLES]
        if len(found) < _EXAMPLES:
            found += [topic.label.replace(",", "") for topic in self.memory.topics(limit=_EXAMPLES - len(found))]
        return found

    def _questions(self) -> Iterator[str]:
        for row in self.lately:
            said = self.memory.latest(row.conversation.id, limit=_READ)
            asked = (m.content for m in said if m.role is Role.USER and m.kind is Kind.SAID)
            whole = (one for text in asked for one in _QUESTION.findall(text) if one.count(" ") > 1)
            if question := next((one for one in whole if not _LEANS.match(one)), ""):
                yield question


router = APIRouter()

Names = Annotated[list[str], Query()]


def search_parameters(
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
    asked: Annotated[SearchParameters, Depends(search_parameters)],
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
            **asked.options,
        )
    except (InvalidInput, StoreError) as problem:
        return _problem(request, asked, problem)
    context: dict[str, Any] = {
        "asked": asked,
        "state": "found" if found.total or found.documents or found.derived else "nothing",
    }
    if context["state"] == "found":
        context["page"] = SearchResultsPage(found, asked, request)
        if asked.offset and wants_part(request):  # they are put behind those before them
            return page(request, "search-hits.html", fragment="hits", **context)
    elif not wants_json(request):
        context["nothing"] = EmptyResults(memory, found, asked.q, asked.options)
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
