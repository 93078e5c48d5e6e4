"""Which conversation a request goes on with, and what of it is known already.

Clients send what was said again and again, mostly without ids. So a message gets an id that follows from all that was
said before it: the same beginning leads to the same message, an edited one or another answer opens a branch. Where a
client has cut off or rewritten the beginning of a conversation that it names, the newest messages are compared instead.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from recollect.gateway.talk import Call, Said, Talk
from recollect.memory import Memory
from recollect.record import Message, NodeId, PartKind, new_id, stable_id

_REMEMBERED = 20_000  # places in conversations
_CALLS = 500
_LOOKED_UP = 64  # ids at once, from the end
_NOTHING = NodeId("")
_BESIDE = 8  # messages that the end may have more than the request


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a request stands. `digests` names each message that was said, by its place in the talk; `after` is the last
    of them that is known, -1 for none, and `parent` its id; `known` are the ids of those that are, by the same places.
    `key` is that of what is asked now.
    """

    conversation_id: NodeId
    talk: Talk
    digests: dict[int, NodeId]
    stable: frozenset[int]
    after: int = -1
    parent: NodeId | None = None
    known: Mapping[int, NodeId] = field(default_factory=dict)
    key: NodeId = _NOTHING
    goes_on: bool = False  # it says less than the conversation holds: the client leaves that to us
    names_answers: bool = True  # the answer's id follows from what was said


@dataclass(slots=True)
class Threads:
    """Thread-safe. What it remembers it would find in the store, only slower."""

    ids: Callable[[], NodeId] = new_id
    #: Held while something is kept: what is compared with the store must hold until it is written.
    keeping: threading.Lock = field(default_factory=threading.Lock)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _latest: OrderedDict[NodeId, tuple[NodeId, NodeId]] = field(default_factory=OrderedDict)
    _calls: OrderedDict[tuple[NodeId, str], Call] = field(default_factory=OrderedDict)

    def place(self, memory: Memory, talk: Talk, conversation: NodeId | None) -> Placed:
        """Where a request stands."""
        said = [n for n, one in enumerate(talk.said) if one.is_said]
        digests, stable = _digests(talk.said, said, str(memory.namespace), conversation)
        # The newest question, whatever a model has said since on its way to an answer.
        newest = next((n for n in reversed(said) if talk.said[n].role == "user"), said[-1] if said else None)
        asked = _NOTHING if newest is None else digests[newest]
        if talk.follows and (found := self._following(memory, talk.follows)) is not None:
            return Placed(found.conversation_id, talk, digests, stable, -1, found.id, key=asked)
        if conversation is not None and not said:  # what tools answered
            parent = next((message.id for message in memory.latest(conversation, 1)), None)
            return Placed(conversation, talk, digests, stable, parent=parent, goes_on=True)
        if conversation is not None and len(said) == 1:
            return self._alone(memory, talk, digests, stable, conversation, said[0])
        matched = self._remembered(said, digests, conversation) or self._stored(memory, said, digests, stable)
        if matched is not None:
            after, own, parent = matched
            known = {n: digests[n] for n in said if n < after} | {after: parent}
            return Placed(own, talk, digests, stable, after, parent, known, asked)
        if conversation is None:
            return Placed(self.ids(), talk, digests, stable, key=asked)
        return self._aligned(memory, talk, digests, stable, conversation, said, asked)

    def remember(self, digest: NodeId, conversation_id: NodeId, message_id: NodeId) -> None:
        """Keeps where a message was put."""
        with self._lock:
            self._latest[digest] = conversation_id, message_id
            self._latest.move_to_end(digest)
            while len(self._latest) > _REMEMBERED:
                self._latest.popitem(last=False)

    def recall(self, digest: NodeId) -> tuple[NodeId, NodeId] | None:
        """Where it was put, if that is still remembered."""
        with self._lock:
            return self._latest.get(digest)

    def called(self, conversation_id: NodeId, call: Call) -> None:
        """Keeps a call until its result comes: where the provider keeps what was said, nobody tells of it again."""
        with self._lock:
            self._calls[conversation_id, call.id] = call
            self._calls.move_to_end((conversation_id, call.id))
            while len(self._calls) > _CALLS:
                self._calls.popitem(last=False)

    def call(self, conversation_id: NodeId, id: str) -> Call:
        """The call of that id, or one of which nothing is known."""
        with self._lock:
            return self._calls.get((conversation_id, id)) or Call(id, "tool", "")

    def _remembered(
        self, said: Sequence[int], digests: dict[int, NodeId], conversation: NodeId | None
    ) -> tuple[int, NodeId, NodeId] | None:
        for n in reversed(said):
            found = self.recall(digests[n])
            # Two talks may begin alike: who has heard no answer yet, and names no conversation, begins a new one.
            if found is not None and (conversation is not None or n != said[0]):
                return n, *found
        return None

    def _stored(
        self, memory: Memory, said: Sequence[int], digests: dict[int, NodeId], stable: frozenset[int]
    ) -> tuple[int, NodeId, NodeId] | None:
        lasting = [n for n in said if n in stable]
        for some in (lasting[-_LOOKED_UP:], lasting[:-_LOOKED_UP]):
            found = {message.id: message for message in memory.messages([digests[n] for n in some], forgotten=True)}
            for n in reversed(some):
                if (message := found.get(digests[n])) is not None:
                    return n, message.conversation_id, message.id
        return None

    def _following(self, memory: Memory, answer: str) -> Message | None:
        """The answer that the provider keeps under this name."""
        remembered = self.recall(answer_id(answer))
        own = remembered[1] if remembered else answer_id(answer)
        return next(iter(memory.messages([own], forgotten=True)), None)

    def _alone(
        self,
        memory: Memory,
        talk: Talk,
        digests: dict[int, NodeId],
        stable: frozenset[int],
        conversation: NodeId,
        at: int,
    ) -> Placed:
        """A single message of a conversation that is named: its first, or the newest of a client that sends no more."""
        latest = memory.latest(conversation, 2)
        if latest and _likeness_of(talk.said[at]) == _likeness_of(latest[-1]):  # asked again, for want of an answer
            before = latest[-2].id if len(latest) > 1 else None
            key = stable_id(digests[at], before)
            known = {at: latest[-1].id}
            goes_on, parent = before is not None, latest[-1].id
            return Placed(conversation, talk, digests, frozenset(), at, parent, known, key, goes_on, not goes_on)
        if not latest:
            return Placed(conversation, talk, digests, stable, key=digests[at])
        key = stable_id(digests[at], latest[-1].id)  # the same words may have been said here before
        return Placed(conversation, talk, digests, frozenset(), key=key, goes_on=True, names_answers=False)

    def _aligned(
        self,
        memory: Memory,
        talk: Talk,
        digests: dict[int, NodeId],
        stable: frozenset[int],
        conversation: NodeId,
        said: Sequence[int],
        asked: NodeId,
    ) -> Placed:
        """By the newest messages of a conversation that is named: the client has cut off what was before them."""
        newest = said[-_LOOKED_UP:]
        latest = memory.latest(conversation, len(newest) + _BESIDE)
        asked_for, there = [_likeness_of(talk.said[n]) for n in newest], [_likeness_of(m) for m in latest]
        for end in range(len(there) - 1, -1, -1):
            for at in range(len(newest) - 1, -1, -1):
                run = _run(asked_for[: at + 1], there[: end + 1])
                if run > 1 or (run == 1 and at == 0 and latest[end].role == "assistant"):
                    known = {newest[at - back]: latest[end - back].id for back in range(run)}
                    return Placed(conversation, talk, digests, stable, newest[at], latest[end].id, known, asked)
        return Placed(conversation, talk, digests, stable, key=asked, goes_on=bool(latest))


def answer_id(name: str) -> NodeId:
    """The id of an answer that the provider keeps under a name."""
    return stable_id("answer", name)


def likeness(role: str, text: str, assets: Sequence[str] = ()) -> NodeId:
    """What two wordings of one message have in common: clients trim blanks, and write the markup of answers in more
    ways than one. What a person says is a sign away from something else: C is not C++.
    """
    if role == "assistant":
        letters = "".join(filter(str.isalnum, text.casefold()))
        return stable_id(role, letters or text.strip(), *assets)
    return stable_id(role, "".join(text.split()), *assets)


def _digests(
    talk: Sequence[Said], said: Sequence[int], namespace: str, conversation: NodeId | None
) -> tuple[dict[int, NodeId], frozenset[int]]:
    """The name of each message by all that leads to it, and which of the names may be ids: talks that are not named
    begin alike ("Hello"), and are told apart from the first answer on.
    """
    found: dict[int, NodeId] = {}
    stable: set[int] = set()
    last = stable_id("talk", namespace, conversation)
    for n in said:
        one = talk[n]
        last = found[n] = stable_id(last, likeness(one.role, one.text, one.assets))
        if conversation is not None or stable or one.role == "assistant":
            stable.add(n)
    return found, frozenset(stable)


def _likeness_of(one: Said | Message) -> NodeId:
    if isinstance(one, Said):
        return likeness(one.role, one.text, one.assets)
    assets = [part.name for part in one.parts if part.kind is PartKind.ASSET]
    return likeness(one.role.value, one.content, assets)


def _run(some: Sequence[NodeId], others: Sequence[NodeId]) -> int:
    """How many at the end of both are the same."""
    pairs = zip(reversed(some), reversed(others), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
