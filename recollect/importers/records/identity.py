"""Whether two conversations are one, and which message of the one is which of the other.

Ids are believed where what was said agrees with them. Without ids a conversation is known by its words: it is the same
as a stored one only if one of the two is the beginning of the other. What cannot be told to be the same is another
conversation: a word too many in the memory is better than one too few.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from itertools import takewhile

from recollect.importers.records.assemble import turns_of
from recollect.record import Message, NodeId, Thread, reading_order, stable_id

_UNIQUE = 12  # characters of an id that says by itself which message it is; "7" and "msg_3" do not
_OPENING = 2  # messages that say little: "hi", "Hello! How can I help you today?"

Token = int


def tokens(thread: Thread, *, first_wording: bool = False) -> list[Token]:
    """What each message says, as a number that is the same for the same words (within one process)."""
    return _tokens(thread, thread.messages, first_wording=first_wording)


def is_same(incoming: Thread, stored: Thread) -> bool:
    """Whether an incoming conversation is the stored one, grown, cut or edited perhaps."""
    new, old = incoming.conversation, stored.conversation
    if new.source_id and old.source_id and new.source_id != old.source_id:
        return False
    if _unique_ids(incoming.messages) & _unique_ids(stored.messages):
        return True
    least = min(len(incoming.messages), len(stored.messages))
    if new.source_id and old.source_id:
        exact = new.created is not None and new.created.time() != datetime.min.time()
        return (exact and _is_moment(new.created, old.created)) or 2 * _in_common(incoming, stored) >= least
    if new.created and old.created and not _is_moment(new.created, old.created):
        return False
    if least <= _OPENING and not (new.created and old.created) and new.title and old.title and new.title != old.title:
        return False
    return least > 0 and _beginning_in_common(incoming, stored) == least


def as_stored(incoming: Thread, stored: Thread) -> Thread:
    """The incoming conversation under the ids of the stored one, which it is (`is_same`).

    A message that the store knows gets its id there, by the source's id, else by its words in their order; where it
    alone differs between two that agree, it is an edit. Any other gets an id that no message of the store has.
    """
    conversation_id = stored.conversation.id
    same_id = incoming.conversation.id == conversation_id
    if same_id and _has_its_ids(incoming, stored):
        return incoming
    known = _matches(incoming, stored)
    taken = {message.id for message in stored.messages}
    used = {message.id for message in known.values()}
    ids: dict[NodeId, NodeId] = {}
    for message in incoming.messages:
        same = known.get(message.id)
        if same is not None:
            ids[message.id] = same.id
        elif same_id and message.id not in taken:
            ids[message.id] = message.id
        else:
            above = ids.get(message.parent_id) if message.parent_id else None
            ids[message.id] = _free_id(conversation_id, above, message, used)
        used.add(ids[message.id])
    return _under_ids(incoming, conversation_id, ids, known)


def apart_ids(thread: Thread) -> list[NodeId]:
    """Ids for a conversation whose own is another's, made of its own and of all its messages, of all but one …: by one
    of these it is stored where it came so before.
    """
    ids, link = [], thread.conversation.id
    for message in thread.messages:
        link = stable_id("conversation", link, message.role, message.source_id, message.content)
        ids.append(link)
    return ids[::-1]


def set_apart(thread: Thread, conversation_id: NodeId) -> Thread:
    """The same conversation under another id, its messages likewise."""
    ids = {message.id: stable_id("message", conversation_id, message.id) for message in thread.messages}
    return _under_ids(thread, conversation_id, ids, {})


def _tokens(thread: Thread, messages: Sequence[Message], *, first_wording: bool = False) -> list[Token]:
    called: dict[NodeId, list[tuple[str, str]]] = {}
    for call in thread.tool_calls:
        called.setdefault(call.message_id, []).append((call.name, call.arguments))
    return [
        hash((
            message.role.value,
            message.versions[0].content if first_wording and message.versions else message.content,
            tuple(called.get(message.id, ())),
            () if message.content.strip() else tuple((part.name, part.text) for part in message.parts),
        ))
        for message in messages
    ]  # fmt: skip


def _unique_ids(messages: Iterable[Message]) -> set[str]:
    return {m.source_id for m in messages if m.source_id and len(m.source_id) >= _UNIQUE}


def _is_moment(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and other is not None and int(one.timestamp()) == int(other.timestamp())


def _in_common(incoming: Thread, stored: Thread) -> int:
    """How many messages say the same; one that was forgotten may have said anything."""
    there = Counter(tokens(stored)) | Counter(tokens(stored, first_wording=True))
    forgotten = sum(message.erased for message in stored.messages)
    return (Counter(tokens(incoming)) & there).total() + forgotten


def _beginning_in_common(incoming: Thread, stored: Thread) -> int:
    old = reading_order(stored.messages)
    return _agreeing(
        incoming.messages, old, tokens(incoming), _tokens(stored, old), _tokens(stored, old, first_wording=True)
    )


def _agreeing(
    new: Sequence[Message], old: Sequence[Message], says: Sequence[Token], now: Sequence[Token], first: Sequence[Token]
) -> int:
    """How many messages from the first on agree; what was forgotten agrees with any of its role."""
    pairs = zip(new, old, says, now, first, strict=False)
    same = takewhile(lambda p: p[2] in (p[3], p[4]) or (p[1].erased and p[0].role is p[1].role), pairs)
    return sum(1 for _ in same)


def _has_its_ids(incoming: Thread, stored: Thread) -> bool:
    """Whether the ids of the source say of every message which it is, as in most formats."""
    there = {message.id for message in stored.messages}
    named = {message.source_id for message in stored.messages}
    return None not in named and all(
        message.source_id and (message.id in there or message.source_id not in named) for message in incoming.messages
    )


def _matches(incoming: Thread, stored: Thread) -> dict[NodeId, Message]:
    """For each incoming message the stored one that it is; two that both have ids of the source only by these."""
    found = _by_source_id(incoming, stored)
    met = {message.id for message in found.values()}
    new = [message for message in incoming.messages if message.id not in found]
    old = [message for message in reading_order(stored.messages) if message.id not in met]
    says, now, first = _tokens(incoming, new), _tokens(stored, old), _tokens(stored, old, first_wording=True)
    places = _in_order(new, old, says, now, first)
    for at, place in {**places, **_edits(new, old, places)}.items():
        if not (new[at].source_id and old[place].source_id):
            found[new[at].id] = old[place]
    return found


def _by_source_id(incoming: Thread, stored: Thread) -> dict[NodeId, Message]:
    """For incoming messages the stored ones of the same id of the source: each is met once, first by its very words, as
    a program may give one id to several.
    """
    by_id: dict[str, list[Message]] = {}
    for message in stored.messages:
        if message.source_id:
            by_id.setdefault(message.source_id, []).append(message)
    found: dict[NodeId, Message] = {}
    met: set[NodeId] = set()
    for by_words in (True, False):
        for message in incoming.messages:
            if message.id in found or not message.source_id:
                continue
            there = sorted(by_id.get(message.source_id, ()), key=lambda other: other.id != message.id)
            fitting = (o for o in there if o.id not in met and (o.content == message.content or not by_words))
            if same := next(fitting, None):
                found[message.id] = same
                met.add(same.id)
    return found


def _in_order(
    new: Sequence[Message], old: Sequence[Message], says: Sequence[Token], now: Sequence[Token], first: Sequence[Token]
) -> dict[int, int]:
    """Which agree, in one order: all from the first on, all from the last back, and of the rest what is found."""
    head = _agreeing(new, old, says, now, first)
    left = min(len(new), len(old)) - head
    tail = min(left, _agreeing(new[::-1], old[::-1], says[::-1], now[::-1], first[::-1]))
    places = {at: at for at in range(head)}
    places |= {len(new) - back: len(old) - back for back in range(1, tail + 1)}
    where: dict[Token, list[int]] = {}
    for place in range(head, len(old) - tail):
        for token in {now[place], first[place]}:
            where.setdefault(token, []).append(place)
    after = head
    for at in range(head, len(new) - tail):
        there = where.get(says[at], ())
        index = bisect_left(there, after)
        if index < len(there):
            places[at] = there[index]
            after = there[index] + 1
    return places


def _edits(new: Sequence[Message], old: Sequence[Message], places: Mapping[int, int]) -> dict[int, int]:
    """Messages that alone differ between two that agree. The last one is none: an answer given anew is a branch."""
    met = set(places.values())
    found = {}
    for at in range(len(new) - 1):
        before = places.get(at - 1) if at else -1
        after = places.get(at + 1)
        if at in places or before is None or after != before + 2 or before + 1 in met:
            continue
        if old[before + 1].role is new[at].role:
            found[at] = before + 1
    return found


def _free_id(conversation_id: NodeId, above: NodeId | None, message: Message, used: Set[NodeId]) -> NodeId:
    said = (conversation_id, above, message.role, message.source_id, message.content)
    made = stable_id("message", *said)
    if made in used:
        made = stable_id("message", *said, message.id)
    return made


def _under_ids(
    thread: Thread, conversation_id: NodeId, ids: Mapping[NodeId, NodeId], known: Mapping[NodeId, Message]
) -> Thread:
    """The thread with other ids. What a source does not say any more of a message is taken from the one it is."""
    messages = tuple(
        _filled(
            replace(
                message,
                id=ids[message.id],
                conversation_id=conversation_id,
                parent_id=ids.get(message.parent_id) if message.parent_id else None,
            ),
            known.get(message.id),
        )
        for message in thread.messages
    )
    calls = {call.id: stable_id("call", ids[call.message_id], call.position) for call in thread.tool_calls}
    leaf = thread.conversation.leaf_id
    return Thread(
        conversation=replace(thread.conversation, id=conversation_id, leaf_id=ids.get(leaf) if leaf else None),
        messages=messages,
        tool_calls=tuple(
            replace(
                call,
                id=calls[call.id],
                message_id=ids[call.message_id],
                conversation_id=conversation_id,
                result_message_id=ids.get(call.result_message_id) if call.result_message_id else None,
            )
            for call in thread.tool_calls
        ),
        turns=turns_of(messages),
        chunks=tuple(
            replace(chunk, id=stable_id("chunk", parent, chunk.part, chunk.index), parent_id=parent)
            for chunk in thread.chunks
            for parent in [ids.get(chunk.parent_id) or calls[chunk.parent_id]]
        ),
    )


def _filled(message: Message, known: Message | None) -> Message:
    if known is None:
        return message
    return replace(
        message,
        source_id=message.source_id or known.source_id,
        timestamp=message.timestamp or known.timestamp,
        model=message.model or known.model,
        speaker=message.speaker or known.speaker,
    )
