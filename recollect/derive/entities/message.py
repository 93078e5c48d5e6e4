"""What one message, and one conversation, mentions: edges to names with their number, and relations between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from recollect.derive.entities.extract import Mention, mentions
from recollect.derive.entities.naming import TYPES, YOU, entity_id, folded, group, without_title
from recollect.derive.entities.relations import SAME, Assertion, relations
from recollect.derive.tasks.base import retired
from recollect.index.passages import is_person
from recollect.record import Edge, Message, Metadata, Node, NodeId, NodeKind, Role, from_microseconds, to_microseconds
from recollect.store import EdgeKey, View

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


_LOOKED_BACK = 8  # messages in which a full name explains a first name
_MOST_NAMES = 24


@lru_cache(maxsize=4096)
def found_in(text: str) -> tuple[Mention, ...]:
    """The names in a text; several ask."""
    return tuple(mentions(text))


@dataclass(slots=True)
class Recent:
    """Full names of people in the last messages of a conversation, each with how many messages ago it was."""

    names: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, state: Metadata) -> Recent:
        """As it was left."""
        return cls(dict(state.get("names", {})))

    def state(self) -> Metadata:
        """To be kept until there are more messages."""
        return {"names": dict(self.names)} if self.names else {}

    def heard(self, names: Iterable[str]) -> None:
        """One more message, with these names of people."""
        older = {name: ago + 1 for name, ago in self.names.items() if ago < _LOOKED_BACK}
        fresh = {name: 0 for name in names if " " in name}
        self.names = dict(sorted((older | fresh).items(), key=lambda item: (item[1], item[0]))[:_MOST_NAMES])

    def meant(self, name: str) -> str | None:
        """The one full name that a first or last name can stand for."""
        one = folded(name)
        if " " in one:
            return None
        full = {folded(known): known for known in self.names if one in _ends(folded(known))}
        return next(iter(full.values())) if len(full) == 1 else None


def _ends(name: str) -> tuple[str, str]:
    name = without_title(name)
    return name.partition(" ")[0], name.rpartition(" ")[2]


def mention_edges(message: Message, recent: Recent) -> list[Edge]:
    """The edges from a message to what it mentions, its speaker among them, with what it says of each."""
    found = found_in(message.content)
    speaker = message.speaker if is_person(message.speaker) else None
    names = {entity_id(m.name): (m.name, m.type) for m in found}
    if speaker:
        names.setdefault(entity_id(speaker), (speaker, "person"))
    recent.heard([*(m.name for m in found if m.type == "person"), *([speaker] if speaker else [])])
    me = speaker or (YOU if message.role is Role.USER else None)
    said = [*relations(message.content, found, me), *_meant(found, recent)]
    says: dict[NodeId, set[tuple[str, NodeId]]] = {}
    for assertion in said:
        source, target = entity_id(assertion.source), entity_id(assertion.target)
        names.setdefault(source, (assertion.source, "person" if assertion.source == YOU else "concept"))
        if assertion.relation != SAME:
            names.setdefault(target, (assertion.target, "concept"))
        says.setdefault(source, set()).add((assertion.relation, target))
    at = to_microseconds(message.timestamp)
    speaks = entity_id(speaker) if speaker else None
    return [
        mention(
            message.id,
            entity,
            Share(name, (kind,), at, frozenset(says.get(entity, ()))),
            more={"speaks": True} if entity == speaks else None,
        )
        for entity, (name, kind) in names.items()
    ]


def _meant(found: Iterable[Mention], recent: Recent) -> list[Assertion]:
    """That a first name here is the person whose full name was just said."""
    return [
        Assertion(name.name, SAME, full)
        for name in found
        if name.type in ("person", "concept") and (full := recent.meant(name.name))
    ]


# Relations between entities as sums of what messages say: how many say it, and which said it last.

RELATED: Final = "RELATED_TO"
_EVIDENCE = 10  # messages that an edge names, the newest
_ALL = 10_000_000

#: Source, relation, target.
Relation = tuple[NodeId, str, NodeId]
#: A message that says so: its time (-1: unknown) and id.
Proof = tuple[int, NodeId]


def edge_key(relation: Relation) -> EdgeKey:
    """Under which key a relation is stored. That two names mean the same is an edge of its own type."""
    source, name, target = relation
    return (source, SAME, target, "") if name == SAME else (source, RELATED, target, name)


@dataclass(slots=True)
class Related:
    """What changes in relations: the messages that say them now and did not, or no longer do."""

    more: dict[Relation, set[Proof]] = field(default_factory=dict)
    less: dict[Relation, set[Proof]] = field(default_factory=dict)

    def differ(self, message: NodeId, entity: NodeId, before: Share | None, after: Share | None) -> None:
        """Takes in how what a message says of an entity has changed."""
        was = {(said, _proof(message, before)) for said in before.says} if before else set()
        now = {(said, _proof(message, after)) for said in after.says} if after else set()
        for (name, target), proof in now - was:
            self.more.setdefault((entity, name, target), set()).add(proof)
        for (name, target), proof in was - now:
            self.less.setdefault((entity, name, target), set()).add(proof)

    def effects(self, view: View, people: frozenset[NodeId], changed: Changed) -> tuple[list[Edge], list[EdgeKey]]:
        """The edges to be put and cut. `people` have relations to very many things: theirs are read from the things."""
        relations = sorted(self.more.keys() | self.less.keys())
        known = _known(view, relations, people)
        put: list[Edge] = []
        cut: list[EdgeKey] = []
        for relation in relations:
            more, less = self.more.get(relation, set()), self.less.get(relation, set())
            weight, proofs = _held(known.get(edge_key(relation)))
            weight += len(more) - len(less)
            proofs = (proofs - less) | more
            if weight > len(proofs) < _EVIDENCE:  # an older one moves up
                proofs = _all_proofs(view, relation, changed)
            if weight > 0:
                put.append(_edge(relation, weight, proofs))
            else:
                cut.append(edge_key(relation))
        return put, cut


#: Shares as they will be, by message and entity; None: gone.
Changed = Mapping[tuple[NodeId, NodeId], Share | None]


def _proof(message: NodeId, share: Share) -> Proof:
    return (-1 if share.at is None else share.at, message)


def _known(view: View, relations: Iterable[Relation], people: frozenset[NodeId]) -> dict[EdgeKey, Edge]:
    outward = sorted({source for source, _, _ in relations if source not in people})
    inward = sorted({target for source, _, target in relations if source in people})
    found = view.edges(outward, (RELATED, SAME), "out", _ALL) if outward else []
    found += view.edges(inward, (RELATED, SAME), "in", _ALL) if inward else []
    return {edge.key: edge for edge in found}


def _held(edge: Edge | None) -> tuple[int, set[Proof]]:
    if edge is None:
        return 0, set()
    properties = edge.properties
    return properties["weight"], set(zip(properties["at"], properties["evidence"], strict=True))


def _edge(relation: Relation, weight: int, proofs: Iterable[Proof]) -> Edge:
    newest = sorted(proofs, reverse=True)[:_EVIDENCE]
    properties = {"weight": weight, "evidence": [i for _, i in newest], "at": [at for at, _ in newest]}
    source, kind, target, name = edge_key(relation)
    return Edge(source, kind, target, properties, name)


def _all_proofs(view: View, relation: Relation, changed: Changed) -> set[Proof]:
    """Every message that says so, read from all mentions of the source: needed only after a newer one has gone."""
    source, name, target = relation
    there = shares(view.edges([source], (MENTIONS,), "in", _ALL))
    there = {key: share for key, share in there.items() if key not in changed}
    there |= {key: share for key, share in changed.items() if share is not None and key[1] == source}
    return {_proof(message, share) for (message, _), share in there.items() if (name, target) in share.says}
