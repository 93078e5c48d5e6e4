"""A conversation of which parts are lost, made whole again from what is left: the invariants of a record hold in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from recollect.record import Chunk, Message, NodeId, Thread, ToolCall, Turn, has_circle


def mended(thread: Thread) -> Thread:
    """The same with what still belongs together. A message whose parent is lost follows the one before it; tool calls
    stay with a message that is there; turns lose what they named, and go with their query; the chunks of a text that
    has lost one go, since the text itself is whole.
    """
    messages = _messages(thread.messages)
    there = {message.id for message in messages}
    calls = tuple(mend for call in thread.tool_calls if (mend := _call(call, thread.messages, there)) is not None)
    active = {message.id for message in messages if message.active}
    leaf = thread.conversation.leaf_id
    if leaf not in active:
        leaf = next((message.id for message in reversed(messages) if message.active), None)
    return Thread(
        conversation=replace(thread.conversation, leaf_id=leaf),
        messages=messages,
        tool_calls=calls,
        turns=_turns(thread.turns, there),
        chunks=_chunks(thread.chunks, there | {call.id for call in calls}),
    )


def _messages(found: Sequence[Message]) -> tuple[Message, ...]:
    ordered = sorted(found, key=lambda message: message.position)
    there = {message.id for message in ordered}
    made: list[Message] = []
    last_active: NodeId | None = None
    for position, message in enumerate(ordered):
        parent = message.parent_id
        if parent is not None and parent not in there:
            parent = last_active if message.active or not made else made[-1].id
        made.append(replace(message, position=position, parent_id=parent))
        last_active = message.id if message.active else last_active
    if has_circle({message.id: message.parent_id for message in made}):
        made = [replace(message, parent_id=None) for message in made]
    if made and not any(message.active for message in made):
        made[-1] = replace(made[-1], active=True)
    return _with_active_parents(made)


def _with_active_parents(messages: Sequence[Message]) -> tuple[Message, ...]:
    """What stands above an active message is active."""
    parents = {message.id: message.parent_id for message in messages}
    active: set[NodeId] = set()
    for message in messages:
        above: NodeId | None = message.id if message.active else None
        while above is not None and above not in active:
            active.add(above)
            above = parents.get(above)
    return tuple(replace(message, active=message.id in active) for message in messages)


def _call(call: ToolCall, messages: Sequence[Message], there: set[NodeId]) -> ToolCall | None:
    result = call.result_message_id if call.result_message_id in there else None
    if call.message_id in there:
        return replace(call, result_message_id=result)
    owner = result or (messages[-1].id if messages else None)
    return replace(call, message_id=owner, result_message_id=result) if owner is not None else None


def _turns(turns: Iterable[Turn], there: set[NodeId]) -> tuple[Turn, ...]:
    kept = [turn for turn in sorted(turns, key=lambda turn: turn.position) if turn.query_id in there]
    return tuple(
        replace(turn, position=position, response_ids=tuple(one for one in turn.response_ids if one in there))
        for position, turn in enumerate(kept)
    )


def _chunks(chunks: Iterable[Chunk], there: set[NodeId]) -> tuple[Chunk, ...]:
    texts: dict[tuple[NodeId, int], list[Chunk]] = {}
    for chunk in chunks:
        if chunk.parent_id in there:
            texts.setdefault((chunk.parent_id, chunk.part), []).append(chunk)
    return tuple(chunk for pieces in texts.values() for chunk in (pieces if _follow(pieces) else ()))


def _follow(pieces: Sequence[Chunk]) -> bool:
    """Whether they begin at the beginning and follow each other without gap."""
    ordered = sorted(pieces, key=lambda chunk: chunk.index)
    return [chunk.index for chunk in ordered] == list(range(len(ordered))) and ordered[0].start == 0
