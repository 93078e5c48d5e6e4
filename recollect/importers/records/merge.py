"""What an imported conversation changes in the store: nothing, something new, or an edit.

Nothing that is stored is ever taken away by an import: messages that the new export lacks stay, an older export cannot
undo a newer one, what the user deleted stays deleted, what was erased stays erased unless it is asked for again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.importers.records.assemble import turns_of
from recollect.record import (
    Chunk,
    Conversation,
    Document,
    Message,
    NodeId,
    Thread,
    ToolCall,
    Turn,
    Version,
    path_to,
    to_microseconds,
    utc_now,
)
from recollect.record.wire import digest
from recollect.store import Mark, Record, Revision


@dataclass(frozen=True, slots=True)
class MergePlan:
    """What to write for a conversation that was at a revision: records to put, marks, and the fingerprint to keep.

    `thread` is the conversation as it will then be, `fresh` are the messages whose passages must be made (again).
    """

    revision: int
    digest: str | None
    thread: Thread
    put: tuple[Record, ...]
    mark: tuple[Mark, ...]
    added: int
    fresh: tuple[NodeId, ...]
    retitled: bool

    @property
    def changes(self) -> bool:
        """Whether it brings anything but the fingerprint."""
        return bool(self.fresh or self.mark or self.retitled)


def plan(
    incoming: Thread,
    revision: Revision | None,
    load: Callable[[], Thread | None],
    *,
    fingerprint: str | None = None,
    again: bool = False,
) -> MergePlan | None:
    """What is to be written for an incoming conversation, None where it is stored already just so, or was erased.

    `revision` is what the store says of it, `load` reads the stored one (only called where there may be a difference).
    `fingerprint` is the digest of the incoming one, where that is known; `again` takes back what was erased.
    """
    fingerprint = fingerprint or digest(incoming)
    if revision is not None and not again and (revision.erased or revision.digest == fingerprint):
        return None
    stored = load() if revision is not None else None
    if stored is None or revision is None:
        records: tuple[Record, ...] = (
            incoming.conversation,
            *incoming.messages,
            *incoming.tool_calls,
            *incoming.turns,
            *incoming.chunks,
        )
        every = tuple(message.id for message in incoming.messages)
        number = revision.number if revision else 0
        return MergePlan(number, fingerprint, incoming, records, (), len(every), every, retitled=True)
    return _merge(incoming, stored, revision.number, fingerprint, again)


def _merge(incoming: Thread, stored: Thread, revision: int, fingerprint: str, again: bool) -> MergePlan | None:
    older = _is_older(incoming.conversation, stored.conversation) and not again
    known = {message.id: message for message in stored.messages}
    thread = _union(incoming, stored, older, again)
    is_longer = len(thread.messages) > len(known)  # then it is no use to compare all of both
    if not older and not is_longer and digest(thread) == digest(stored):
        # Equal but for what is ours (deletions, versions): remember that this export holds nothing new.
        return MergePlan(revision, fingerprint, thread, (thread.conversation,), (), 0, (), retitled=False)
    added = [m for m in thread.messages if m.id not in known]
    if older and not added:
        return None
    edited = [m for m in thread.messages if m.id in known and replace(m, active=known[m.id].active) != known[m.id]]
    calls_before = {call.id: call for call in stored.tool_calls}
    calls = [call for call in thread.tool_calls if call != calls_before.get(call.id)]
    turns_before = {turn.id: turn for turn in stored.turns}
    turns = [turn for turn in thread.turns if turn != turns_before.get(turn.id)]
    put = {m.id for m in (*added, *edited)}
    written = put | {call.id for call in calls}
    fresh = dict.fromkeys([*(m.id for m in (*added, *edited)), *(call.message_id for call in calls)])
    return MergePlan(
        revision,
        None if older else fingerprint,
        thread,
        put=(
            thread.conversation,
            *added,
            *edited,
            *calls,
            *turns,
            *(chunk for chunk in thread.chunks if chunk.parent_id in written),
        ),
        mark=_switched([m for m in thread.messages if m.id in known and m.id not in put], known),
        added=len(added),
        fresh=tuple(fresh),
        retitled=_is_title_new(thread.conversation, stored.conversation),
    )


def _is_title_new(now: Conversation, before: Conversation) -> bool:
    """Whether the title is another one, or is found again."""
    return now.title != before.title or (before.deleted and not now.deleted)


def _switched(messages: Sequence[Message], known: Mapping[NodeId, Message]) -> tuple[Mark, ...]:
    """The marks that bring the active path where it now leads."""
    changed = [m for m in messages if m.active != known[m.id].active]
    marks = [Mark(ids=[m.id for m in changed if m.active is active], active=active) for active in (True, False)]
    return tuple(mark for mark in marks if mark.ids)


def _union(incoming: Thread, stored: Thread, older: bool, again: bool) -> Thread:
    """The conversation with everything of both; where they differ, the newer one counts.

    What is stored keeps its position, what is new comes after it.
    """
    known = {message.id: message for message in stored.messages}
    seen = {message.id for message in incoming.messages}
    merged = [
        known[m.id] if older and m.id in known else _updated(m, known.get(m.id), incoming, again)
        for m in incoming.messages
    ]
    kept = [message for message in stored.messages if message.id not in seen]
    conversation = _conversation(incoming.conversation, stored.conversation, older)
    messages, leaf = _placed([*merged, *kept], known, conversation.leaf_id, stored.conversation.leaf_id)
    gone = all(message.deleted for message in messages)  # what comes into a deleted conversation brings it back
    conversation = replace(conversation, leaf_id=leaf, deleted=conversation.deleted and gone)
    first, second = (incoming, stored) if older else (stored, incoming)
    calls = {call.id: call for call in (*first.tool_calls, *second.tool_calls)}
    erased = {message.id for message in messages if message.erased}
    calls = {call.id: call for call in calls.values() if call.message_id not in erased}
    return Thread(
        conversation,
        tuple(messages),
        tuple(calls.values()),
        _turns(messages, stored.turns),
        _chunks(incoming, stored, messages, calls),
    )


def _is_older(incoming: Conversation, stored: Conversation) -> bool:
    return bool(incoming.updated and stored.updated and incoming.updated < stored.updated)


def _updated(new: Message, old: Message | None, incoming: Thread, again: bool) -> Message:
    """The new wording with the old ones kept; a deletion stays, and so does an erasing. What another memory erased is
    hidden here: nobody was asked whether it is to go for good.
    """
    if old is None or (old.erased and again):
        return new
    if old.erased or new.erased:
        return old if again else replace(old, deleted=True)
    versions = _history(new, old)
    if new.content != old.content:
        if len(new.versions) <= len(old.versions) and _was(new.content, old):
            # An earlier wording is nothing new: what was put right here outlasts the next import.
            new = replace(new, content=old.content, tokens=old.tokens)
        elif not _was(old.content, new) and new.kind is old.kind:  # of what it thought before it spoke there is a part
            # The moment comes from the export, so that importing twice, or after a kill, gives the same record.
            moment = incoming.conversation.updated or new.timestamp or old.timestamp or utc_now()
            versions = (*versions, Version(old.content, moment))
    return replace(new, versions=versions, deleted=old.deleted or new.deleted)


def updated(new: Document, old: Document | None, *, now: datetime, again: bool) -> Document | None:
    """The document to write, None where nothing is new. An earlier text of it is nothing new; what it said is kept."""
    if old is None or (old.erased and again):
        return new
    if old.erased or new.erased or any(version.content == new.content for version in old.versions):
        return None
    versions = _history(new, old)
    if new.content != old.content and not any(version.content == old.content for version in versions):
        versions = (*versions, Version(old.content, new.created or now))
    merged = replace(new, versions=versions)
    return merged if merged != old else None


def replaced(new: Document, old: Document | None, *, now: datetime, again: bool) -> Document | None:
    """The document to write, None where nothing is new. The new text counts, even where it is an earlier one."""
    if old is None or (old.erased and again):
        return new
    if old.erased:
        return None
    changed = new.content != old.content
    versions = (*old.versions, Version(old.content, now)) if changed else old.versions
    merged = replace(new, versions=versions)
    return merged if merged != old else None


def _history(new: Message | Document, old: Message | Document) -> tuple[Version, ...]:
    if set(old.versions) <= set(new.versions):
        return new.versions
    return (*old.versions, *(version for version in new.versions if version not in old.versions))


def _was(content: str, message: Message) -> bool:
    """Whether this was an earlier wording of the message."""
    return any(version.content == content for version in message.versions)


def _conversation(incoming: Conversation, stored: Conversation, older: bool) -> Conversation:
    if older:
        return stored
    if incoming.erased:
        return replace(stored, deleted=True)
    return replace(
        incoming,
        title=incoming.title or stored.title,
        source_id=incoming.source_id or stored.source_id,
        created=incoming.created or stored.created,
        updated=incoming.updated or stored.updated,
        deleted=stored.deleted and not stored.erased,
        metadata={**stored.metadata, **incoming.metadata},
    )


def _placed(
    messages: Sequence[Message], known: Mapping[NodeId, Message], leaf: NodeId | None, stored_leaf: NodeId | None
) -> tuple[list[Message], NodeId | None]:
    """The messages in their places with the active path marked, and where that ends.

    It ends at the incoming leaf; where the stored one only goes on from there, at that.
    """
    parents = {message.id: message.parent_id for message in messages}
    end = _end(messages, parents, leaf, stored_leaf)
    path = set(path_to(end, parents))
    new = [message for message in messages if message.id not in known]
    place = {message.id: len(known) + index for index, message in enumerate(new)}
    placed = [
        replace(
            message,
            position=known[message.id].position if message.id in known else place[message.id],
            active=message.id in path,
        )
        for message in messages
    ]
    return sorted(placed, key=lambda message: message.position), end


def _end(
    messages: Sequence[Message], parents: Mapping[NodeId, NodeId | None], leaf: NodeId | None, stored: NodeId | None
) -> NodeId | None:
    if leaf in parents and leaf not in path_to(stored, parents):
        return leaf
    if stored in parents:
        return stored
    inner = set(parents.values())
    ends = [message for message in messages if message.id not in inner]
    newest = max(ends, key=lambda m: (to_microseconds(m.timestamp) or 0, m.position), default=None)
    return newest.id if newest else None


def _turns(messages: Sequence[Message], stored: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns of the union; what chat has written into stored ones stays, and so do their places."""
    known = {turn.id: turn for turn in stored}
    made = turns_of(messages)
    new = [turn.id for turn in made if turn.id not in known]
    place = {turn_id: len(known) + index for index, turn_id in enumerate(new)}
    turns = [
        replace(known[turn.id], response_ids=turn.response_ids)
        if turn.id in known
        else replace(turn, position=place[turn.id])
        for turn in made
    ]
    return tuple(sorted(turns, key=lambda turn: (turn.position, turn.id)))


def _chunks(
    incoming: Thread, stored: Thread, messages: Sequence[Message], calls: Mapping[NodeId, ToolCall]
) -> tuple[Chunk, ...]:
    """The chunks of each text from the side that the text comes from."""
    texts = {message.id: (message.content, message.parts) for message in messages}
    taken = {message.id for message in incoming.messages if texts[message.id] == (message.content, message.parts)}
    taken |= {call.id for call in incoming.tool_calls if call.id in calls and calls[call.id].result == call.result}
    there = texts.keys() | calls.keys()
    return tuple(
        chunk
        for chunks, ours in ((stored.chunks, False), (incoming.chunks, True))
        for chunk in chunks
        if (chunk.parent_id in taken) == ours and chunk.parent_id in there
    )
