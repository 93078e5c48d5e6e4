"""The tree of a ChatGPT conversation: a mapping of nodes, of which every part may be missing.

`parent` rules. `children` is left out by exports since May 2026, and only asked where a node names no parent that
exists. Nothing is walked here: the order is by time, circles and orphans are the assembler's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.importers.reading.lenient import first_id, time_of
from recollect.record import to_microseconds

_LATEST = 1e20

Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tree:
    """The nodes' keys in the order in which siblings stand, the key of each one's parent, and names for keys.

    `linear`: no node names another; then the order is that of the mapping.
    """

    order: tuple[str, ...]
    parents: Mapping[str, str | None]
    names: Mapping[str, str]
    linear: bool

    def below(self) -> dict[str | None, list[str]]:
        """The children of each key, in order."""
        found: dict[str | None, list[str]] = {}
        for at, key in enumerate(self.order):
            parent = (self.order[at - 1] if at else None) if self.linear else self.parents[key]
            found.setdefault(parent, []).append(key)
        return found


def read_tree(nodes: Mapping[str, Node]) -> Tree:
    """The tree that the nodes of a mapping make."""
    names = _names(nodes)
    parents = _parents(nodes, names)
    linear = len(nodes) > 1 and not any(parents.values())
    order = tuple(nodes) if linear else _by_time(nodes, parents)
    return Tree(order, parents, names, linear)


def message_of(node: Node) -> Mapping[str, Any] | None:
    """The message of a node, None where it has none."""
    message = node.get("message")
    return message if isinstance(message, dict) else None


def moment(value: object) -> datetime | None:
    """A time as ChatGPT writes it, in seconds; None also for numbers that no clock shows."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return time_of(value)
    return time_of(value) if isinstance(value, int | float) and abs(value) < _LATEST else None


def _names(nodes: Mapping[str, Node]) -> dict[str, str]:
    """What a node may be called by: its key, its own id, its message's id, the earlier before the later."""
    names = {key: key for key in nodes}
    for key, node in nodes.items():
        if own := first_id(node, ("id",)):
            names.setdefault(own, key)
    for key, node in nodes.items():
        if own := first_id(message_of(node) or {}, ("id",)):
            names.setdefault(own, key)
    return names


def _parents(nodes: Mapping[str, Node], names: Mapping[str, str]) -> dict[str, str | None]:
    claimed: dict[str, str] = {}
    for key, node in nodes.items():
        children = node.get("children")
        for child in children if isinstance(children, list) else ():
            if isinstance(child, str) and child in names:
                claimed.setdefault(names[child], key)
    return {key: _parent(key, node, names, claimed) for key, node in nodes.items()}


def _parent(key: str, node: Node, names: Mapping[str, str], claimed: Mapping[str, str]) -> str | None:
    if "parent" in node and node["parent"] is None:
        return None
    named = names.get(first_id(node, ("parent",)) or "")
    if named is None or named == key:
        named = claimed.get(key)
    return None if named == key else named


def _by_time(nodes: Mapping[str, Node], parents: Mapping[str, str | None]) -> tuple[str, ...]:
    """The keys by time. A node without a time has that of what comes below it, else of what stands before it."""
    times = {key: time for key, node in nodes.items() if (time := _time(node)) is not None}
    inherited: dict[str, int] = {}
    for key, time in times.items():
        above = parents[key]
        while above is not None and above not in times and inherited.get(above, math.inf) > time:
            inherited[above] = time
            above = parents[above]
    last = 0
    ranks: dict[str, int] = {}
    for key in nodes:
        ranks[key] = last = times.get(key, inherited.get(key, last))
    return tuple(sorted(nodes, key=ranks.__getitem__))


def _time(node: Node) -> int | None:
    return to_microseconds(moment((message_of(node) or {}).get("create_time")))
