"""What was put into which request: ids and tokens of the newest requests, so that a person can ask why something was
in a prompt. No words are kept but the beginning of a text that is not stored itself.

Each is a node of its own, in one of so many places that are taken in turn: more there never are, and none is in a dump.
Whatever is forgotten takes those with it that name it, and those that hold words.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, Protocol, get_args

from recollect.errors import InvalidInput, RecollectError
from recollect.record import (
    Conversation,
    Document,
    Edge,
    Message,
    Node,
    NodeId,
    NodeKind,
    ToolCall,
    checked_id,
    iso,
    stable_id,
    to_microseconds,
)
from recollect.store import Change, Space, View, Where
from recollect.store.update import update

#: So many of a namespace are kept, so many characters of a text are told, and so many are read to mask its secrets.
MOST, _BEGINNING, _READ = 200, 120, 4_000
#: Who asked: a proxied or wrapped client, a chat, a client of MCP, a hook of a coding agent.
By = Literal["proxy", "wrap", "chat", "mcp", "hook"]
_STATE = "request"
_ALL = Where(kinds=(NodeKind.REPORT.value,), states=(_STATE,), deleted=False, order="newest")

_log = logging.getLogger("recollect.requests")


class GivenPart(Protocol):
    """A part of a context or of a brief."""

    @property
    def name(self) -> str:
        """What it is."""
        ...

    @property
    def tokens(self) -> int:
        """What it costs."""
        ...

    @property
    def ids(self) -> Sequence[NodeId]:
        """What stands in it."""
        ...


@dataclass(frozen=True, slots=True)
class Given:
    """A part of what a request was given: its tokens, and the ids of the messages, facts and summaries in it."""

    name: str
    tokens: int
    ids: tuple[NodeId, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestItem:
    """Something that stood in a request: a message, fact, summary, document or conversation, and how it begins.
    `is_used`: it may stand in one again, for nobody has deleted or corrected it.
    """

    id: NodeId
    kind: str
    text: str
    is_used: bool = True

    def to_json(self) -> dict[str, Any]:
        """As in `recollect context --last --json`."""
        return {"id": self.id, "kind": self.kind, "text": self.text, "used": self.is_used}


@dataclass(frozen=True, slots=True, kw_only=True)
class Requested:
    """A request, and what it was given of the memory. `message_id` is what was asked, where that is stored; else `text`
    is how it begins. Read again, `text` is that of the message, and `items` are what stood in it and is still there.
    """

    at: datetime
    by: By
    parts: tuple[Given, ...]
    conversation_id: NodeId | None = None
    message_id: NodeId | None = None
    text: str = ""
    items: Mapping[NodeId, RequestItem] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """What it was given, in all."""
        return sum(part.tokens for part in self.parts)

    @property
    def ids(self) -> list[NodeId]:
        """Everything that stood in it, in order, once."""
        return list(dict.fromkeys(own for part in self.parts for own in part.ids))

    def to_json(self) -> dict[str, Any]:
        """As in `recollect context --last --json`."""
        return {
            "at": iso(self.at),
            "by": self.by,
            "conversation_id": self.conversation_id,
            "message_id": self.message_id,
            "text": self.text,
            "tokens": self.tokens,
            "parts": [
                {"name": part.name, "tokens": part.tokens, "items": [self.items[own].to_json() for own in part.ids]}
                for part in self.parts
            ],
        }


def keep(space: Space, request: Requested) -> None:
    """Keeps it in the place of the oldest. Nobody waits for that: what goes wrong is logged."""
    try:
        update(space, lambda view: (_kept(view, request), None), "What requests were given is")
    except RecollectError as problem:
        _log.warning("What a request was given is not recorded: %s", problem)


def _kept(view: View, request: Requested) -> Change:
    newest = next(iter(view.find(Node, _ALL, limit=1).items), None)
    number = int(newest.body.get("number", 0)) + 1 if newest is not None else 0
    place = stable_id("request", str(number % MOST))
    known = view.revisions([place]).get(place)
    expect = {place: known.number if known is not None else 0}
    return Change(expect=expect, put=[_node(place, number, request)], revive=True, begins=False)


def newest(view: View, limit: int, mask: Callable[[str], str]) -> list[Requested]:
    """The newest first, with what of it is still there. Each text is masked while it is whole: of a secret that a cut
    goes through, too little would be left to tell that it is one.
    """
    nodes = view.find(Node, _ALL, limit=min(limit, MOST)).items if limit else ()
    found = [one for node in nodes if (one := _read(node)) is not None]
    named = dict.fromkeys(own for one in found for own in (*one.ids, one.message_id, one.conversation_id) if own)
    items = {one.id: one for one in _items(view, list(named), mask)}
    return [_with(one, items) for one in found]


def naming(view: View, ids: Collection[NodeId]) -> list[NodeId]:
    """Those that name one of these, or hold words."""
    gone = set(ids)
    return [
        node.id
        for node in view.find(Node, _ALL, limit=MOST).items
        if (one := _read(node)) is None or one.text or gone & {*one.ids, one.message_id, one.conversation_id}
    ]


def _items(view: View, ids: Sequence[NodeId], mask: Callable[[str], str]) -> Iterator[RequestItem]:
    def begins(text: str) -> str:
        return _line(mask(text[:_READ]))

    for message in view.get(Message, ids):
        if not message.erased:
            yield RequestItem(message.id, "message", begins(message.content), not message.deleted)
    for node in view.get(Node, ids):
        if not node.erased:
            yield RequestItem(node.id, node.kind.value, begins(node.text), node.state == "live")
    for call in view.get(ToolCall, ids):
        yield RequestItem(call.id, "tool call", begins(call.name))
    for document in view.get(Document, ids):
        if not document.erased:
            yield RequestItem(document.id, "document", begins(document.title), not document.hidden)
    for conversation in view.get(Conversation, ids):
        if not conversation.erased:
            yield RequestItem(conversation.id, "conversation", begins(conversation.title))


def _line(text: str) -> str:
    return " ".join(text[: 4 * _BEGINNING].split())[:_BEGINNING]


def _with(one: Requested, items: Mapping[NodeId, RequestItem]) -> Requested:
    asked = items.get(one.message_id) if one.message_id else None
    return replace(
        one,
        parts=tuple(replace(part, ids=tuple(own for own in part.ids if own in items)) for part in one.parts),
        conversation_id=one.conversation_id if one.conversation_id in items else None,
        message_id=asked.id if asked else None,
        text=asked.text if asked else one.text,
        items={own: items[own] for own in one.ids if own in items},
    )


def _node(place: NodeId, number: int, request: Requested) -> Node:
    body = {
        "number": number,
        "by": request.by,
        "conversation": request.conversation_id or "",
        "message": request.message_id or "",
        "text": "" if request.message_id else _line(request.text),
        "parts": [[part.name, part.tokens, list(part.ids)] for part in request.parts],
    }
    return Node(place, NodeKind.REPORT, state=_STATE, valid_from=request.at, body=body)


def _read(node: Node) -> Requested | None:
    """As it was kept; None for what another hand has changed."""
    body = node.body
    parts = body.get("parts")
    by: By | None = next((one for one in get_args(By) if one == body.get("by")), None)
    if node.valid_from is None or not isinstance(parts, list) or by is None:
        return None
    return Requested(
        at=node.valid_from,
        by=by,
        parts=tuple(Given(str(name), int(tokens), tuple(map(NodeId, ids))) for name, tokens, ids in parts),
        conversation_id=NodeId(str(body.get("conversation", ""))) or None,
        message_id=NodeId(str(body.get("message", ""))) or None,
        text=str(body.get("text", "")),
    )


# Other names of messages and tool calls, by which a program finds again what it has stored.

#: The edge from what is stored to an alias of it.
KNOWN_AS = "KNOWN_AS"
#: So many may share an alias: of more, the oldest lose it.
ALIKE = 64


def read_aliases(view: View, aliases: Collection[NodeId]) -> dict[NodeId, list[NodeId]]:
    """The ids that each alias stands for, the newest first; aliases of nothing are left out."""
    found: dict[NodeId, list[NodeId]] = {}
    for edge in _by_age(view, aliases):
        found.setdefault(edge.target_id, []).insert(0, edge.source_id)
    return found


def checked_aliases(aliases: Mapping[str, Iterable[str]]) -> dict[NodeId, list[NodeId]]:
    """What a program gives as aliases. Raises InvalidInput for what are no lists of texts by a text."""
    given: dict[NodeId, list[NodeId]] = {}
    for own, some in aliases.items():
        if isinstance(some, str | bytes | Mapping) or not isinstance(some, Iterable):
            raise InvalidInput(f"The aliases of {own!r} are no list.", hint="Give a list of texts for each ID.")
        given[_checked(own, "An ID")] = [_checked(one, "An alias") for one in some]
    return given


def _checked(name: object, what: str) -> NodeId:
    if not isinstance(name, str):
        raise InvalidInput(f"{what} cannot be {name!r}.", hint="Give texts: the IDs, and lists of their aliases.")
    return checked_id(name, what)


def add_aliases(space: Space, aliases: Mapping[NodeId, Collection[NodeId]], now: datetime) -> None:
    """Gives each id its aliases, in one transaction; one that it has already becomes its newest."""
    edges = [
        Edge(own, KNOWN_AS, alias, {"at": (to_microseconds(now) or 0) + number})
        for number, (own, some) in enumerate(aliases.items())
        for alias in dict.fromkeys(some)
    ]
    if not edges:
        return
    with space.view() as view:
        there = _by_age(view, {edge.target_id for edge in edges})
    given = {(edge.source_id, edge.target_id) for edge in edges}
    sharing: dict[NodeId, list[Edge]] = {}
    for edge in [*(edge for edge in there if (edge.source_id, edge.target_id) not in given), *edges]:
        sharing.setdefault(edge.target_id, []).append(edge)
    old = [edge for alike in sharing.values() for edge in alike[:-ALIKE]]
    lost = {(edge.source_id, edge.target_id) for edge in old}
    kept = [edge for edge in edges if (edge.source_id, edge.target_id) not in lost]
    space.write(Change(edges=kept, cut=[e.key for e in old]))


def _by_age(view: View, aliases: Collection[NodeId]) -> list[Edge]:
    edges = view.edges(list(aliases), (KNOWN_AS,), "in", limit=4 * ALIKE * max(len(aliases), 1)) if aliases else []
    return sorted(edges, key=lambda edge: edge.properties.get("at", 0))
