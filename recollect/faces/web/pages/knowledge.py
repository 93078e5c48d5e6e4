"""Facts, names and the graph between them, with corrections by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Form, Query
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from recollect.errors import NotFound
from recollect.faces.http.scope import Scoped, ServedHere
from recollect.faces.present.names import day
from recollect.faces.web.page import back_to, page
from recollect.faces.web.views.graph_drawing import AT_FIRST, MOST, GraphDrawing, draw_graph
from recollect.faces.web.views.graph_layout import ENTITY_GROUPS, TOGETHER, SavedPositions, group_of, relation_words
from recollect.faces.web.wording import marked
from recollect.record import utc_now

if TYPE_CHECKING:
    from recollect.derive.entities.entity import Entity
    from recollect.derive.facts.fact import Fact
    from recollect.derive.graph.reader import Relation
    from recollect.memory import Memory
    from recollect.record import Message


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
class SubjectFacts:
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
        data=lambda: {"facts": shown, "more": len(chosen) > first + _SHOWN},
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
def correct_fact(
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


def _grouped(memory: Memory, facts: Sequence[Fact]) -> list[SubjectFacts]:
    """Facts by whom they are about, in the order of the first of each."""
    by_entity: dict[str, list[Fact]] = {}
    for fact in facts:
        by_entity.setdefault(fact.entity, []).append(fact)
    known = {name.casefold(): one for one in memory.entities(limit=_NAMES) for name in _spellings(one)} if facts else {}
    return [
        SubjectFacts(key, _called(key, known.get(key.casefold())), known.get(key.casefold()), tuple(group))
        for key, group in by_entity.items()
    ]


def _spellings(entity: Entity) -> list[str]:
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


_OFFERED = 12  # other names to start from
_ROWS = 150
_GRAPH_MESSAGES = 50  # that mention two names
_AROUND = 110  # characters of a message before and after a name


@dataclass(frozen=True, slots=True)
class TableRow:
    """A relation of the name in focus, as a row: in words, with whom, by how many messages; and when it holds, or else
    the years of its messages.
    """

    words: str
    other: str
    relation: Relation
    when: str


@dataclass(frozen=True, slots=True)
class QuotedMessage:
    """A message with the part of it that mentions names."""

    message: Message
    title: str
    source: str
    excerpt: Markup


@router.get("/graph")
def graph(
    request: Request,
    memory: Scoped,
    served: ServedHere,
    start: Annotated[str, Query(alias="from")] = "",
    grow: Annotated[list[str] | None, Query()] = None,
    kind: str = "",
    depth: Annotated[int, Query(ge=1, le=3)] = 1,
    limit: Annotated[int, Query(ge=1, le=MOST)] = AT_FIRST,
) -> Response:
    """The names around one, the most salient where none is named; each of `grow` brings those around it."""
    offered = memory.entities(limit=_OFFERED)
    name = start.strip() or next((one.name for one in offered), "")
    if not name:
        return page(request, "graph.html", data={"entities": [], "relations": []}, picture=None, missing=None)
    kept = SavedPositions(served.places.state, memory.location, str(memory.namespace))
    try:
        picture = draw_graph(memory, name, grow or [], kept, utc_now(), depth=depth, limit=limit, kind=kind)
    except NotFound as missing:
        return page(
            request,
            "graph.html",
            status=404,
            data={"error": {"code": missing.code, "message": missing.message, "hint": missing.hint}},
            picture=None,
            missing=missing,
            name=name,
            offered=offered,
        )
    return page(
        request,
        "graph.html",
        fragment="twin",
        data=picture.as_json,
        picture=picture,
        missing=None,
        rows=_rows(memory, picture),
        offered=[one for one in offered if one.id != picture.center.id],
        names=len(memory.entities(limit=50_000)),
        facts=len(memory.facts(picture.focus.name)),
        grown=grow or [],
        kinds=ENTITY_GROUPS,
        kind=kind,
        depth=depth,
    )


@router.get("/graph/between")
def between(request: Request, memory: Scoped, a: str, b: str) -> Response:
    """The messages that link two names; where no message does, the ways from one to the other. Raises NotFound."""
    one, other = memory.knowledge.entity(a), memory.knowledge.entity(b)
    ids = [
        evidence
        for relation in memory.knowledge.graph(one.name, limit=MOST).relations
        if {relation.source_id, relation.target_id} == {one.id, other.id}
        for evidence in relation.evidence
    ]
    found = {message.id: message for message in (*memory.knowledge.mentions(one.name, other.name, _GRAPH_MESSAGES),)}
    found |= {message.id: message for message in memory.messages(i for i in ids if i not in found)}
    messages = sorted(found.values(), key=lambda m: (m.timestamp is None, m.timestamp, m.id), reverse=True)
    paths = None if messages else memory.knowledge.paths(one.name, other.name)
    quoted = quotations(memory, messages, (one, other))
    return page(
        request,
        "between.html",
        data=lambda: {"messages": [m.id for m in messages], "paths": [str(p) for p in paths.paths] if paths else []},
        here="/graph",
        one=one,
        other=other,
        quoted=quoted,
        paths=paths,
        worded=relation_words,
    )


def quotations(memory: Memory, messages: Sequence[Message], entities: Sequence[Entity]) -> list[QuotedMessage]:
    """Messages, each cut to where it first mentions the last of these names, all of them marked."""
    shown = {row: memory.integration.conversation_named(row) for row in {m.conversation_id for m in messages}}
    return [
        QuotedMessage(
            message, talk.title if talk else "", talk.source if talk else "", _excerpt(message.content, entities)
        )
        for message in messages
        for talk in (shown[message.conversation_id],)
    ]


def _excerpt(text: str, entities: Sequence[Entity]) -> Markup:
    spellings = [{one.name, *(alias.name for alias in one.aliases)} for one in entities]
    patterns = [
        re.compile("|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)), re.IGNORECASE)
        for names in spellings
    ]
    firsts = [found.start() for pattern in patterns if (found := pattern.search(text))]
    at = max(firsts, default=0)
    start, end = max(0, at - _AROUND), min(len(text), at + _AROUND)
    if start:
        start = text.find(" ", start, at) + 1 or start
    if end < len(text):
        end = max(text.rfind(" ", at, end), at + 1) if " " in text[at:end] else end
    cut = f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
    marks = sorted(found.span() for pattern in patterns for found in pattern.finditer(cut))
    return marked(cut, marks)


def _rows(memory: Memory, picture: GraphDrawing) -> list[TableRow]:
    every = [link.relation for link in picture.links]
    own = [relation for relation in every if picture.focus.id in (relation.source_id, relation.target_id)]
    own.sort(key=lambda r: (r.name == TOGETHER, -r.weight, r.source, r.target))
    own = own[:_ROWS]
    times = {m.id: m.timestamp for m in memory.messages({i for relation in own for i in relation.evidence})}
    return [_row(relation, picture.focus, [t for i in relation.evidence if (t := times.get(i))]) for relation in own]


def _row(relation: Relation, focus: Entity, times: Sequence[datetime]) -> TableRow:
    backwards = relation.target_id == focus.id
    years = sorted({time.year for time in times})
    span = "" if not years else str(years[0]) if len(years) == 1 else f"{years[0]}–{str(years[-1])[2:]}"
    other = relation.source if backwards else relation.target
    when = relation.when(day) or span
    return TableRow(relation_words(relation.name, backwards=backwards), other, relation, when)


_EVERY = 50_000
_ENTITIES_SHOWN = 100  # names of a page
_MESSAGES = 12  # that are quoted of one
_RELATIONS = 8

#: What can be said of a name by hand.
TYPES = tuple(one for kind in ENTITY_GROUPS for one in kind.types)


@router.get("/entities")
def entities(
    request: Request, memory: Scoped, q: str = "", kind: str = "", start: Annotated[int, Query(ge=0)] = 0
) -> Response:
    """All names, the most salient first."""
    every = memory.entities(limit=_EVERY)
    wanted = q.strip().casefold()
    named = [one for one in every if not wanted or any(wanted in name.casefold() for name in _spellings(one))]
    chosen = [one for one in named if kind in ("", group_of(one.type).name)]
    shown = chosen[start : start + _ENTITIES_SHOWN]
    return page(
        request,
        "entities.html",
        data=lambda: {
            "entities": shown,
            "more": len(chosen) > start + _ENTITIES_SHOWN,
        },
        here="/graph",
        shown=shown,
        total=len(every),
        matching=len(chosen),
        counts=[(one, sum(group_of(e.type) is one for e in named)) for one in ENTITY_GROUPS],
        q=q,
        kind=kind,
        before=max(start - _ENTITIES_SHOWN, 0) if start else None,
        after=start + _ENTITIES_SHOWN if len(chosen) > start + _ENTITIES_SHOWN else None,
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
        data=lambda: {"entity": one},
        here="/graph",
        one=one,
        name=name,
        facts=memory.facts(one.name),
        relations=relations[:_RELATIONS],
        more=max(0, len(relations) - _RELATIONS),
        quoted=quotations(memory, memory.knowledge.mentions(one.name, limit=_MESSAGES), (one,)),
        shown=_MESSAGES,
        types=TYPES,
        worded=relation_words,
        day=day,
        edit=edit,
        others=[other.name for other in memory.entities(limit=200) if other.id != one.id] if edit == "merge" else [],
    )


@router.post("/entity/{action}")
def correct_entity(
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
