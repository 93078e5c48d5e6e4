"""The graph around an entity, and the ways between two: read a frontier at a time, so that a hub costs no more.

Relations are what facts hold and messages say (reader.py); beside them, entities that the same messages mention are
MENTIONED_WITH each other. That is not stored: it is read from the mentions when somebody asks. Shortest paths are
networkx's.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from recollect.derive.entities.entity import Entity
from recollect.derive.graph.reader import Reader
from recollect.derive.graph.relation import TOGETHER, Graph, Path, Paths, Relation
from recollect.record import NodeId
from recollect.store import View

if TYPE_CHECKING:
    import networkx

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
