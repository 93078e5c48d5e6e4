"""Which way through a conversation's branches is shown, and where others leave it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from recollect.record import Message, NodeId


@dataclass(frozen=True, slots=True)
class Fork:
    """A message that has others in its place: which of how many it is, and those before and after it."""

    number: int
    among: int
    previous: NodeId | None
    next: NodeId | None


@dataclass(frozen=True)
class BranchPath:
    """The messages that are shown, in order, of all that a conversation holds."""

    messages: tuple[Message, ...]
    every: tuple[Message, ...]

    def fork(self, message: Message) -> Fork | None:
        """Where a message is one of several in the same place."""
        siblings = self._below.get(message.parent_id, [])
        if len(siblings) < 2 or sum(m.id in self._ids for m in siblings) != 1:
            return None
        at = next(i for i, m in enumerate(siblings) if m.id == message.id)
        before = siblings[at - 1].id if at else None
        after = siblings[at + 1].id if at + 1 < len(siblings) else None
        return Fork(at + 1, len(siblings), before, after)

    @cached_property
    def _ids(self) -> frozenset[NodeId]:
        return frozenset(m.id for m in self.messages)

    @cached_property
    def _below(self) -> Mapping[NodeId | None, list[Message]]:
        return _children(self.every)


def path_through(messages: Sequence[Message], at: NodeId | None) -> BranchPath:
    """The path that is shown first; or where a message lies on another, the one that leads over it."""
    every = tuple(messages)
    wanted = next((m for m in every if m.id == at), None)
    active = tuple(m for m in every if m.active)
    if wanted is None or wanted.active:
        return BranchPath(active or every, every)
    by_id, below = {m.id: m for m in every}, _children(every)
    up, seen = [wanted], {wanted.id}
    while (parent := by_id.get(up[-1].parent_id or NodeId(""))) is not None and parent.id not in seen:
        up.append(parent)
        seen.add(parent.id)
    path = up[::-1]
    while following := [m for m in below.get(path[-1].id, []) if m.id not in seen]:
        path.append(following[-1])
        seen.add(path[-1].id)
    return BranchPath(tuple(path), every)


def _children(messages: Sequence[Message]) -> dict[NodeId | None, list[Message]]:
    """Messages by what they follow, in the order in which they came; what is gone has no place."""
    below: dict[NodeId | None, list[Message]] = {}
    for message in messages:
        if not message.erased:
            below.setdefault(message.parent_id, []).append(message)
    return below
