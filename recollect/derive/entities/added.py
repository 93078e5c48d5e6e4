"""Entities that a program or a person adds: said, not derived, and so in a dump. Messages may come to mention them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

from recollect.derive.entities.naming import folded, group
from recollect.derive.entities.types import TYPES
from recollect.errors import InvalidInput, NotFound
from recollect.record import Edge, Message, Node, NodeId, NodeKind, Origin, stable_id
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
