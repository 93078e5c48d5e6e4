"""An entity as readers get it: all spellings of it together, with why, and what a person said of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Literal, get_args

from recollect.derive.entities.naming import TYPES, folded, group, why_same
from recollect.derive.tasks.base import LIVE
from recollect.errors import InvalidInput, NotFound
from recollect.record import Edge, Message, Node, NodeId, NodeKind, Origin, from_microseconds, stable_id
from recollect.store import View
from recollect.text.clean import clean_title

#: The state of the node that says that an entity was added.
ADDED: Final = "added"
#: The edges from what was added to the messages that it was drawn from.
ADDED_FROM: Final = "ADDED_FROM"
#: Who adds: a program, a person, or an import from elsewhere; as facts have it.
Adder = Literal["stored", "by hand", "imported"]
ADDERS: Final[tuple[str, ...]] = get_args(Adder)

#: Types of seed document 0 that are none of ours. What was decided is a relation (CHOSE) or a fact, and no type.
_ALSO_CALLED = {"tool": "technology", "decision": "concept", "unknown": "concept"}
_ALL = 1_000_000


@dataclass(frozen=True, slots=True)
class Added:
    """That an entity was added: under which name, as what, and by whom."""

    entity: NodeId
    name: str
    type: str
    provenance: str = ADDERS[0]

    @classmethod
    def of(cls, node: Node) -> Added:
        """As a node holds it."""
        body = node.body
        return cls(NodeId(body["entity"]), node.text, str(body["type"]), str(body["provenance"]))

    @property
    def node(self) -> Node:
        """As it is stored; found by its name and its spellings."""
        return Node(
            added_id(self.entity),
            NodeKind.ENTITY,
            key=group(folded(self.name)),
            text=self.name,
            state=ADDED,
            origin=Origin.IMPORTED if self.provenance == "imported" else Origin.SAID,
            body={"entity": self.entity, "type": self.type, "provenance": self.provenance},
        )


def added_id(entity: NodeId) -> NodeId:
    """The id of the node that says that an entity was added."""
    return stable_id("entity-added", entity)


def name_of(given: str) -> str:
    """A name as it is stored. Raises InvalidInput."""
    name = clean_title(given)
    if not name or not folded(name):
        raise InvalidInput("The name of the entity is empty.", hint="Give the name as people write it.")
    return name


def as_type(given: str) -> str:
    """A type as it is stored, where there is such a type: in lower case, and for "Tool" "technology"."""
    name = given.strip().lower()
    return _ALSO_CALLED.get(name, name)


def read_type(given: str) -> str:
    """A type of entity as it is stored. Raises InvalidInput where there is none of that name.

    >>> read_type("Technology"), read_type("Tool"), read_type("Unknown")
    ('technology', 'technology', 'concept')
    """
    name = as_type(given)
    if name not in TYPES:
        raise InvalidInput(f"{given!r} is no type of entity.", hint=f"One of: {', '.join(TYPES)}.")
    return name


def check_adder(provenance: str) -> None:
    """Raises InvalidInput where nobody adds as that."""
    if provenance not in ADDERS:
        raise InvalidInput(f"{provenance!r} is no provenance.", hint=f"One of: {', '.join(map(repr, ADDERS))}.")


def sources_of(view: View, sources: Sequence[str]) -> list[NodeId]:
    """The messages that something is drawn from, each once. Raises NotFound for what is no message, or forgotten."""
    ids = [NodeId(one) for one in dict.fromkeys(sources)]
    there = {message.id for message in view.get(Message, ids) if not message.erased}
    for own in ids:
        if own not in there:
            raise NotFound(f"No message has the ID {own!r}.", hint="Sources are whole ids of messages.")
    return ids


def last_said(view: View, messages: Sequence[NodeId]) -> datetime | None:
    """When the newest of these messages was said; None where no time of theirs is known."""
    return max((m.timestamp for m in view.get(Message, messages) if m.timestamp is not None), default=None)


def drawn_from(node: NodeId, sources: Iterable[NodeId]) -> list[Edge]:
    """The edges from what was added to its sources."""
    return [Edge(node, ADDED_FROM, message) for message in sources]


def added_from(view: View, messages: Sequence[NodeId]) -> list[Node]:
    """What was added from these messages, and from no other that is left."""
    edges = view.edges(messages, (ADDED_FROM,), "in", _ALL) if messages else []
    nodes = view.get(Node, list(dict.fromkeys(edge.source_id for edge in edges)))
    going = set(messages)
    others: dict[NodeId, set[NodeId]] = {}
    for edge in view.edges([node.id for node in nodes], (ADDED_FROM,), "out", _ALL):
        others.setdefault(edge.source_id, set()).add(edge.target_id)
    return [node for node in nodes if not node.erased and others.get(node.id, set()) <= going]


#: After so long without a mention, an entity counts half; of what was ever frequent a quarter remains.
HALF_LIFE = timedelta(days=90)
_REMAINS = 0.25


@dataclass(frozen=True, slots=True)
class Alias:
    """Another spelling of an entity's name, and why it is taken for the same."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Entity:
    """Somebody or something that messages mention, or that was added. `mentions` counts messages, for each spelling.
    `provenance` is "said" where messages mention it, and who added it: "stored" by a program, "by hand", "imported".
    """

    id: NodeId
    name: str
    type: str
    aliases: tuple[Alias, ...] = ()
    mentions: int = 0
    first: datetime | None = None
    last: datetime | None = None
    pinned: bool = False
    by_hand: bool = False
    provenance: tuple[
        str, ...
    ] = ()  # "said" in messages, and who added it: "stored" by a program, "by hand", "imported"
    ids: tuple[NodeId, ...] = field(default=(), repr=False)  # the nodes of all spellings

    def salience(self, now: datetime) -> float:
        """How much it matters now, by how often and how recently it was mentioned [2]."""
        age = max(timedelta(), now - self.last) if self.last else timedelta(days=3650)
        recent = math.pow(0.5, age / HALF_LIFE)
        return math.log2(1 + self.mentions) * (_REMAINS + (1 - _REMAINS) * recent)


@dataclass(frozen=True, slots=True)
class EntityCorrection:
    """What a person said of an entity: it outranks what was derived. `added`: that it was added as such."""

    entity: NodeId
    name: str | None = None
    type: str | None = None
    into: NodeId | None = None
    apart: bool = False
    pinned: bool = False
    forgotten: bool = False
    added: Added | None = None

    @property
    def held_name(self) -> str | None:
        """The name that keeps the entity, whether a message mentions it or not."""
        return self.name or (self.added.name if self.added else None)

    @property
    def held_type(self) -> str | None:
        """Its type, as somebody told it."""
        added = self.added.type if self.added else "concept"
        return self.type or (added if added != "concept" else None)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was corrected."""
        return replace(self, added=None) == EntityCorrection(self.entity)

    @classmethod
    def of(cls, node: Node) -> EntityCorrection:
        """As a node holds it."""
        body = node.body
        if node.state == ADDED:
            added = Added.of(node)
            return cls(added.entity, added=added)
        return cls(
            NodeId(body["entity"]),
            body.get("name"),
            body.get("type"),
            NodeId(body["into"]) if body.get("into") else None,
            bool(body.get("apart")),
            bool(body.get("pinned")),
            bool(body.get("forgotten")),
        )


Corrections = Mapping[NodeId, EntityCorrection]


def united(nodes: Sequence[Node], same: Sequence[Edge], corrections: Corrections) -> list[Entity]:
    """Nodes as entities: what is the same is one.

    Spellings of one group are the same. A name that messages say to be another's is that, unless they say it of
    several: then it is ambiguous and stays apart. What a person said comes first.
    """
    living = {node.id: node for node in nodes if node.state == LIVE and not node.erased}
    for correction in corrections.values():
        if correction.entity not in living and not correction.forgotten and (name := correction.held_name):
            living[correction.entity] = unmentioned(correction.entity, name, correction.held_type or "concept")
    above = _above(living, same, corrections)
    members: dict[NodeId, list[tuple[Node, str]]] = {}
    for node in living.values():
        root, why = _root(node.id, above)
        members.setdefault(root, []).append((node, why))
    entities = [_entity(living[root], found, corrections) for root, found in members.items()]
    return [entity for entity in entities if entity is not None]


def _above(
    living: Mapping[NodeId, Node], same: Sequence[Edge], corrections: Corrections
) -> dict[NodeId, tuple[NodeId, str]]:
    """What each node is another name of, and why."""
    by_group: dict[str, list[Node]] = {}
    for node in living.values():
        if not _apart(node.id, corrections):
            by_group.setdefault(node.key, []).append(node)
    above: dict[NodeId, tuple[NodeId, str]] = {}
    for alike in by_group.values():
        chief = min(alike, key=lambda node: (-node.body["count"], -len(node.text), node.id))
        above |= {node.id: (chief.id, why_same(node.text, chief.text)) for node in alike if node is not chief}
    targets: dict[NodeId, dict[NodeId, Edge]] = {}
    for edge in same:
        if edge.source_id in living and edge.target_id in living and not _apart(edge.source_id, corrections):
            chief_id, _ = _root(edge.target_id, above)
            targets.setdefault(edge.source_id, {})[chief_id] = edge
    for source, found in sorted(targets.items()):
        (target, edge), *others = found.items()
        chief_id, _ = _root(source, above)
        if not others and chief_id not in (target, _root(target, above)[0]):
            weight = edge.properties["weight"]
            above[chief_id] = (target, f"said so in {weight} message{'s' if weight > 1 else ''}")
    for correction in corrections.values():
        if correction.into is not None and correction.into in living and correction.entity in living:
            above[correction.entity] = (correction.into, "said by hand")
            above.pop(correction.into, None)
    return above


def _root(node: NodeId, above: Mapping[NodeId, tuple[NodeId, str]]) -> tuple[NodeId, str]:
    """Where a name leads in the end, and the first reason on the way."""
    seen, why = {node}, ""
    while node in above:
        following, reason = above[node]
        if following in seen:
            break
        why = why or reason
        seen.add(following)
        node = following
    return node, why


def _apart(node: NodeId, corrections: Corrections) -> bool:
    correction = corrections.get(node)
    return correction is not None and (correction.apart or correction.into is not None)


def _entity(chief: Node, members: Sequence[tuple[Node, str]], corrections: Corrections) -> Entity | None:
    said = corrections.get(chief.id)
    if said is not None and said.forgotten:
        return None
    shown = [(node, why) for node, why in members if not (node.id in corrections and corrections[node.id].forgotten)]
    name = said.name if said and said.name else chief.text
    firsts = [node.body["first"] for node, _ in shown if "first" in node.body]
    lasts = [node.body["last"] for node, _ in shown if "last" in node.body]
    return Entity(
        id=chief.id,
        name=name,
        type=(said.held_type if said else None) or _type(chief, shown),
        aliases=tuple(sorted(_aliases(name, chief, shown), key=lambda alias: alias.name)),
        mentions=sum(node.body["count"] for node, _ in shown),
        first=from_microseconds(min(firsts, default=None)),
        last=from_microseconds(max(lasts, default=None)),
        pinned=bool(said and said.pinned),
        by_hand=said is not None and not said.is_empty,
        provenance=_provenance(shown, corrections),
        ids=tuple(sorted(node.id for node, _ in shown)),
    )


def _provenance(members: Sequence[tuple[Node, str]], corrections: Corrections) -> tuple[str, ...]:
    held = (corrections.get(node.id) for node, _ in members)
    added = sorted({one.added.provenance for one in held if one is not None and one.added is not None})
    return (*(["said"] if any(node.body["count"] for node, _ in members) else []), *added)


def _type(chief: Node, members: Sequence[tuple[Node, str]]) -> str:
    own = str(chief.body["type"])
    if own != "concept":
        return own
    told = [node.body["type"] for node, _ in members if node.body["type"] != "concept"]
    return str(min(told, key=lambda kind: (-told.count(kind), kind))) if told else own


def _aliases(name: str, chief: Node, members: Sequence[tuple[Node, str]]) -> list[Alias]:
    found: dict[str, str] = {}
    for node, why in members:
        for spelling in node.body["spellings"]:
            if spelling != name:
                renamed = "the name in the messages" if folded(name) != folded(chief.text) else "the same letters"
                found.setdefault(spelling, why or renamed)
    return [Alias(spelling, why) for spelling, why in found.items()]


def unmentioned(entity: NodeId, name: str, type: str) -> Node:
    """The node of an entity that no message mentions: a person holds on to it, or facts are about it."""
    body = {"type": type, "count": 0, "spellings": {}, "types": {}}
    return Node(entity, NodeKind.ENTITY, key=group(folded(name)), text=name, body=body)
