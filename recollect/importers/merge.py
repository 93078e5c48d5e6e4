"""What an imported conversation changes in the store: nothing, something new, or an edit.

Nothing that is stored is ever taken away by an import: messages that the new export lacks stay, an older export cannot
undo a newer one, what the user deleted stays deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from recollect.importers.assemble import turns_of, windows_of
from recollect.importers.base import DraftMessage
from recollect.importers.tree import shape
from recollect.record import Chunk, Conversation, Message, NodeId, Thread, ToolCall, Turn, Version, utc_now
from recollect.record.wire import digest
from recollect.store.base import Placement, Stand, ThreadChange


@dataclass(frozen=True, slots=True)
class Plan:
    """A change with the conversation as it will then be, and the messages whose passages must be made (again)."""

    change: ThreadChange
    thread: Thread
    fresh: tuple[NodeId, ...]
    retitled: bool


def plan(incoming: Thread, stand: Stand | None, load: Callable[[], Thread | None]) -> Plan | None:
    """What is to be written for an incoming conversation, None where it is stored already just so.

    `stand` is what the store says of it, `load` reads the stored one (only called where there may be a difference).
    """
    mark = digest(incoming)
    if stand is not None and stand.digest == mark:
        return None
    stored = load() if stand is not None else None
    if stored is None:
        change = ThreadChange(
            incoming.conversation,
            base_revision=stand.revision if stand else 0,
            digest=mark,
            added=incoming.messages,
            tool_calls=incoming.tool_calls,
            turns=incoming.turns,
            chunks=incoming.chunks,
            windows=incoming.windows,
        )
        return Plan(change, incoming, tuple(m.id for m in incoming.messages), retitled=True)
    assert stand is not None
    return _merge(incoming, stored, stand, mark)


def _merge(incoming: Thread, stored: Thread, stand: Stand, mark: str) -> Plan | None:
    older = _is_older(incoming.conversation, stored.conversation)
    known = {message.id: message for message in stored.messages}
    thread = _union(incoming, stored, older)
    if not older and digest(thread) == digest(stored):
        # Equal but for what is ours (deletions, versions): remember that this export holds nothing new.
        change = ThreadChange(thread.conversation, base_revision=stand.revision, digest=mark)
        return Plan(change, thread, (), retitled=False)
    messages = thread.messages
    added = [m for m in messages if m.id not in known]
    if older and not added:
        return None
    edited = [m for m in messages if m.id in known and not _same(m, known[m.id])]
    moved = [
        Placement(m.id, m.position, m.active)
        for m in messages
        if m.id in known and (m.position, m.active) != (known[m.id].position, known[m.id].active)
    ]
    calls_before = {call.id: call for call in stored.tool_calls}
    calls = [call for call in thread.tool_calls if call != calls_before.get(call.id)]
    fresh = dict.fromkeys([*(m.id for m in (*added, *edited)), *(call.message_id for call in calls)])
    cut = fresh.keys() | {call.id for call in calls}
    change = ThreadChange(
        thread.conversation,
        base_revision=stand.revision,
        digest=None if older else mark,
        added=added,
        edited=edited,
        moved=moved,
        tool_calls=calls,
        turns=thread.turns,
        chunks=[chunk for chunk in thread.chunks if chunk.parent_id in cut],
        windows=thread.windows,
        window_count=len(thread.windows),
    )
    return Plan(change, thread, tuple(fresh), retitled=thread.conversation.title != stored.conversation.title)


def _union(incoming: Thread, stored: Thread, older: bool) -> Thread:
    """The conversation with everything of both; where they differ, the newer one counts."""
    known = {message.id: message for message in stored.messages}
    seen = {message.id for message in incoming.messages}
    merged = [
        known[m.id] if older and m.id in known else _updated(m, known.get(m.id), incoming) for m in incoming.messages
    ]
    kept = [message for message in stored.messages if message.id not in seen]
    conversation = _conversation(incoming.conversation, stored.conversation, older)
    messages, windows = merged, incoming.windows
    if kept or older:
        leaf = _leaf([*merged, *kept], conversation.leaf_id, stored.conversation.leaf_id)
        messages, end = _arranged([*merged, *kept], stored, leaf)
        conversation = replace(conversation, leaf_id=end)
        windows = windows_of(messages, conversation.id)
    first, second = (incoming, stored) if older else (stored, incoming)
    calls = {call.id: call for call in (*first.tool_calls, *second.tool_calls)}
    return Thread(
        conversation,
        tuple(messages),
        tuple(calls.values()),
        _turns(messages, stored.turns),
        _chunks(incoming, stored, messages, calls),
        windows,
    )


def _is_older(incoming: Conversation, stored: Conversation) -> bool:
    return bool(incoming.updated and stored.updated and incoming.updated < stored.updated)


def _updated(new: Message, old: Message | None, incoming: Thread) -> Message:
    """The new wording with the old ones kept; a deletion stays."""
    if old is None:
        return new
    versions = _history(new, old)
    if new.content != old.content:
        if len(new.versions) <= len(old.versions) and _was(new.content, old):
            # An earlier wording is nothing new: what was put right here outlasts the next import.
            new = replace(new, content=old.content, tokens=old.tokens)
        elif not _was(old.content, new):
            # The moment comes from the export, so that importing twice, or after a kill, gives the same record.
            moment = incoming.conversation.updated or new.timestamp or old.timestamp or utc_now()
            versions = (*versions, Version(old.content, moment))
    return replace(new, versions=versions, deleted=old.deleted or new.deleted)


def _history(new: Message, old: Message) -> tuple[Version, ...]:
    if set(old.versions) <= set(new.versions):
        return new.versions
    return (*old.versions, *(version for version in new.versions if version not in old.versions))


def _was(content: str, message: Message) -> bool:
    """Whether this was an earlier wording of the message."""
    return any(version.content == content for version in message.versions)


def _same(a: Message, b: Message) -> bool:
    return replace(a, position=0, active=True) == replace(b, position=0, active=True)


def _conversation(incoming: Conversation, stored: Conversation, older: bool) -> Conversation:
    if older:
        return stored
    return replace(
        incoming,
        title=incoming.title or stored.title,
        created=incoming.created or stored.created,
        deleted=stored.deleted,
        metadata={**stored.metadata, **incoming.metadata},
    )


def _leaf(messages: Sequence[Message], leaf: NodeId | None, stored: NodeId | None) -> NodeId | None:
    """The end of the active path; where the stored one only goes on from it, that stays."""
    above = {message.id: message.parent_id for message in messages}
    at = stored
    while at is not None and at != leaf:
        at = above.get(at)
    return leaf if at is None else stored


def _arranged(messages: Sequence[Message], stored: Thread, leaf: NodeId | None) -> tuple[list[Message], NodeId | None]:
    """The union of both in one reading order."""
    place = {message.id: message.position for message in stored.messages}
    ordered = sorted(messages, key=lambda m: place.get(m.id, len(place) + m.position))
    drafts = [
        DraftMessage(m.role, "-", source_id=m.id, parent=m.parent_id, timestamp=m.timestamp)  # no message is left out
        for m in ordered
    ]
    formed = shape(drafts, linear=False, leaf=leaf)
    by_id = {message.id: message for message in ordered}
    placed = [
        replace(by_id[NodeId(p.draft.source_id or "")], position=position, active=p.active)
        for position, p in enumerate(formed.placed)
    ]
    return placed, placed[formed.leaf].id if formed.leaf is not None else None


def _turns(messages: Sequence[Message], stored: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns of the union; what chat has written into stored ones stays."""
    known = {turn.id: turn for turn in stored}
    return tuple(
        replace(known[turn.id], position=turn.position, response_ids=turn.response_ids) if turn.id in known else turn
        for turn in turns_of(messages)
    )


def _chunks(
    incoming: Thread, stored: Thread, messages: Sequence[Message], calls: Mapping[NodeId, ToolCall]
) -> tuple[Chunk, ...]:
    """The chunks of each text from the side that the text comes from."""
    texts = {message.id: (message.content, message.parts) for message in messages}
    taken = {message.id for message in incoming.messages if texts[message.id] == (message.content, message.parts)}
    taken |= {call.id for call in incoming.tool_calls if calls[call.id].result == call.result}
    return tuple(
        chunk
        for chunks, ours in ((stored.chunks, False), (incoming.chunks, True))
        for chunk in chunks
        if (chunk.parent_id in taken) == ours
    )
