"""Entities from conversations: mentions are edges, and an entity is the sum of the mentions that lead to it.

So an append adds to what is there, whatever its size; an edit or deletion takes back what the message had added, and
the same messages give the same entities in whatever portions and order they come.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from recollect.derive.entities.message import Recent, mention_edges
from recollect.derive.entities.naming import YOU, entity_id
from recollect.derive.entities.relating import Changed, Related
from recollect.derive.entities.tally import BY_MODEL, BY_TURN, MENTIONS, Share, Tally, shares
from recollect.derive.tasks.base import STALE, Effects, Portion, Setting
from recollect.derive.tasks.runs import Runs
from recollect.record import Edge, Metadata, Node, NodeId
from recollect.store import Task, View

KIND = "entities"
RUNS = Runs(KIND)

_ALL = 10_000_000


class Entities:
    """Derives entities, who mentions them, and what is said of them, by rules."""

    name = "entities"
    version = 2

    def derive(self, view: View, portions: Sequence[Portion], setting: Setting) -> Effects:
        """Mentions of new messages, and the entities and relations that change by them."""
        fresh: list[Edge] = []
        states: dict[NodeId, Metadata] = {}
        tasks: list[Task] = []
        for portion in portions:
            edges, state = _of_portion(portion)
            fresh += edges
            asked, pending = RUNS.wished(view, portion, setting)
            tasks += asked
            states[portion.conversation.id] = {**state, **pending}
        old = _before(view, portions)
        kept = still_said([edge for edge in old if edge.name == BY_MODEL], portions)
        return replace(settled(view, old, [*fresh, *kept]), states=states, tasks=tasks)


def still_said(edges: Sequence[Edge], portions: Sequence[Portion]) -> list[Edge]:
    """Of a model's mentions those whose run is as it was."""
    if not edges:
        return []
    living = {i for portion in portions if portion.whole for i in RUNS.prefixes(portion.messages)}
    return [edge for edge in edges if edge.properties.get("run") in living]


def settled(view: View, old: Sequence[Edge], new: Sequence[Edge]) -> Effects:
    """What is to be written where the mentions `new` take the place of `old`."""
    before, after = shares(old), shares(new)
    changed: Changed = {
        key: after.get(key) for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key)
    }
    stale = {node.id for node in view.get(Node, sorted({entity for _, entity in before})) if node.state == STALE}
    nodes = _nodes(view, {entity for _, entity in changed} | stale, before, changed)
    related = Related()
    for (message, entity), share in changed.items():
        related.differ(message, entity, before.get((message, entity)), share)
    people = frozenset(node.id for node in nodes if node.body.get("type") == "person") | {entity_id(YOU)}
    edges, cut = related.effects(view, people, changed)
    same = {edge.key: edge.properties for edge in old}
    keys = {edge.key for edge in new}
    return Effects(
        put=nodes,
        edges=[*(edge for edge in new if same.get(edge.key) != edge.properties), *edges],
        cut=[*(key for key in same if key not in keys), *cut],
    )


def _of_portion(portion: Portion) -> tuple[list[Edge], Metadata]:
    recent = Recent.read(portion.state)
    edges: list[Edge] = []
    for message in portion.messages:
        edges += mention_edges(message, recent)
    return edges, recent.state()


def _before(view: View, portions: Iterable[Portion]) -> list[Edge]:
    """The mentions that are there of messages that are derived whole, or gone."""
    ids = [i for portion in portions if portion.whole for i in (*(m.id for m in portion.messages), *portion.gone)]
    return [edge for edge in view.edges(ids, (MENTIONS,), "out", _ALL) if edge.name != BY_TURN] if ids else []


def _nodes(
    view: View, entities: set[NodeId], before: dict[tuple[NodeId, NodeId], Share], changed: Changed
) -> list[Node]:
    known = {node.id: node for node in view.get(Node, sorted(entities))}
    of_entity: dict[NodeId, list[tuple[NodeId, NodeId]]] = {}
    for key in changed:
        of_entity.setdefault(key[1], []).append(key)
    put = []
    for entity in sorted(entities):
        tally, exact = Tally.of(known.get(entity)), True
        for key in of_entity.get(entity, ()):
            if (share := before.get(key)) is not None:
                exact = tally.subtract(share) and exact
        if not exact:
            tally = _counted(view, entity, changed)
        for key in of_entity.get(entity, ()):
            if (now := changed[key]) is not None:
                tally.add(now)
        node = tally.node(entity, known.get(entity))
        if node is not None:
            put.append(node)
    return put


def _counted(view: View, entity: NodeId, changed: Changed) -> Tally:
    """The entity summed up anew, without what changes: its first or last mention has gone."""
    tally = Tally()
    for key, share in sorted(shares(view.edges([entity], (MENTIONS,), "in", _ALL)).items()):
        if key not in changed:
            tally.add(share)
    return tally
