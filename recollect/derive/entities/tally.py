"""An entity as the sum of its mentions: each message adds its share, and takes it back when it changes or goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.derive.entities.naming import folded, group
from recollect.derive.entities.types import TYPES
from recollect.derive.tasks.base import retired
from recollect.record import Edge, Node, NodeId, NodeKind, from_microseconds

MENTIONS = "MENTIONS"
#: An edge's name says who found the mention: the rules, a model, or a turn of a chat, in which "it" was resolved; or
#: that it is a summary that names it. Those of turns and summaries are no part of an entity's sum: what they name in
#: words the rules find as well.
BY_RULES, BY_MODEL, BY_TURN, BY_SUMMARY = "", "model", "turn", "summary"


@dataclass(frozen=True, slots=True)
class Share:
    """What one message adds to an entity: how it writes the name, its type, when, and what it says of it."""

    spelling: str
    types: tuple[str, ...]
    at: int | None
    says: frozenset[tuple[str, NodeId]] = frozenset()

    @classmethod
    def of(cls, edges: Sequence[Edge]) -> Share | None:
        """The share of the edges between one message and one entity; those of the rules first."""
        if not edges:
            return None
        found = [edge.properties for edge in sorted(edges, key=lambda edge: edge.name)]
        says = {(name, NodeId(target)) for properties in found for name, target in properties.get("says", ())}
        types = tuple(properties["type"] for properties in found)
        return cls(found[0]["as"], types, found[0].get("at"), frozenset(says))


def mention(
    message_id: NodeId, entity: NodeId, share: Share, by: str = BY_RULES, more: Mapping[str, Any] | None = None
) -> Edge:
    """The edge that holds a share."""
    properties: dict[str, Any] = {"as": share.spelling, "type": share.types[0], **(more or {})}
    if share.at is not None:
        properties["at"] = share.at
    if share.says:
        properties["says"] = [list(said) for said in sorted(share.says)]
    return Edge(message_id, MENTIONS, entity, properties, by)


def shares(edges: Iterable[Edge]) -> dict[tuple[NodeId, NodeId], Share]:
    """Edges as shares, by message and entity; without those of turns and summaries."""
    between: dict[tuple[NodeId, NodeId], list[Edge]] = {}
    for edge in edges:
        if edge.name in (BY_TURN, BY_SUMMARY):
            continue
        between.setdefault((edge.source_id, edge.target_id), []).append(edge)
    return {key: share for key, found in between.items() if (share := Share.of(found)) is not None}


@dataclass(slots=True)
class Tally:
    """The sum of the shares of an entity."""

    count: int = 0
    spellings: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    first: int | None = None
    last: int | None = None

    @classmethod
    def of(cls, node: Node | None) -> Tally:
        """As a node holds it."""
        if node is None or "count" not in node.body:  # a stale one still counts, a retired one has nothing left
            return cls()
        body = node.body
        return cls(
            body["count"], Counter(body["spellings"]), Counter(body["types"]), body.get("first"), body.get("last")
        )

    def add(self, share: Share) -> None:
        """One more message."""
        self.count += 1
        self.spellings[share.spelling] += 1
        self.types.update(share.types)
        if share.at is not None:
            self.first = share.at if self.first is None else min(self.first, share.at)
            self.last = share.at if self.last is None else max(self.last, share.at)

    def subtract(self, share: Share) -> bool:
        """One message less. False where it was the first or last: only all the others tell which is now."""
        self.count -= 1
        self.spellings[share.spelling] -= 1
        self.types.subtract(share.types)
        at_end = share.at is not None and share.at in (self.first, self.last)
        if self.count == 0:
            self.first = self.last = None
        return self.count == 0 or not at_end

    def node(self, entity: NodeId, before: Node | None) -> Node | None:
        """The node to be put; None where nothing was there and nothing is."""
        if self.count <= 0:
            return retired(before) if before is not None else None
        name = self._name()
        body: dict[str, Any] = {
            "type": self._type(),
            "count": self.count,
            "spellings": {spelling: n for spelling, n in sorted(self.spellings.items()) if n > 0},
            "types": {kind: n for kind, n in sorted(self.types.items()) if n > 0},
        }
        if self.first is not None:
            body |= {"first": self.first, "last": self.last}
        return Node(
            id=entity,
            kind=NodeKind.ENTITY,
            key=group(folded(name)),
            text=name,
            valid_from=from_microseconds(self.last),
            made_by="entities",
            body=body,
        )

    def _name(self) -> str:
        """The most frequent spelling; of several the one with capitals."""
        return min((s for s, n in self.spellings.items() if n > 0), key=lambda s: (-self.spellings[s], s.islower(), s))

    def _type(self) -> str:
        """What it was taken for most often; "concept" only where hardly anything else was said."""
        told = {kind: n for kind, n in self.types.items() if n > 0 and kind != "concept"}
        if not told or 5 * max(told.values()) < sum(n for n in self.types.values() if n > 0):
            return "concept"
        return min(told, key=lambda kind: (-told[kind], TYPES.index(kind) if kind in TYPES else len(TYPES), kind))
