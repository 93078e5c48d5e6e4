"""Which stored conversation an incoming one is, whatever ids it comes with.

An id leads to a stored conversation first, then the words do. What is stored is read only as far as it begins alike.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from recollect.importers.records.forgotten import Tombstones
from recollect.importers.records.identity import Token, apart_ids, as_stored, is_same, set_apart, tokens
from recollect.record import Conversation, Message, NodeId, Thread
from recollect.store import Revision, View, Where

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
