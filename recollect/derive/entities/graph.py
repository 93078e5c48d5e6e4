"""The graph around an entity, and the ways between two: read a frontier at a time, so that a hub costs no more.

Relations are what messages say; beside them, entities that the same messages mention are MENTIONED_WITH each other.
That is not stored: it is read from the mentions when somebody asks. Shortest paths are networkx's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from recollect.derive.entities.directory import Directory
from recollect.derive.entities.entity import Entity
from recollect.derive.entities.relating import RELATED
from recollect.derive.entities.tally import MENTIONS
from recollect.record import Edge, NodeId
from recollect.store import View

if TYPE_CHECKING:
    import networkx

#: That the same messages mention two entities.
TOGETHER = "MENTIONED_WITH"

_RELATIONS = 2_000  # edges of one frontier
_MENTIONS = 4_000  # of the entities of a frontier
_MESSAGES = 300  # the newest of those
_MENTIONED = 6_000  # by them
_EVIDENCE = 5
_STEPS = 4  # from either end
_WIDEST = 400  # entities of a frontier
_PATHS = 3


@dataclass(frozen=True, slots=True)
class Relation:
    """That one entity stands in a relation to another: by how many messages, and which."""

    source: str
    name: str
    target: str
    weight: int
    evidence: tuple[NodeId, ...]
    source_id: NodeId = field(default=NodeId(""), repr=False)
    target_id: NodeId = field(default=NodeId(""), repr=False)

    def __str__(self) -> str:
        return f"{self.source} --[{self.name}]--> {self.target}"


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


def around(view: View, name: str, depth: int, limit: int) -> Graph:
    """What lies at most `depth` steps from an entity, at most `limit` entities. Raises NotFound."""
    reader = Reader(view)
    center = reader.directory.named(name)
    known: dict[NodeId, Entity] = {center.id: center}
    relations: dict[tuple[NodeId, str, NodeId], Relation] = {}
    frontier = [center]
    for _ in range(depth):
        found = [*reader.relations(frontier), *reader.together(frontier)]
        fresh = reader.nearest(found, known, limit - len(known) + 1)
        known |= {entity.id: entity for entity in fresh}
        for relation in found:
            relations.setdefault((relation.source_id, relation.name, relation.target_id), relation)
        frontier = fresh[:_WIDEST]
        if not frontier:
            break
    shown = [r for r in relations.values() if r.source_id in known and r.target_id in known]
    told = {frozenset((r.source_id, r.target_id)) for r in shown if r.name != TOGETHER}
    shown = [r for r in shown if r.name != TOGETHER or frozenset((r.source_id, r.target_id)) not in told]
    shown.sort(key=lambda r: (r.name == TOGETHER, -r.weight, r.source, r.name, r.target))
    return Graph(center, tuple(known.values())[1:], tuple(shown))


def between(view: View, source: str, target: str) -> Paths:
    """The shortest ways between two entities: by relations, else by what is mentioned together. Raises NotFound."""
    reader = Reader(view)
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
        relations.append(held[0] if held[0].name != TOGETHER or held[0].source_id == one else _turned(held[0]))
    names = reader.directory.of(way)
    return Path(tuple(names[i].name for i in way), tuple(relations))


def _turned(relation: Relation) -> Relation:
    """What holds both ways, from the other end."""
    return Relation(
        relation.target,
        relation.name,
        relation.source,
        relation.weight,
        relation.evidence,
        relation.target_id,
        relation.source_id,
    )


class Reader:
    """Relations of whole frontiers, among entities rather than their spellings."""

    def __init__(self, view: View) -> None:
        self._view, self.directory = view, Directory(view)

    def relations(self, frontier: Sequence[Entity]) -> list[Relation]:
        """What messages say of these."""
        ids = [i for entity in frontier for i in entity.ids]
        edges = self._view.edges(ids, (RELATED,), "out", _RELATIONS) + self._view.edges(
            ids, (RELATED,), "in", _RELATIONS
        )
        found = self.directory.of(i for edge in edges for i in (edge.source_id, edge.target_id))
        summed: dict[tuple[NodeId, str, NodeId], list[Edge]] = {}
        for edge in {(e.source_id, e.name, e.target_id): e for e in edges}.values():
            source, target = found.get(edge.source_id), found.get(edge.target_id)
            if source is not None and target is not None and source.id != target.id:
                summed.setdefault((source.id, edge.name, target.id), []).append(edge)
        return [
            Relation(
                found[edges_[0].source_id].name,
                name,
                found[edges_[0].target_id].name,
                sum(edge.properties["weight"] for edge in edges_),
                tuple(dict.fromkeys(NodeId(i) for edge in edges_ for i in edge.properties["evidence"]))[:_EVIDENCE],
                source,
                target,
            )
            for (source, name, target), edges_ in summed.items()
        ]

    def together(self, frontier: Sequence[Entity]) -> list[Relation]:
        """What the newest messages that mention these mention as well."""
        own = {i: entity for entity in frontier for i in entity.ids}
        mentioned = self._view.edges(list(own), (MENTIONS,), "in", _MENTIONS)
        by_message: dict[NodeId, set[NodeId]] = {}
        for edge in sorted(mentioned, key=lambda e: (-(e.properties.get("at") or 0), e.source_id)):
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
