"""The shape of a conversation: who follows whom, which path is active, in which order all of it is read.

Sources hold doubled messages, parents that are nowhere, circles, empty joints and chains of 100,000: everything here
is therefore a loop over indexes, never a recursion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.importers.base import DraftCall, DraftMessage
from recollect.record import Part, to_microseconds

_ROOT = -1
_COMPARED = 8  # a source that gives one id to everything must not make us compare all with all


@dataclass(frozen=True, slots=True)
class Placed:
    """A message at its place. `parent` is the index of another in the same list, None for a root.

    `ordinal` is its place among the source's messages; `copy` counts, from 0, those that share its source id.
    """

    draft: DraftMessage
    ordinal: int
    copy: int
    parent: int | None
    active: bool


@dataclass(frozen=True, slots=True)
class TreeShape:
    """A conversation's messages in reading order: each after its parent, the active path first.

    `names` leads from keys and source ids to places in it, `leaf` to the end of the active path; `clashes` counts the
    messages that stood under the id of another.
    """

    placed: tuple[Placed, ...]
    names: dict[str, int]
    leaf: int | None
    clashes: int


@dataclass(slots=True)
class _Node:
    draft: DraftMessage
    ordinal: int
    copy: int
    others: tuple[str, ...] = ()  # what its other copies name as parent


def shape(drafts: Sequence[DraftMessage], *, linear: bool, leaf: str | None) -> TreeShape:
    """Puts a conversation's messages in their places.

    Copies of one message become one, in the first one's place, the fuller text kept; what has no words, parts or calls
    is left out and its children hang on its nearest kept ancestor; unknown parents make roots; a circle is opened at
    its first message. In linear conversations each follows the one before it and all are active.
    """
    nodes, names, clashes = _without_copies(drafts, linear=linear)
    parents = list(range(-1, len(nodes) - 1)) if linear else _open_circles(_named_parents(nodes, names))
    kept = [_says_anything(node.draft) for node in nodes]
    holders = _nearest_kept(parents, kept)
    above = [_ROOT if parent == _ROOT else holders[parent] for parent in parents]
    end = _leaf(nodes, kept, above, holders, linear=linear, leaf=names.get(leaf) if leaf else None)
    path = _path(above, end)
    order = _reading_order(kept, above, path)
    place = {node: position for position, node in enumerate(order)}
    placed = tuple(
        Placed(nodes[at].draft, nodes[at].ordinal, nodes[at].copy, place.get(above[at]), linear or at in path)
        for at in order
    )
    found = {name: place[at] for name, at in names.items() if at in place}
    return TreeShape(placed, found, place.get(end), clashes)


def _says_anything(draft: DraftMessage) -> bool:
    return bool(draft.parts or draft.calls or draft.content.strip())


def _without_copies(drafts: Sequence[DraftMessage], *, linear: bool) -> tuple[list[_Node], dict[str, int], int]:
    """One node a message, the names that lead to them, and how many messages shared an id without being copies."""
    nodes: list[_Node] = []
    keys: dict[str, int] = {}
    first: dict[str, int] = {}
    clashing: dict[str, list[int]] = {}  # the nodes after the first, where one id stands for several messages
    clashes = 0
    for ordinal, draft in enumerate(drafts):
        at, copy = None, 0
        if draft.source_id in first:
            same = [first[draft.source_id], *clashing.get(draft.source_id, ())[-_COMPARED:]]
            at = next((at for at in same if _join_copies(nodes[at], draft, exact=linear)), None)
        if at is None:
            at = len(nodes)
            if draft.source_id and first.setdefault(draft.source_id, at) != at:
                clashing.setdefault(draft.source_id, []).append(at)
                copy = len(clashing[draft.source_id])
                clashes += 1
            nodes.append(_Node(draft, ordinal, copy))
        if draft.key:
            keys.setdefault(draft.key, at)
    return nodes, first | keys, clashes


def _join_copies(node: _Node, later: DraftMessage, *, exact: bool) -> bool:
    """Takes the later copy into the node, if it is one: the same message, or one of the two the beginning of the other.

    The last copy counts, unless it is the shorter one. `exact`: in a list, where a program may give one id to several,
    only the same words are a copy.
    """
    if node.draft.role is not later.role or (exact and node.draft.content != later.content):
        return False
    if _continues(node.draft, later):
        other, node.draft = node.draft.parent, later
    elif _continues(later, node.draft):
        other = later.parent
    else:
        return False
    if other and other not in node.others and len(node.others) < _COMPARED:
        node.others = (*node.others, other)
    return True


def _continues(first: DraftMessage, second: DraftMessage) -> bool:
    """Whether the second holds all that the first holds, and perhaps more."""
    return (
        second.content.startswith(first.content)
        and len(second.parts) >= len(first.parts)
        and len(second.calls) >= len(first.calls)
        and all(_part_continues(*pair) for pair in zip(first.parts, second.parts, strict=False))
        and all(_call_continues(*pair) for pair in zip(first.calls, second.calls, strict=False))
    )


def _part_continues(first: Part, second: Part) -> bool:
    return first.kind is second.kind and first.name == second.name and second.text.startswith(first.text)


def _call_continues(first: DraftCall, second: DraftCall) -> bool:
    return (
        first.name == second.name
        and second.arguments.startswith(first.arguments)
        and second.result.startswith(first.result)
    )


def _named_parents(nodes: Sequence[_Node], names: dict[str, int]) -> list[int]:
    """The parent of each node by its name; itself and what is nowhere do not count."""
    parents: list[int] = []
    for at, node in enumerate(nodes):
        parent = names.get(node.draft.parent, _ROOT) if node.draft.parent else _ROOT
        if parent in (_ROOT, at):
            found = (names.get(name, _ROOT) for name in node.others)
            parent = next((other for other in found if other not in (_ROOT, at)), _ROOT)
        parents.append(parent)
    return parents


def _open_circles(parents: list[int]) -> list[int]:
    """The same parents, but that the first message of each circle is a root."""
    done = [False] * len(parents)
    for start in range(len(parents)):
        walk: dict[int, None] = {}
        at = start
        while at != _ROOT and not done[at] and at not in walk:
            walk[at] = None
            at = parents[at]
        if at in walk:
            circle = list(walk)
            parents[min(circle[circle.index(at) :])] = _ROOT
        for seen in walk:
            done[seen] = True
    return parents


def _nearest_kept(parents: Sequence[int], kept: Sequence[bool]) -> list[int]:
    """For each node itself, if it is kept, else its nearest kept ancestor."""
    nearest: list[int | None] = [at if keep else None for at, keep in enumerate(kept)]
    for start in range(len(parents)):
        walk: list[int] = []
        at = start
        while at != _ROOT and nearest[at] is None:
            walk.append(at)
            at = parents[at]
        holder = _ROOT if at == _ROOT else nearest[at]
        for joint in walk:
            nearest[joint] = holder
    return [_ROOT if at is None else at for at in nearest]


def _leaf(
    nodes: Sequence[_Node],
    kept: Sequence[bool],
    above: Sequence[int],
    holders: Sequence[int],
    *,
    linear: bool,
    leaf: int | None,
) -> int:
    """The end of the active path: the one that the source names, else the newest (of equals the last given)."""
    if not linear and leaf is not None and holders[leaf] != _ROOT:
        return holders[leaf]
    kept_nodes = [at for at in range(len(nodes)) if kept[at]]
    if linear:
        return kept_nodes[-1] if kept_nodes else _ROOT
    inner = {above[at] for at in kept_nodes}
    leaves = (at for at in kept_nodes if at not in inner)
    return max(leaves, key=lambda at: (to_microseconds(nodes[at].draft.timestamp) or 0, at), default=_ROOT)


def _path(above: Sequence[int], leaf: int) -> set[int]:
    path: set[int] = set()
    while leaf != _ROOT:
        path.add(leaf)
        leaf = above[leaf]
    return path


def _reading_order(kept: Sequence[bool], above: Sequence[int], path: set[int]) -> list[int]:
    """Depth first from the roots, siblings in the order given, except that the active path comes before all else."""
    children: dict[int, list[int]] = {}
    for at, keep in enumerate(kept):
        if keep:
            children.setdefault(above[at], []).append(at)
    order: list[int] = []
    waiting = _last_first(children.get(_ROOT, []), path)
    while waiting:
        at = waiting.pop()
        order.append(at)
        if at in children:
            waiting += _last_first(children[at], path)
    return order


def _last_first(siblings: list[int], path: set[int]) -> list[int]:
    return siblings if len(siblings) == 1 else sorted(siblings, key=lambda at: (at in path, -at))
