"""Search: what is remembered of it, typed; the messages, shown, as one types."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from recollect.errors import InvalidInput, RecollectError, StoreError
from recollect.faces.http.problems import status_of, told
from recollect.faces.http.scope import Scoped
from recollect.faces.web.before import BeforeSearch
from recollect.faces.web.found import Found, Nothing
from recollect.faces.web.page import address, page, wants_json

router = APIRouter()

LIMIT, MOST = 10, 200  # results
LETTERS = 2  # from which a search begins

Names = Annotated[list[str], Query()]


@dataclass(frozen=True)
class Asked:
    """What a search page is asked for, as its address says it. `month` is one month, instead of since and until."""

    q: str = ""
    source: tuple[str, ...] = ()
    role: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    in_: str = ""
    sort: str = ""
    group: str = ""
    literal: bool = False
    n: int = LIMIT

    def query(self, **changed: Any) -> dict[str, object]:
        """The parameters of the address of this search, or of one that differs a little from it."""
        one = replace(self, **{"n": LIMIT, **changed})
        return {
            "q": one.q,
            "source": one.source,
            "role": one.role,
            "kind": one.kind,
            "since": one.since,
            "until": one.until,
            "in": one.in_,
            "sort": one.sort,
            "group": one.group,
            "literal": "1" if one.literal else "",
            "n": one.n if one.n != LIMIT else "",
        }

    def filters(self) -> dict[str, Any]:
        """What the façade takes."""
        return {
            "source": self.source,
            "role": self.role,
            "kind": self.kind,
            "since": self.since or None,
            "until": self.until or None,
            "conversation": self.in_ or None,
            "literal": self.literal,
        }

    @property
    def is_filtered(self) -> bool:
        """Whether less than everything is searched."""
        return bool(self.source or self.role or self.kind or self.since or self.until or self.in_)


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
    n: Annotated[int, Query(ge=1)] = LIMIT,
) -> Asked:
    """The search that an address asks for."""
    return Asked(
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
        n=min(n, MOST),
    )


def _given(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


@router.get("/search")
def search(request: Request, memory: Scoped, asked: Annotated[Asked, Depends(asked)]) -> Response:
    """Results, grouped by conversation, with what they can be filtered by; before a search, where to begin."""
    shown = address("/search", request, **asked.query(n=asked.n))
    if len(asked.q) < LETTERS and not any(character > "\u2e7f" for character in asked.q):
        before = BeforeSearch(memory)
        parts: dict[str, Any] = {"asked": asked, "state": "before", "before": before}
        return _at(shown, page(request, "search.html", data=before.to_json, fragment="results", **parts))
    try:
        found = memory.search(
            asked.q,
            limit=asked.n,
            group_by=asked.group or "conversation",
            sort=asked.sort or "relevance",
            facets=True,
            **asked.filters(),
        )
    except (InvalidInput, StoreError) as problem:
        return _problem(request, asked, problem)
    context: dict[str, Any] = {"asked": asked, "state": "found" if found or found.documents else "nothing"}
    if context["state"] == "found":
        context["page"] = Found(found, asked, request)
    elif not wants_json(request):
        context["nothing"] = Nothing(memory, found, asked)
    return _at(shown, page(request, "search.html", data=found.to_json, fragment="results", **context))


def _at(shown: str, answer: Response) -> Response:
    """The answer, with the address that the browser shows then."""
    answer.headers["HX-Replace-Url"] = shown
    return answer


def _problem(request: Request, asked: Asked, problem: RecollectError) -> Response:
    """What is wrong with the search, or that nobody could look: never that nothing is there."""
    status = status_of(problem)
    if wants_json(request):
        return told(problem)
    state = "unknown" if isinstance(problem, StoreError) else "wrong"
    return page(request, "search.html", status=status, fragment="results", asked=asked, state=state, problem=problem)
