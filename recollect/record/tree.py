"""A conversation as a tree: which messages lead to one, in which order all of it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recollect.record.ids import NodeId
from recollect.record.nodes import Message


def path_to(leaf: NodeId | None, parents: Mapping[NodeId, NodeId | None]) -> list[NodeId]:
    """The way from a root down to `leaf`, both included; what is not in `parents` ends it.

    >>> path_to("c", {"a": None, "b": "a", "c": "b", "d": "a"})
    ['a', 'b', 'c']
    """
    path: dict[NodeId, None] = {}
    while leaf is not None and leaf in parents and leaf not in path:
        path[leaf] = None
        leaf = parents[leaf]
    return list(reversed(path))


def has_circle(parents: Mapping[NodeId, NodeId | None]) -> bool:
    """Whether following parents ever comes back.

    >>> has_circle({"a": "b", "b": "a"})
    True
    """
    safe: set[NodeId] = set()
    for start in parents:
        walk: set[NodeId] = set()
        at: NodeId | None = start
        while at is not None and at not in safe:
            if at in walk:
                return True
            walk.add(at)
            at = parents.get(at)
        safe |= walk
    return False


def reading_order(messages: Sequence[Message]) -> list[Message]:
    """Depth first from the roots, siblings as they came, except that the active path comes before all else."""
    known = {message.id for message in messages}
    children: dict[NodeId | None, list[Message]] = {}
    for message in sorted(messages, key=lambda m: (m.active, -m.position)):  # popped from the end
        above = message.parent_id if message.parent_id in known else None
        children.setdefault(above, []).append(message)
    ordered: list[Message] = []
    waiting = list(children.get(None, ()))
    while waiting:
        message = waiting.pop()
        ordered.append(message)
        waiting += children.get(message.id, ())
    return ordered
