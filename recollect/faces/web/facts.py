"""The page of facts: rules, and what holds now or held before with its proofs; corrected, pinned, merged, forgotten."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import Response

from recollect.errors import NotFound
from recollect.faces.http.scope import Scoped
from recollect.faces.present.knowledge import fact_as_json
from recollect.faces.present.times import day
from recollect.faces.web.back import back_to
from recollect.faces.web.page import page
from recollect.record import utc_now

if TYPE_CHECKING:
    from recollect.derive.entities.entity import Entity
    from recollect.derive.facts.fact import Fact
    from recollect.memory import Memory

router = APIRouter()

_SHOWN = 60  # facts of a page
_UNSURE = 0.6  # confidence, from which on nobody doubts
_NAMES = 50_000
_OF_YOU = "user's "

#: The tabs, with what belongs in each.
_TABS: Mapping[str, tuple[str, Callable[[Fact, datetime], bool]]] = {
    "now": ("Now", lambda fact, now: _holds(fact, now)),
    "then": ("Then", lambda fact, now: not _holds(fact, now)),
    "unsure": ("Unsure", lambda fact, now: _holds(fact, now) and fact.confidence < _UNSURE),
    "mine": ("Corrected by you", lambda fact, _: fact.corrected),
}


@dataclass(frozen=True, slots=True)
class Tab:
    """A choice among the facts, with how many there are."""

    name: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class About:
    """Whom or what facts are about: how it is called, and the entity of that name, if messages mention one."""

    key: str
    name: str
    entity: Entity | None
    facts: tuple[Fact, ...]


@router.get("/facts")
def facts(
    request: Request,
    memory: Scoped,
    about: str = "",
    tab: str = "now",
    as_of: str = "",
    start: int = 0,
    edit: str = "",
    merge: str = "",
    forgotten: str = "",
) -> Response:
    """The facts of a tab, or those that were believed at a time, by whom they are about."""
    now, first = utc_now(), max(start, 0)
    every = memory.facts(about.strip() or None, include_past=True)
    tabs = [Tab(name, label, sum(holds(fact, now) for fact in every)) for name, (label, holds) in _TABS.items()]
    tab = tab if tab in _TABS else "now"
    chosen = (
        memory.facts(about.strip() or None, as_of) if as_of else [fact for fact in every if _TABS[tab][1](fact, now)]
    )
    shown = chosen[first : first + _SHOWN]
    are_rules_shown = not (about or as_of or first) and tab == "now"
    rules, offered = (memory.knowledge.rules(), memory.knowledge.rules(offered=True)) if are_rules_shown else ([], [])
    return page(
        request,
        "facts.html",
        data=lambda: {"facts": [fact_as_json(fact) for fact in shown], "more": len(chosen) > first + _SHOWN},
        here="/facts",
        day=day,
        groups=_grouped(memory, shown),
        opens=_places(memory, [*shown, *rules, *offered]),
        are_rules_shown=are_rules_shown,
        rules=rules,
        offered=offered,
        tabs=tabs,
        tab=tab,
        about=about,
        as_of=as_of,
        total=len(every),
        matching=len(chosen),
        before=max(first - _SHOWN, 0) if first else None,
        after=first + _SHOWN if len(chosen) > first + _SHOWN else None,
        edit=edit,
        merge=merge,
        forgotten=forgotten if forgotten.isalnum() else "",
    )


@router.post("/facts/rules")
def add_rule(memory: Scoped, back: Annotated[str, Form()] = "/facts", content: Annotated[str, Form()] = "") -> Response:
    """Keeps a rule for every answer. Raises InvalidInput."""
    return back_to(back, "/facts", at=f"f-{memory.knowledge.add_rule(content).id}")


@router.post("/facts/{id}/{action}")
def correct(
    request: Request,
    memory: Scoped,
    id: str,
    action: str,
    back: Annotated[str, Form()] = "/facts",
    content: Annotated[str, Form()] = "",
    other: Annotated[str, Form()] = "",
) -> Response:
    """What is done to a fact by hand; then the page where it was done. Raises NotFound, InvalidInput."""
    from recollect.derive.facts.fact import Fact

    done: dict[str, Callable[[], Fact | str | Sequence[Fact]]] = {
        "edit": lambda: memory.knowledge.edit_fact(id, content),
        "pin": lambda: memory.knowledge.pin_fact(id),
        "unpin": lambda: memory.knowledge.pin_fact(id, pinned=False),
        "merge": lambda: memory.knowledge.merge_facts(id, other),
        "forget": lambda: memory.knowledge.forget_fact(id),
        "undo": lambda: memory.knowledge.undo_fact(id),
    }
    if action not in done:
        raise NotFound(f"Nothing is called {action!r} that can be done to a fact.", hint=f"One of: {', '.join(done)}.")
    left = done[action]()
    if isinstance(left, str):
        return back_to(back, "/given" if back.startswith("/given") else "/facts", forgotten=left)
    facts = [left] if isinstance(left, Fact) else left
    return back_to(back, "/facts", at=f"f-{facts[0].id}" if facts else "")


def _holds(fact: Fact, now: datetime) -> bool:
    return fact.holds(now)


def _grouped(memory: Memory, facts: Sequence[Fact]) -> list[About]:
    """Facts by whom they are about, in the order of the first of each."""
    by_entity: dict[str, list[Fact]] = {}
    for fact in facts:
        by_entity.setdefault(fact.entity, []).append(fact)
    known = {name.casefold(): one for one in memory.entities(limit=_NAMES) for name in _names(one)} if facts else {}
    return [
        About(key, _called(key, known.get(key.casefold())), known.get(key.casefold()), tuple(group))
        for key, group in by_entity.items()
    ]


def _names(entity: Entity) -> list[str]:
    return [entity.name, *(alias.name for alias in entity.aliases)]


def _called(key: str, entity: Entity | None) -> str:
    """How a person calls it: "You", "Your mother", "Bruno"."""
    if entity is not None:
        return entity.name
    if key in ("user", ""):
        return "You"
    if key.startswith(_OF_YOU):
        return f"Your {key.removeprefix(_OF_YOU)}"
    return key[:1].upper() + key[1:]


def _places(memory: Memory, facts: Sequence[Fact]) -> dict[str, str]:
    """The conversations of the messages that prove these facts and what held before."""
    every = [one for fact in facts for one in (fact, *fact.history)]
    ids = {proof.message_id for fact in every for proof in fact.proofs}
    return {message.id: message.conversation_id for message in memory.messages(sorted(ids))}
