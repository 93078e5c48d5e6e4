"""Other names of messages and tool calls, by which a program finds again what it has stored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from recollect.errors import InvalidInput
from recollect.record import Edge, NodeId, checked_id, to_microseconds
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
