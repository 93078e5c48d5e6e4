"""Whether two conversations are one, and which message of the one is which of the other.

Ids are believed where what was said agrees with them. Without ids a conversation is known by its words: it is the same
as a stored one only if one of the two is the beginning of the other. What cannot be told to be the same is another
conversation: a word too many in the memory is better than one too few.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice, takewhile

from recollect.importers.records.assemble import turns_of
from recollect.importers.records.forgotten import Tombstones
from recollect.record import Conversation, Message, NodeId, Thread, reading_order, stable_id
from recollect.store import Revision, View, Where

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


# Which stored conversation an incoming one is, whatever ids it comes with.

_PAGE = 1000
_MOST = 32  # conversations that are read to find the one that an incoming one is
_EVER = "ever"

Begun = int | str | None  # the second of its beginning; `_EVER` finds a conversation whenever it was begun


@dataclass(frozen=True, slots=True)
class Settled:
    """A conversation under the id that it is stored by; `stored`: what is there, where that was read.

    `apart`: the id that it came with is another conversation's.
    """

    thread: Thread
    stored: Thread | None = None
    apart: bool = False

    def load(self, view: View) -> Thread | None:
        """What is stored of it."""
        return self.stored or view.thread(self.thread.conversation.id)


class Chains:
    """Conversations by their words: finds those of which one is the beginning of the other.

    Two that were begun at different seconds are never the same; a conversation that does not say when may be any.
    """

    def __init__(self) -> None:
        self._whole: dict[tuple[int, Begun], list[NodeId]] = {}
        self._begin: dict[tuple[int, Begun], list[NodeId]] = {}  # by the first 1, 2, 4, 8 … messages
        self._chains: dict[NodeId, list[array[int]]] = {}

    def __bool__(self) -> bool:
        return bool(self._chains)

    def add(self, thread: Thread, says: Sequence[Token]) -> None:
        """Remembers a conversation by what its messages say."""
        chain, one = _chain(says), thread.conversation.id
        if not chain or chain in self._chains.get(one, ()):
            return
        self._chains.setdefault(one, []).append(chain)
        for begun in dict.fromkeys((_begun(thread), _EVER)):
            self._whole.setdefault((chain[-1], begun), []).append(one)
            length = 1
            while length <= len(chain):
                self._begin.setdefault((chain[length - 1], begun), []).append(one)
                length *= 2

    def like(self, thread: Thread, says: Sequence[Token]) -> Iterator[NodeId]:
        """Conversations that are the beginning of this one, the longest first, then those that it begins; not all."""
        return islice(self._like(_begun(thread), _chain(says)), _MOST)

    def _like(self, begun: Begun, chain: Sequence[int]) -> Iterator[NodeId]:
        times = (_EVER,) if begun is None else (begun, None)
        for link in reversed(chain):
            for time in times:
                yield from self._whole.get((link, time), ())
        half = 1 << (len(chain).bit_length() - 1) if chain else 0
        for time in times if chain else ():
            for one in self._begin.get((chain[half - 1], time), ()):
                if any(len(known) > len(chain) and known[len(chain) - 1] == chain[-1] for known in self._chains[one]):
                    yield one


def _begun(thread: Thread) -> Begun:
    created = thread.conversation.created
    return None if created is None else int(created.timestamp())


def _chain(says: Sequence[Token]) -> array[int]:
    chain, link = array("q"), 0
    for token in says:
        link = hash((link, token))
        chain.append(link)
    return chain


@dataclass(slots=True)
class _Source:
    """What is stored of one source. `firsts`: conversations of which only the first message was looked at; `roots`: by
    the source's id of their first message.
    """

    by_source_id: dict[str, list[NodeId]] = field(default_factory=dict)  # mostly one
    unread: list[NodeId] = field(default_factory=list)
    firsts: dict[Token, list[NodeId]] = field(default_factory=dict)
    roots: dict[str, NodeId] = field(default_factory=dict)
    chains: Chains = field(default_factory=Chains)
    without_ids: bool = False


class Known:
    """What is stored, as one import learns of it. `by_ids`: the conversations say themselves which they are."""

    def __init__(self, *, by_ids: bool = False) -> None:
        self._by_ids = by_ids
        self._sources: dict[str, _Source] = {}
        #: Which forgotten conversations one is that is stored under no id.
        self.forgotten = Tombstones()

    @property
    def reads_words(self) -> bool:
        """Whether conversations without ids were met: then others are compared with what is stored by their words."""
        return any(source.without_ids for source in self._sources.values())

    def settle(self, view: View, incoming: Thread, revision: Revision | None) -> Settled:
        """The conversation under the id by which it is stored or is to be; `revision` is that of its own id."""
        if self._by_ids:
            return Settled(incoming)
        own = incoming.conversation.id
        stored = view.thread(own) if revision else None
        if stored and not stored.conversation.erased and is_same(incoming, stored):
            return Settled(as_stored(incoming, stored), stored)
        for one in self._like(view, incoming):
            other = view.thread(one) if one != own else None
            if other and not other.conversation.erased and is_same(incoming, other):
                return Settled(as_stored(incoming, other), other)
        if stored is None or is_same(incoming, stored):
            return Settled(incoming, stored)
        return self._apart(view, incoming)

    def learn(self, thread: Thread) -> None:
        """Takes in what was written."""
        source = self._sources.get(thread.conversation.source)
        if source is None:
            return
        source_id, one = thread.conversation.source_id, thread.conversation.id
        if source_id:
            same = source.by_source_id.setdefault(source_id, [])
            same += [] if one in same else [one]
            if not source.without_ids:
                source.unread.append(one)
                return
        source.without_ids = True
        source.chains.add(thread, tokens(thread))
        if thread.messages and (root := thread.messages[0].source_id):
            source.roots.setdefault(root, one)

    def _apart(self, view: View, incoming: Thread) -> Settled:
        """The conversation under an id of its own, by which an earlier, shorter state of it may be stored."""
        ids = apart_ids(incoming)
        known = view.revisions(ids)
        for one in ids:
            stored = view.thread(one) if one in known else None
            if stored and is_same(incoming, stored):
                return Settled(as_stored(incoming, stored), stored)
        return Settled(set_apart(incoming, ids[0]), apart=True)

    def _like(self, view: View, incoming: Thread) -> Iterator[NodeId]:
        conversation = incoming.conversation
        source = self._sources.get(conversation.source)
        if source is None:
            source = self._sources[conversation.source] = _listed(view, conversation.source)
        if conversation.source_id:
            yield from source.by_source_id.get(conversation.source_id, ())[:_MOST]
        if conversation.source_id and not source.without_ids:
            return
        source.without_ids = True
        _read_firsts(view, source)
        says = tokens(incoming)
        if not says:
            return
        if root := source.roots.get(incoming.messages[0].source_id or ""):
            yield root
        for one in source.firsts.pop(_opening(incoming.messages[0])[0], ()):
            if stored := view.thread(one):
                source.chains.add(stored, tokens(stored))
                source.chains.add(stored, tokens(stored, first_wording=True))
        yield from source.chains.like(incoming, says)


def _listed(view: View, name: str) -> _Source:
    source = _Source()
    after: str | None = None
    while True:
        page = view.find(Conversation, Where(sources=(name,)), after=after, limit=_PAGE)
        for conversation in page.items:
            if conversation.erased:
                continue
            source.unread.append(conversation.id)
            if conversation.source_id:
                source.by_source_id.setdefault(conversation.source_id, []).append(conversation.id)
            else:
                source.without_ids = True
        if page.next is None:
            return source
        after = page.next


def _read_firsts(view: View, source: _Source) -> None:
    """Looks at the first message of what is stored, once."""
    for start in range(0, len(source.unread), _PAGE):
        ids = source.unread[start : start + _PAGE]
        for message in view.around([(one, 0, 0) for one in ids]):
            for token in dict.fromkeys(_opening(message)):
                source.firsts.setdefault(token, []).append(message.conversation_id)
            if message.source_id:
                source.roots.setdefault(message.source_id, message.conversation_id)
    source.unread.clear()


def _opening(message: Message) -> list[Token]:
    """What a first message says, and said before it was edited; what it calls does not count."""
    first = Thread(Conversation(message.conversation_id, ""), (message,))
    return [*tokens(first), *tokens(first, first_wording=True)]
