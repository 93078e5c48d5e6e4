"""Where a live message goes: at the end of the active path, or below an earlier message, which opens a branch.

A conversation is a tree whose messages never move. A branch only switches the path that is shown first, and costs what
any append costs: what is looked at ends where the old path and the new one meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from recollect.errors import NotFound
from recollect.index.passages import is_person, said_before
from recollect.record import Conversation, Kind, Message, NodeId, Role, Turn, stable_id
from recollect.store import End, Mark, View

_STEP = 16  # messages that are read at once on the way up


@dataclass(frozen=True, slots=True)
class BranchPlace:
    """A message at its place in a conversation, which was at a revision (0: it begins with this message)."""

    conversation: Conversation
    revision: int
    message: Message
    previous: Message | None  # what was said before it
    people: bool
    turns: tuple[Turn, ...]
    mark: tuple[Mark, ...] = ()
    revived: bool = False  # the conversation was deleted or forgotten, and is there again with this message


def place(view: View, conversation: Conversation, message: Message) -> BranchPlace:
    """Where a new message goes. Raises NotFound for a parent that is not in the conversation."""
    end = view.end(conversation.id)
    people = is_person(message.speaker) or bool(end and end.named)
    if end is None:
        if message.parent_id is not None:
            raise NotFound(f"No message has the ID {message.parent_id}.")
        first = replace(message, position=0, active=True)
        begun = replace(conversation, leaf_id=message.id)
        return BranchPlace(begun, 0, first, None, people, _turns(view, first, None))
    revived = end.conversation.deleted  # what was forgotten counts as deleted
    if revived:
        again = conversation if end.conversation.erased else replace(end.conversation, deleted=False)
        end = replace(end, conversation=again)
    parent = _parent(view, end, message)
    placed = replace(message, parent_id=parent, position=end.message_count, active=True)
    updated = max((t for t in (end.conversation.updated, message.timestamp) if t), default=None)
    return BranchPlace(
        replace(end.conversation, updated=updated, leaf_id=message.id),
        end.revision,
        placed,
        said_before(view, placed),
        people,
        _turns(view, placed, end),
        _switch(view, end, placed),
        revived,
    )


def place_answer(asked: BranchPlace, answer: Message) -> BranchPlace:
    """Where the answer to a message goes that is written with it: right below it, into the turn that it opened."""
    below = replace(answer, parent_id=asked.message.id, position=asked.message.position + 1, active=True)
    updated = max((t for t in (asked.conversation.updated, answer.timestamp) if t), default=None)
    return replace(
        asked,
        conversation=replace(asked.conversation, updated=updated, leaf_id=below.id),
        message=below,
        previous=asked.message,
        turns=tuple(replace(turn, response_ids=(below.id,)) for turn in asked.turns),
    )


def _parent(view: View, end: End, message: Message) -> NodeId | None:
    """What it answers: what it says, else the leaf. The results of several calls of one message follow each other."""
    asked = message.parent_id
    leaf = end.leaf
    if asked is None or leaf is None or asked == leaf.id:
        return asked or (leaf.id if leaf else None)
    if not any(found.conversation_id == end.conversation.id for found in view.get(Message, [asked])):
        raise NotFound(f"Conversation {end.conversation.id} has no message {asked}.")
    if message.kind is Kind.TOOL and leaf.kind is Kind.TOOL:
        for above in _upwards(view, leaf):
            if above.id == asked:
                return leaf.id
            if above.kind is not Kind.TOOL:
                break
    return asked


def _switch(view: View, end: End, message: Message) -> tuple[Mark, ...]:
    """What enters and what leaves the active path when this message becomes its end."""
    if end.leaf is None or message.parent_id == end.leaf.id:
        return ()
    entering: list[NodeId] = []
    meeting: NodeId | None = None
    for above in _upwards(view, message):
        if above.active:
            meeting = above.id
            break
        entering.append(above.id)
    leaving: list[NodeId] = []
    for above in chain([end.leaf], _upwards(view, end.leaf)):  # no further up than is needed
        if above.id == meeting:
            break
        leaving.append(above.id)
    marks = (Mark(ids=entering, active=True), Mark(ids=leaving, active=False))
    return tuple(mark for mark in marks if mark.ids)


def _turns(view: View, message: Message, end: End | None) -> tuple[Turn, ...]:
    """A user's words open a turn; an assistant's are added to the turn of the words that they answer."""
    if message.kind is not Kind.SAID:
        return ()
    if message.role is Role.USER:
        position = end.turn.position + 1 if end and end.turn else 0
        return (Turn(stable_id("turn", message.id), message.conversation_id, position, message.id),)
    if message.role is Role.ASSISTANT:
        for above in _upwards(view, message):
            if above.kind is Kind.SAID and above.role is Role.USER:
                turns = view.get(Turn, [stable_id("turn", above.id)])
                return tuple(replace(turn, response_ids=(*turn.response_ids, message.id)) for turn in turns)
    return ()


def _upwards(view: View, message: Message) -> Iterator[Message]:
    """What stands above a message, its parent first, read a few at a time. The message itself need not be stored."""
    at: Message | None = message
    while at is not None and at.parent_id is not None:
        parent = next(iter(view.get(Message, [at.parent_id])), None)
        if parent is None:
            return
        yield parent
        above = view.above(parent.id, _STEP)
        yield from above
        at = above[-1] if len(above) == _STEP else None
