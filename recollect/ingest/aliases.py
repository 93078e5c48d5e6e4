"""Other names of messages and tool calls, by which a program finds again what it has stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from recollect.record import Edge, NodeId, to_microseconds
from recollect.store import Change, Space, View

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
    for edge in there:
        if (edge.source_id, edge.target_id) not in given:
            sharing.setdefault(edge.target_id, []).append(edge)
    old = [edge for alike in sharing.values() for edge in alike[: max(len(alike) - ALIKE + 1, 0)]]
    space.write(Change(edges=edges, cut=[(e.source_id, e.type, e.target_id, e.name) for e in old]))


def _by_age(view: View, aliases: Collection[NodeId]) -> list[Edge]:
    edges = view.edges(list(aliases), (KNOWN_AS,), "in", limit=4 * ALIKE * max(len(aliases), 1)) if aliases else []
    return sorted(edges, key=lambda edge: edge.properties.get("at", 0))
