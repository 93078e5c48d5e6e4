"""The graph: what lies around a name, as a picture and as a table; what two names have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from recollect.errors import NotFound
from recollect.faces.http.scope import Scoped, ServedHere
from recollect.faces.present.times import day
from recollect.faces.web.graphing.kept import KeptPlaces
from recollect.faces.web.graphing.kinds import KINDS, TOGETHER, worded
from recollect.faces.web.graphing.picture import AT_FIRST, MOST, Picture, pictured
from recollect.faces.web.page import page
from recollect.faces.web.wording import marked
from recollect.record import utc_now

if TYPE_CHECKING:
    from recollect.derive.entities.entity import Entity
    from recollect.derive.graph.relation import Relation
    from recollect.memory import Memory
    from recollect.record import Message

router = APIRouter()

_OFFERED = 12  # other names to start from
_ROWS = 150
_MESSAGES = 50  # that mention two names
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
class Quoted:
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
    kept = KeptPlaces(served.places.state, memory.location, str(memory.namespace))
    try:
        picture = pictured(memory, name, grow or [], kept, utc_now(), depth=depth, limit=limit, kind=kind)
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
        kinds=KINDS,
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
    found = {message.id: message for message in (*memory.knowledge.mentions(one.name, other.name, _MESSAGES),)}
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
        worded=worded,
    )


def quotations(memory: Memory, messages: Sequence[Message], entities: Sequence[Entity]) -> list[Quoted]:
    """Messages, each cut to where it first mentions the last of these names, all of them marked."""
    shown = {row: memory.integration.conversation_named(row) for row in {m.conversation_id for m in messages}}
    return [
        Quoted(message, talk.title if talk else "", talk.source if talk else "", _excerpt(message.content, entities))
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


def _rows(memory: Memory, picture: Picture) -> list[TableRow]:
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
    return TableRow(worded(relation.name, backwards=backwards), other, relation, when)
