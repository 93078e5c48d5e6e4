"""Relations of whole frontiers, among entities rather than their spellings.

What is said of people, places and work is what the facts hold: a fact whose value names an entity is a relation, with
its validity and its proofs. All other relations are what messages say. Where a fact holds what a message says as well,
the fact decides whether it still holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from recollect.derive.entities.directory import Directory
from recollect.derive.entities.entity import ADDED_FROM, Entity
from recollect.derive.entities.message import BY_SUMMARY, MENTIONS, RELATED
from recollect.derive.entities.naming import ABOUT, about_id
from recollect.derive.facts.changes import DERIVES_FROM
from recollect.derive.facts.claim import RELATIONSHIP, ends, relation_of
from recollect.derive.facts.fact import when_told
from recollect.errors import NotFound
from recollect.record import Edge, Node, NodeId, NodeKind, from_microseconds, to_microseconds
from recollect.store import View

if TYPE_CHECKING:
    import networkx


#: That the same messages mention two entities.
TOGETHER = "MENTIONED_WITH"


@dataclass(frozen=True, slots=True)
class Relation:
    """That one entity stands in a relation to another: by how many messages, and which.

    Of what a fact holds, `fact` is its id, `since` and `until` say when it held, and `current` whether it still does.
    Where nobody told when it began (`since_told`) or ended (`until_told`), these are when it was said, and when
    something else was; `said` is when it was said last.
    `provenance` says where it comes from: "said" in messages, "stored" by a program, "by hand", "imported".
    """

    source: str
    name: str
    target: str
    weight: int
    evidence: tuple[NodeId, ...]
    source_id: NodeId = field(default=NodeId(""), repr=False)
    target_id: NodeId = field(default=NodeId(""), repr=False)
    since: datetime | None = None
    until: datetime | None = None
    since_told: bool = False
    until_told: bool = False
    said: datetime | None = None
    current: bool = True
    fact: NodeId | None = None
    provenance: tuple[str, ...] = ("said",)

    def __str__(self) -> str:
        return f"{self.source} --[{self.name}]--> {self.target}"

    def when(self, day: Callable[[datetime], str]) -> str:
        """As in "since 3 May 2020", where that was told, else "said 3 July 2023"; with "until" where that is known."""
        until = self.until if self.until_told or not self.current else None
        return when_told(self.since if self.since_told else None, until, self.said, day)

    @property
    def words(self) -> str:
        """In words, with when it holds: "Anders WORKS AT Kartona (since 2024-05-01)"."""
        when = self.when(lambda moment: f"{moment:%Y-%m-%d}")
        return f"{self.source} {self.name.replace('_', ' ')} {self.target}{f' ({when})' if when else ''}"

    @property
    def key(self) -> tuple[NodeId, str, NodeId]:
        """What it relates, and how."""
        return self.source_id, self.name, self.target_id

    def turned(self) -> Relation:
        """What holds both ways, from the other end."""
        return replace(self, source=self.target, target=self.source, source_id=self.target_id, target_id=self.source_id)


@dataclass(frozen=True, slots=True)
class Graph:
    """What lies around an entity: other entities, nearest first, and the relations among all of them."""

    center: Entity
    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Path:
    """A way from one entity to another, as relations in the direction in which they hold."""

    entities: tuple[str, ...]
    relations: tuple[Relation, ...]

    def __str__(self) -> str:
        words = self.entities[0]
        for at, relation in zip(self.entities, self.relations, strict=False):
            forward = relation.source == at
            words += (
                f" --[{relation.name}]--> {relation.target}"
                if forward
                else f" <--[{relation.name}]-- {relation.source}"
            )
        return words


@dataclass(frozen=True, slots=True)
class Paths:
    """The shortest ways between two entities; where there is none, what each is next to [0]."""

    source: Entity
    target: Entity
    paths: tuple[Path, ...]
    neighbours: tuple[Relation, ...] = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self.paths or self.neighbours))


_RELATIONS = 2_000  # edges of one frontier
_PROOFS = 20_000  # of the facts of one
_MENTIONS = 4_000  # of the entities of a frontier
_MESSAGES = 300  # the newest of those
_MENTIONED = 6_000  # by them
_EVIDENCE = 5
_LIVE, _SHOWN = "live", ("live", "superseded")  # states of facts
_SAID = "said"  # the provenance of what messages say
#: What has a home is at a place instead, where it is no being.
_NO_BEINGS = frozenset({"organisation", "place", "technology", "project", "product", "work", "event"})

_Key = tuple[NodeId, str, NodeId]


class Reader:
    """Relations of the entities of a view: those that hold at `now`, or all that ever held."""

    def __init__(self, view: View, now: datetime | None = None, *, include_past: bool = False) -> None:
        self._view, self.directory = view, Directory(view)
        self._now, self._include_past = now, include_past

    def relations(self, frontier: Sequence[Entity]) -> list[Relation]:
        """What facts hold and messages say of these."""
        ids = [i for entity in frontier for i in entity.ids]
        held = self._held(ids)
        said = [relation for relation in self._said(ids) if relation.key not in held]
        return [r for r in (*held.values(), *said) if r.current or self._include_past]

    def _held(self, ids: Sequence[NodeId]) -> dict[_Key, Relation]:
        """What facts hold; of one that held several times the last, and before these what holds now."""
        return self._of_facts(self._facts_about(ids))

    def of_fact(self, fact: NodeId) -> Relation:
        """The relation that a fact is. Raises NotFound where it is none."""
        found = self._of_facts([node for node in self._view.get(Node, [fact]) if _is_shown(node)])
        if not found:
            raise NotFound(f"The fact {fact} relates no entities.")
        return next(iter(found.values()))

    def added(self, frontier: Sequence[Entity]) -> list[NodeId]:
        """The facts about these that are relationships which were added, and which no message says."""
        ids = [i for entity in frontier for i in entity.ids]
        facts = (fact for fact in self._facts_about(ids) if fact.body.get(RELATIONSHIP))
        return [fact.id for fact in facts if _SAID not in fact.body.get("provenance", ())]

    def _facts_about(self, ids: Sequence[NodeId]) -> list[Node]:
        about = self._view.edges([about_id(i) for i in ids], (ABOUT,), "in", _RELATIONS)
        nodes = self._view.get(Node, sorted({edge.source_id for edge in about}))
        return [node for node in nodes if _is_shown(node)]

    def _of_facts(self, facts: Sequence[Node]) -> dict[_Key, Relation]:
        found = self.directory.of(i for fact in facts for i in (*_ends(fact, "entity"), *_ends(fact, "value")))
        chosen: dict[_Key, Node] = {}
        for fact in facts:
            source, target = (_first(found, _ends(fact, end)) for end in ("entity", "value"))
            if source is not None and target is not None and source.id != target.id:
                key = source.id, _name(fact, source), target.id
                known = chosen.get(key)
                if known is None or self._order(fact) > self._order(known):
                    chosen[key] = fact
        proven = [fact.id for fact in chosen.values()]
        proofs = _by_fact(self._view.edges(proven, (DERIVES_FROM, ADDED_FROM), "out", _PROOFS))
        entities = {entity.id: entity for entity in found.values()}
        return {key: self._relation(key, fact, entities, proofs) for key, fact in chosen.items()}

    def _relation(
        self, key: _Key, fact: Node, entities: Mapping[NodeId, Entity], proofs: Mapping[NodeId, Sequence[NodeId]]
    ) -> Relation:
        source, name, target = key
        proven = proofs.get(fact.id, ())
        body = fact.body
        return Relation(
            entities[source].name,
            name,
            entities[target].name,
            max(1, len(proven)),
            tuple(proven[:_EVIDENCE]),
            source,
            target,
            since=fact.valid_from,
            until=fact.valid_to,
            since_told=bool(body.get("since_told")),
            until_told=bool(body.get("until_told")),
            said=from_microseconds(body.get("last_said", body.get("known_from"))),
            current=self._holds(fact),
            fact=fact.id,
            provenance=tuple(map(str, body.get("provenance", ()))),
        )

    def _holds(self, fact: Node) -> bool:
        if fact.state != _LIVE or self._now is None:
            return fact.state == _LIVE
        begun = fact.valid_from is None or fact.valid_from <= self._now or not fact.body.get("since_told")
        return begun and (fact.valid_to is None or fact.valid_to > self._now)

    def _order(self, fact: Node) -> tuple[bool, int, NodeId]:
        return self._holds(fact), to_microseconds(fact.valid_from or fact.valid_to) or 0, fact.id

    def _said(self, ids: Sequence[NodeId]) -> list[Relation]:
        """What messages say, by how many."""
        edges = [edge for way in ("out", "in") for edge in self._view.edges(ids, (RELATED,), way, _RELATIONS)]
        found = self.directory.of(i for edge in edges for i in (edge.source_id, edge.target_id))
        summed: dict[_Key, list[Edge]] = {}
        for edge in {(e.source_id, e.name, e.target_id): e for e in edges}.values():
            source, target = found.get(edge.source_id), found.get(edge.target_id)
            if source is not None and target is not None and source.id != target.id:
                summed.setdefault((source.id, edge.name, target.id), []).append(edge)
        last = {key: max(at for edge in edges_ for at in edge.properties["at"]) for key, edges_ in summed.items()}
        return [
            _dropped(
                Relation(
                    found[edges_[0].source_id].name,
                    name,
                    found[edges_[0].target_id].name,
                    sum(edge.properties["weight"] for edge in edges_),
                    tuple(dict.fromkeys(NodeId(i) for edge in edges_ for i in edge.properties["evidence"]))[:_EVIDENCE],
                    source,
                    target,
                ),
                last,
            )
            for (source, name, target), edges_ in summed.items()
        ]

    def together(self, frontier: Sequence[Entity]) -> list[Relation]:
        """What the newest messages that mention these mention as well."""
        own = {i: entity for entity in frontier for i in entity.ids}
        mentioned = self._view.edges(list(own), (MENTIONS,), "in", _MENTIONS)
        by_message: dict[NodeId, set[NodeId]] = {}
        for edge in sorted(
            (e for e in mentioned if e.name != BY_SUMMARY), key=lambda e: (-(e.properties.get("at") or 0), e.source_id)
        ):
            if edge.source_id in by_message or len(by_message) < _MESSAGES:
                by_message.setdefault(edge.source_id, set()).add(own[edge.target_id].id)
        others = self._view.edges(list(by_message), (MENTIONS,), "out", _MENTIONED)
        found = self.directory.of(edge.target_id for edge in others)
        proofs: dict[tuple[NodeId, NodeId], dict[NodeId, None]] = {}
        for edge in others:
            other = found.get(edge.target_id)
            for source in by_message.get(edge.source_id, ()):
                if other is not None and other.id != source:
                    proofs.setdefault((source, other.id), {})[edge.source_id] = None
        names = {entity.id: entity.name for entity in (*frontier, *found.values())}
        return [
            Relation(names[a], TOGETHER, names[b], len(told), tuple(list(told)[:_EVIDENCE]), a, b)
            for (a, b), told in proofs.items()
        ]

    def nearest(self, found: Iterable[Relation], known: dict[NodeId, Any], limit: int) -> list[Entity]:
        """The entities that these relations lead to and that are not known yet, those that matter most first."""
        score: Counter[NodeId] = Counter()
        for relation in found:
            for i in (relation.source_id, relation.target_id):
                if i not in known:
                    score[i] += relation.weight * (1 if relation.name == TOGETHER else 3)
        entities = self.directory.of(score)
        ordered = sorted(score, key=lambda i: (-score[i], i))
        return [entities[i] for i in ordered if i in entities][: max(0, limit)]


def _dropped(relation: Relation, last: Mapping[_Key, int]) -> Relation:
    """As past, where the opposite was said later: of what one dropped that one uses it, or the other way round. `last`
    is when each was said last, -1 where it has no time.
    """
    own = last[relation.key]
    opposite = max(last.get((relation.source_id, name, relation.target_id), -1) for name in _against(relation.name))
    if not -1 < own < opposite:
        return relation
    return replace(relation, until=from_microseconds(opposite), current=False)


def _against(name: str) -> Sequence[str]:
    return ("CHOSE", "USES") if name == "REJECTED" else ("REJECTED",) if name in ("CHOSE", "USES") else ("",)


def _is_shown(node: Node) -> bool:
    return node.kind is NodeKind.FACT and bool(node.text) and node.state in _SHOWN and not node.erased


def _ends(fact: Node, end: str) -> tuple[NodeId, ...]:
    return ends(str(fact.body.get(end, "")))


def _first(found: Mapping[NodeId, Entity], ids: Iterable[NodeId]) -> Entity | None:
    return next((found[i] for i in ids if i in found), None)


def _name(fact: Node, source: Entity) -> str:
    name = relation_of(str(fact.body.get("attribute", ""))) or ""
    return "LOCATED_IN" if name == "LIVES_IN" and source.type in _NO_BEINGS else name


def _by_fact(proofs: Iterable[Edge]) -> dict[NodeId, list[NodeId]]:
    """The messages that prove each fact, the newest first."""
    found: dict[NodeId, list[NodeId]] = {}
    for edge in sorted(proofs, key=lambda e: (-(e.properties.get("said_at") or 0), e.target_id)):
        if edge.target_id not in (own := found.setdefault(edge.source_id, [])):
            own.append(edge.target_id)
    return found


# The graph around an entity, and the ways between two: read a frontier at a time, so that a hub costs no more.

_STEPS = 4  # from either end
_WIDEST = 400  # entities of a frontier
_PATHS = 3


def around(view: View, name: str, depth: int, limit: int, now: datetime, *, include_past: bool = False) -> Graph:
    """What lies at most `depth` steps from an entity, at most `limit` entities. Raises NotFound."""
    reader = Reader(view, now, include_past=include_past)
    center = reader.directory.named(name)
    known: dict[NodeId, Entity] = {center.id: center}
    relations: dict[tuple[NodeId, str, NodeId], Relation] = {}
    frontier = [center]
    for _ in range(depth):
        found = [*reader.relations(frontier), *reader.together(frontier)]
        fresh = reader.nearest(found, known, limit - len(known) + 1)
        known |= {entity.id: entity for entity in fresh}
        for relation in found:
            relations.setdefault(relation.key, relation)
        frontier = fresh[:_WIDEST]
        if not frontier:
            break
    shown = [r for r in relations.values() if r.source_id in known and r.target_id in known]
    told = {frozenset((r.source_id, r.target_id)) for r in shown if r.name != TOGETHER}
    shown = [r for r in shown if r.name != TOGETHER or frozenset((r.source_id, r.target_id)) not in told]
    shown.sort(key=lambda r: (r.name == TOGETHER, not r.current, -r.weight, r.source, r.name, r.target))
    return Graph(center, tuple(known.values())[1:], tuple(shown))


def between(view: View, source: str, target: str, now: datetime, *, include_past: bool = False) -> Paths:
    """The shortest ways between two entities: by relations, else by what is mentioned together. Raises NotFound."""
    reader = Reader(view, now, include_past=include_past)
    start, end = reader.directory.named(source), reader.directory.named(target)
    for with_mentions in (False, True):
        if paths := ways(reader, start, end, with_mentions=with_mentions):
            return Paths(start, end, paths)
    beside = [*reader.relations([start, end]), *reader.together([start, end])]
    beside.sort(key=lambda r: (r.name == TOGETHER, -r.weight, str(r)))
    of_each = [[r for r in beside if entity.id in (r.source_id, r.target_id)][:_PATHS] for entity in (start, end)]
    return Paths(start, end, (), tuple(dict.fromkeys(r for found in of_each for r in found)))


def ways(reader: Reader, start: Entity, end: Entity, *, with_mentions: bool) -> tuple[Path, ...]:
    """Both ends grow, a step at a time, the smaller first, until they meet."""
    import networkx

    graph: networkx.MultiGraph[NodeId] = networkx.MultiGraph()
    graph.add_nodes_from((start.id, end.id))
    frontiers: list[list[Entity]] = [[start], [end]]
    reached = [{start.id}, {end.id}]
    for _ in range(2 * (_STEPS if not with_mentions else 2)):
        side = min((0, 1), key=lambda s: (not frontiers[s], len(frontiers[s])))
        if not frontiers[side]:
            break
        found = reader.relations(frontiers[side])
        if with_mentions:
            found += reader.together(frontiers[side])
        for relation in found:
            graph.add_edge(relation.source_id, relation.target_id, key=relation.name, relation=relation)
        fresh = reader.nearest(found, dict.fromkeys(reached[side]), _WIDEST)
        reached[side] |= {entity.id for entity in fresh}
        frontiers[side] = fresh
        if reached[0] & reached[1]:
            return _shortest(graph, reader, start, end)
    return ()


def _shortest(graph: Any, reader: Reader, start: Entity, end: Entity) -> tuple[Path, ...]:
    import networkx

    if not networkx.has_path(graph, start.id, end.id):
        return ()
    ways = []
    for way in networkx.all_shortest_paths(networkx.Graph(graph), start.id, end.id):
        ways.append(_path(graph, way, reader))
        if len(ways) >= 200:
            break
    ways.sort(
        key=lambda path: (
            sum(r.name == TOGETHER for r in path.relations),
            -min((r.weight for r in path.relations), default=0),
            str(path),
        )
    )
    return tuple(ways[:_PATHS])


def _path(graph: Any, way: Sequence[NodeId], reader: Reader) -> Path:
    relations = []
    for one, other in pairwise(way):
        held = [data["relation"] for data in graph.get_edge_data(one, other).values()]
        held.sort(key=lambda r: (r.name == TOGETHER, -r.weight, r.source_id != one, r.name))
        relations.append(held[0] if held[0].name != TOGETHER or held[0].source_id == one else held[0].turned())
    names = reader.directory.of(way)
    return Path(tuple(names[i].name for i in way), tuple(relations))
