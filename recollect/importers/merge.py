"""What an imported conversation changes in the store: nothing, something new, or an edit.

Nothing that is stored is ever taken away by an import: messages that the new export lacks stay, an older export cannot
undo a newer one, what the user deleted stays deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from recollect.importers.assemble import turns_of, windows_of
from recollect.importers.base import DraftMessage
from recollect.importers.tree import shape
from recollect.record import Conversation, Message, NodeId, Thread, Turn, Version, utc_now
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
    seen = {message.id for message in incoming.messages}
    merged = [
        known[m.id] if older and m.id in known else _updated(m, known.get(m.id), incoming) for m in incoming.messages
    ]
    kept = [message for message in stored.messages if message.id not in seen]
    conversation = _conversation(incoming.conversation, stored.conversation, older)
    if kept or older:
        messages, leaf = _arranged([*merged, *kept], stored, conversation.leaf_id)
        conversation = replace(conversation, leaf_id=leaf)
    else:
        messages = merged
    windows = windows_of(messages, conversation.id) if kept or older else incoming.windows
    calls = {call.id: call for call in (*stored.tool_calls, *incoming.tool_calls)}
    turns = _turns(messages, stored.turns)
    chunks = tuple(c for c in stored.chunks if c.parent_id not in seen) + incoming.chunks
    thread = Thread(conversation, tuple(messages), tuple(calls.values()), turns, chunks, windows)
    if not older and digest(thread) == digest(stored):
        # Equal but for what is ours (deletions, versions): remember that this export holds nothing new.
        change = ThreadChange(conversation, base_revision=stand.revision, digest=mark)
        return Plan(change, thread, (), retitled=False)
    added = [m for m in messages if m.id not in known]
    edited = [m for m in messages if m.id in known and not _same(m, known[m.id])]
    moved = [
        Placement(m.id, m.position, m.active)
        for m in messages
        if m.id in known and (m.position, m.active) != (known[m.id].position, known[m.id].active)
    ]
    if older and not added:
        return None
    change = ThreadChange(
        conversation,
        base_revision=stand.revision,
        digest=None if older else mark,
        added=added,
        edited=edited,
        moved=moved,
        tool_calls=incoming.tool_calls,
        turns=thread.turns,
        chunks=incoming.chunks,
        windows=windows,
        window_count=len(windows),
    )
    fresh = tuple(m.id for m in (*added, *edited))
    return Plan(change, thread, fresh, retitled=conversation.title != stored.conversation.title)


def _is_older(incoming: Conversation, stored: Conversation) -> bool:
    return bool(incoming.updated and stored.updated and incoming.updated < stored.updated)


def _updated(new: Message, old: Message | None, incoming: Thread) -> Message:
    """The new wording with the old ones kept; a deletion stays."""
    if old is None:
        return new
    versions = new.versions if len(new.versions) > len(old.versions) else old.versions
    if new.content != old.content and len(new.versions) <= len(old.versions):
        # The moment comes from the export, so that importing twice, or after a kill, gives the same record.
        moment = incoming.conversation.updated or new.timestamp or old.timestamp or utc_now()
        versions = (*versions, Version(old.content, moment))
    return replace(new, versions=versions, deleted=old.deleted or new.deleted)


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


def _arranged(messages: Sequence[Message], stored: Thread, leaf: NodeId | None) -> tuple[list[Message], NodeId | None]:
    """The union of both in one reading order."""
    place = {message.id: message.position for message in stored.messages}
    ordered = sorted(messages, key=lambda m: place.get(m.id, len(place) + m.position))
    drafts = [
        DraftMessage(m.role, m.content or "-", source_id=m.id, parent=m.parent_id, timestamp=m.timestamp)
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
