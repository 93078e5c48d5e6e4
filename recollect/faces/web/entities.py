"""Who and what is mentioned: the list of names, and all about one; named anew, merged, pinned, forgotten by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Form, Query
from starlette.requests import Request
from starlette.responses import Response

from recollect.errors import NotFound
from recollect.faces.http.scope import Scoped
from recollect.faces.present.knowledge import entity_as_json
from recollect.faces.present.times import day
from recollect.faces.web.back import back_to
from recollect.faces.web.graph import quotations
from recollect.faces.web.graphing.kinds import KINDS, TOGETHER, kind_of, worded
from recollect.faces.web.page import page

if TYPE_CHECKING:
    from recollect.derive.entities.entity import Entity

router = APIRouter()

_EVERY = 50_000
_SHOWN = 100  # names of a page
_MESSAGES = 12  # that are quoted of one
_RELATIONS = 8

#: What can be said of a name by hand.
TYPES = tuple(one for kind in KINDS for one in kind.types)


@router.get("/entities")
def entities(
    request: Request, memory: Scoped, q: str = "", kind: str = "", start: Annotated[int, Query(ge=0)] = 0
) -> Response:
    """All names, the most salient first."""
    every = memory.entities(limit=_EVERY)
    wanted = q.strip().casefold()
    named = [one for one in every if not wanted or any(wanted in name.casefold() for name in _names(one))]
    chosen = [one for one in named if kind in ("", kind_of(one.type).name)]
    shown = chosen[start : start + _SHOWN]
    return page(
        request,
        "entities.html",
        data=lambda: {"entities": [entity_as_json(one) for one in shown], "more": len(chosen) > start + _SHOWN},
        here="/graph",
        shown=shown,
        total=len(every),
        matching=len(chosen),
        counts=[(one, sum(kind_of(e.type) is one for e in named)) for one in KINDS],
        q=q,
        kind=kind,
        before=max(start - _SHOWN, 0) if start else None,
        after=start + _SHOWN if len(chosen) > start + _SHOWN else None,
    )


@router.get("/entity")
def entity(request: Request, memory: Scoped, name: str, edit: str = "", done: str = "") -> Response:
    """One: what it is called, its facts and relations, and what is said of it. Raises NotFound."""
    try:
        one = memory.knowledge.entity(name)
    except NotFound as missing:
        if done != "forgotten":
            raise
        return page(request, "entity.html", data={"forgotten": name}, here="/graph", one=None, name=name, hint=missing)
    around = memory.knowledge.graph(one.name, limit=60)
    relations = [r for r in around.relations if one.id in (r.source_id, r.target_id)]
    relations.sort(key=lambda r: (r.name == TOGETHER, -r.weight, str(r)))
    return page(
        request,
        "entity.html",
        data=lambda: {"entity": entity_as_json(one)},
        here="/graph",
        one=one,
        name=name,
        facts=memory.facts(one.name),
        relations=relations[:_RELATIONS],
        more=max(0, len(relations) - _RELATIONS),
        quoted=quotations(memory, memory.knowledge.mentions(one.name, limit=_MESSAGES), (one,)),
        shown=_MESSAGES,
        types=TYPES,
        worded=worded,
        day=day,
        edit=edit,
        others=[other.name for other in memory.entities(limit=200) if other.id != one.id] if edit == "merge" else [],
    )


@router.post("/entity/{action}")
def correct(
    memory: Scoped,
    action: str,
    name: Annotated[str, Form()],
    new_name: Annotated[str, Form()] = "",
    type: Annotated[str, Form()] = "",
    into: Annotated[str, Form()] = "",
    back: Annotated[str, Form()] = "/entity",
) -> Response:
    """What is said of a name by hand; then its page. Raises NotFound, InvalidInput."""
    done: dict[str, Callable[[], Entity]] = {
        "edit": lambda: memory.knowledge.edit_entity(name, new_name.strip() or None, type=type or None),
        "pin": lambda: memory.knowledge.pin_entity(name),
        "unpin": lambda: memory.knowledge.pin_entity(name, pinned=False),
        "merge": lambda: memory.knowledge.merge_entities(name, into.strip()),
        "unmerge": lambda: memory.knowledge.unmerge_entity(name),
        "forget": lambda: memory.knowledge.forget_entity(name),
        "undo": lambda: memory.knowledge.undo_entity(name),
    }
    if action not in done:
        raise NotFound(f"Nothing is called {action!r} that can be done to a name.", hint=f"One of: {', '.join(done)}.")
    found = done[action]()
    if action == "forget":
        return back_to(back, "/entity", name=name, done="forgotten")
    return back_to(back, "/entity", name=found.name)


def _names(one: Entity) -> list[str]:
    return [one.name, *(alias.name for alias in one.aliases)]
