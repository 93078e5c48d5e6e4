"""Which conversation a request goes on with, and what of it is known already.

Clients send what was said again and again, mostly without ids. So a message gets a name that follows from all that was
said before it: the same beginning leads to the same message, an edited one or another answer opens a branch. Who sends
no beginning is found by what only we can have told him (`aligning`): our answers, and the calls of tools that we passed
on. The same request once more, because its answer did not arrive, is the same turn.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Generic, TypeVar

from recollect.gateway.aligning import LOOKED_UP, align, as_told, likeness_of, marks
from recollect.gateway.scope import Asked
from recollect.gateway.talk import Talk
from recollect.memory import Memory
from recollect.record import Message, NodeId, new_id, stable_id

_PLACES, _ANSWERS, _TURNS = 40_000, 20_000, 2_000
_ALIKE = 8  # conversations in which the same was answered
_NEWEST = 16  # conversations that are looked through where nothing is remembered
_AGAIN = 300.0  # seconds after which the same request is a new one, unless the client says that it is not
_NOTHING = NodeId("")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a request stands. `names` are those of the messages that were said, by their places in the talk; `ids` what
    each gets as its id if it is new. `after` is the last of them that is known, -1 for none, and `parent` its id;
    `known` are the ids of those that are. `key` is the name of what is asked now, `chain` what the name of the answer
    follows from.
    """

    conversation_id: NodeId
    talk: Talk
    realm: tuple[str, str]
    names: Mapping[int, NodeId]
    ids: Mapping[int, NodeId]
    after: int = -1
    parent: NodeId | None = None
    known: Mapping[int, NodeId] = field(default_factory=dict)
    key: NodeId = _NOTHING
    chain: NodeId = _NOTHING
    goes_on: bool = False  # it says less than the conversation holds: the client leaves that to us

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it to keep, and nothing that its answer could stand below."""
        return not self.names and self.parent is None

    def without_talk(self) -> Placed:
        """The same, to be remembered: without what the request says, which may be long."""
        ids = {n: own for n, own in self.ids.items() if n > self.after}
        return replace(self, talk=Talk(()), names={}, ids=ids, known={})


class Recent(Generic[T]):
    """The newest of something, by the realm that it belongs to and a name. Thread-safe."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._kept: OrderedDict[tuple[tuple[str, str], NodeId], T] = OrderedDict()

    def keep(self, realm: tuple[str, str], name: NodeId, value: T) -> None:
        """Keeps it as the newest."""
        with self._lock:
            self._kept[realm, name] = value
            self._kept.move_to_end((realm, name))
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def find(self, realm: tuple[str, str], name: NodeId) -> T | None:
        """What was kept last under this name, if it is still there."""
        with self._lock:
            return self._kept.get((realm, name))


@dataclass(slots=True)
class _Turn:
    """A request that was placed: when it ended, None while it is answered, and whether the answer arrived."""

    placed: Placed
    attempt: str
    ended: float | None = None
    is_heard: bool = False


@dataclass(slots=True)
class Threads:
    """Thread-safe. What it remembers it would find in the store, only slower."""

    ids: Callable[[], NodeId] = new_id
    clock: Callable[[], float] = time.monotonic
    #: Held while something is kept: what is compared with the store must hold until it is written.
    keeping: threading.Lock = field(default_factory=threading.Lock)
    _places: Recent[tuple[NodeId, NodeId]] = field(default_factory=lambda: Recent(_PLACES))
    _answers: Recent[tuple[NodeId, ...]] = field(default_factory=lambda: Recent(_ANSWERS))
    _turns: Recent[_Turn] = field(default_factory=lambda: Recent(_TURNS))

    def place(self, memory: Memory, talk: Talk, asked: Asked, said: NodeId) -> Placed:
        """Where a request stands. `said` is the name of all that it says."""
        names = _turns(asked, said)
        earlier = next((found for name in names if (found := self._turns.find(asked.realm, name)) is not None), None)
        placed = self._place(memory, talk, asked)
        for _ in range(LOOKED_UP):
            own, call = placed.conversation_id, partial(self._call, asked.realm)
            told = as_told(memory, own, placed.talk, placed.after, placed.parent, call)
            if told is placed.talk:
                break
            placed = self._place(memory, told, asked)
        if earlier is not None and self._comes_again(earlier, asked):
            placed = self._again(placed, earlier.placed)
        if asked.stores:
            turn = _Turn(placed.without_talk(), asked.attempt)
            for name in (*names, *placed.names.values()) if len(placed.names) == 1 else names:
                self._turns.keep(asked.realm, name, turn)
        return placed

    def end(self, asked: Asked, said: NodeId, *, is_heard: bool) -> None:
        """Takes in that nothing more comes of a request; `is_heard`: the client has got its answer."""
        for name in _turns(asked, said):
            if (found := self._turns.find(asked.realm, name)) is not None and found.attempt == asked.attempt:
                found.ended, found.is_heard = self.clock(), found.is_heard or is_heard

    def remember(self, realm: tuple[str, str], name: NodeId, conversation_id: NodeId, message_id: NodeId) -> None:
        """Keeps where a message was put."""
        self._places.keep(realm, name, (conversation_id, message_id))

    def recall(self, realm: tuple[str, str], name: NodeId) -> tuple[NodeId, NodeId] | None:
        """Where it was put, if that is still remembered."""
        return self._places.find(realm, name)

    def told(self, realm: tuple[str, str], mark: NodeId, conversation_id: NodeId) -> None:
        """Keeps where an answer was given, or a tool called."""
        before = self._answers.find(realm, mark) or ()
        others = (other for other in before if other != conversation_id)
        self._answers.keep(realm, mark, (conversation_id, *others)[:_ALIKE])

    def _comes_again(self, earlier: _Turn, asked: Asked) -> bool:
        """Whether a request is an earlier one once more. One that is still being answered may be somebody else's."""
        if asked.attempt and asked.attempt == earlier.attempt:
            return True
        is_over = earlier.ended is not None and self.clock() - earlier.ended > _AGAIN
        return (asked.is_retried and not is_over) or self._is_unheard(earlier)

    def _is_unheard(self, turn: _Turn | None) -> bool:
        """Whether somebody still waits for the answer to a request that has ended."""
        if turn is None or turn.ended is None or turn.is_heard:
            return False
        return self.clock() - turn.ended <= _AGAIN

    def _again(self, placed: Placed, first: Placed) -> Placed:
        """The same turn where it was placed first, or below what was asked, where that is kept by now."""
        ids = {**placed.ids, **first.ids}
        known = placed.known if placed.conversation_id == first.conversation_id else {}
        again = replace(first, talk=placed.talk, names=placed.names, ids=ids, known=known)
        last = max(ids, default=-1)
        found = self.recall(placed.realm, ids[last]) if last > first.after else None
        if found is None or found[0] != first.conversation_id:
            return again
        return replace(again, after=last, parent=found[1], known={**known, last: found[1]})

    def _place(self, memory: Memory, talk: Talk, asked: Asked) -> Placed:
        said = [n for n, one in enumerate(talk.said) if one.is_said]
        realm, conversation = asked.realm, asked.conversation
        if talk.follows and (found := self._following(memory, realm, talk.follows)) is not None:
            names, _ = _names(talk, said, stable_id("below", found.id))
            own = found.conversation_id
            return Placed(
                own, talk, realm, names, names, -1, found.id, {}, _asked(talk, names), _end(names, own, found.id)
            )
        names, lasting = _names(talk, said, stable_id("talk", memory.namespace, conversation), conversation is not None)
        request = _Request(memory, talk, realm, said, names, lasting)
        if conversation is not None and len(said) < 2:
            return self._alone(request, conversation)
        # Two talks may begin alike: who has heard no answer yet, and names no conversation, begins a new one, unless he
        # goes on without the answer.
        is_known = conversation is not None or (
            len(said) > 1 and self._is_unheard(self._turns.find(realm, names[said[0]]))
        )
        known_at = said if is_known else said[1:]
        found_at = self._remembered(request, known_at) or _stored(request, known_at)
        if found_at is not None:
            after, own, parent = found_at
            known = {n: names[n] for n in said if n < after} | {after: parent}
            return request.placed(own, after, parent, known)
        for own in (conversation,) if conversation else self._candidates(request, looks=asked.recalls):
            aligned = align(memory, own, talk, said, partial(self._call, realm), is_named=conversation is not None)
            if aligned is not None:
                return request.placed(own, aligned.after, aligned.parent, aligned.known)
        if conversation is None:
            return request.placed(self.ids())
        return request.placed(conversation, goes_on=bool(memory.latest(conversation, 1)))

    def _remembered(self, request: _Request, places: Sequence[int]) -> tuple[int, NodeId, NodeId] | None:
        for n in reversed(places):
            if (found := self.recall(request.realm, request.names[n])) is not None:
                return n, *found
        return None

    def _call(self, realm: tuple[str, str], name: NodeId) -> NodeId:
        """Under which id a call is stored that would have this one."""
        found = self.recall(realm, name)
        return found[1] if found else name

    def _following(self, memory: Memory, realm: tuple[str, str], answer: str) -> Message | None:
        """The answer that the provider keeps under this name."""
        remembered = self.recall(realm, answer_id(answer))
        own = remembered[1] if remembered else answer_id(answer)
        return next(iter(memory.messages([own], forgotten=True)), None)

    def _alone(self, request: _Request, conversation: NodeId) -> Placed:
        """A single message of a conversation that is named: its first, or the newest of a client that sends no more.
        Without one: what tools answered.
        """
        latest = request.memory.latest(conversation, 2)
        if not request.said:
            return request.placed(conversation, parent=latest[-1].id if latest else None, goes_on=True)
        (at,) = request.said
        name = request.names[at]
        if not latest:
            return request.placed(conversation)
        asked_before = likeness_of(request.talk.said[at]) == likeness_of(latest[-1])  # and not answered in words
        above = latest[:-1] if asked_before else latest
        # The same words may have been said here before.
        key = stable_id(name, above[-1].id) if above else name
        placed = replace(request.placed(conversation, goes_on=bool(above)), ids={at: key}, key=key, chain=key)
        if not asked_before:
            has_results = any(one.results for one in request.talk.said[: at + 1])
            return replace(placed, parent=latest[-1].id) if has_results else placed
        return replace(placed, after=at, parent=latest[-1].id, known={at: latest[-1].id})

    def _candidates(self, request: _Request, *, looks: bool) -> Iterator[NodeId]:
        """The conversations that a request may go on with which neither names one nor tells its beginning: where we
        gave the answers in it, or called the tools, the latest first. `looks`: also the newest of the store.
        """
        found = marks(request.talk)
        seen: set[NodeId] = set()
        for mark in found:
            for own in self._answers.find(request.realm, mark) or ():
                if own not in seen:
                    seen.add(own)
                    yield own
        if found and looks:
            for row in request.memory.conversations(limit=_NEWEST):
                if row.conversation.id not in seen:
                    yield row.conversation.id


@dataclass(frozen=True, slots=True)
class _Request:
    """What a request says, with the names of that; those that are `lasting` are ids as well."""

    memory: Memory
    talk: Talk
    realm: tuple[str, str]
    said: Sequence[int]
    names: Mapping[int, NodeId]
    lasting: frozenset[int]

    def placed(
        self,
        conversation: NodeId,
        after: int = -1,
        parent: NodeId | None = None,
        known: Mapping[int, NodeId] | None = None,
        *,
        goes_on: bool = False,
    ) -> Placed:
        """It in a conversation."""
        ids = {n: name if n in self.lasting else within(conversation, name) for n, name in self.names.items()}
        chain = _end(self.names, conversation, parent)
        key = _asked(self.talk, self.names)
        return Placed(
            conversation, self.talk, self.realm, self.names, ids, after, parent, known or {}, key, chain, goes_on
        )


def answer_id(name: str) -> NodeId:
    """The id of an answer that the provider keeps under a name."""
    return stable_id("answer", name)


def within(conversation: NodeId, name: NodeId) -> NodeId:
    """The name of a message in one conversation alone: others may begin alike."""
    return stable_id("within", conversation, name)


def _turns(asked: Asked, said: NodeId) -> list[NodeId]:
    """The names of a turn: by what the client calls it and all that it says, and by that alone. Some clients call all
    that they ask the same.
    """
    return [*([stable_id("attempt", asked.client, asked.attempt, said)] if asked.attempt else []), said]


def _stored(request: _Request, places: Sequence[int]) -> tuple[int, NodeId, NodeId] | None:
    lasting = [n for n in places if n in request.lasting]
    for some in (lasting[-LOOKED_UP:], lasting[:-LOOKED_UP]):
        ids = [request.names[n] for n in some]
        found = {message.id: message for message in request.memory.messages(ids, forgotten=True)}
        for n in reversed(some):
            if (message := found.get(request.names[n])) is not None:
                return _further(request, n, message)
    return None


def _further(request: _Request, after: int, known: Message) -> tuple[int, NodeId, NodeId]:
    """What of the request is known behind a message: answers may have the names that a provider gives them as ids."""
    rest = [n for n in request.said if n > after]
    latest = request.memory.latest(known.conversation_id, LOOKED_UP) if rest else []
    below = latest[next((n for n, one in enumerate(latest, 1) if one.id == known.id), len(latest)) :]
    last = known.id
    for n, message in zip(rest, below, strict=False):
        if likeness_of(request.talk.said[n]) != likeness_of(message):
            break
        after, last = n, message.id
    return after, known.conversation_id, last


def _names(
    talk: Talk, said: Sequence[int], beginning: NodeId, is_named: bool = True
) -> tuple[dict[int, NodeId], frozenset[int]]:
    """The name of each message by all that leads to it, and which of the names may be ids: talks that are not named
    begin alike ("Hello"), and are told apart from the first answer on.
    """
    found: dict[int, NodeId] = {}
    lasting: set[int] = set()
    last = beginning
    for n in said:
        last = found[n] = stable_id(last, likeness_of(talk.said[n]))
        if is_named or lasting or talk.said[n].role == "assistant":
            lasting.add(n)
    return found, frozenset(lasting)


def _asked(talk: Talk, names: Mapping[int, NodeId]) -> NodeId:
    """The name of the newest question, whatever a model has said since on its way to an answer."""
    newest = next((n for n in sorted(names, reverse=True) if talk.said[n].role == "user"), max(names, default=-1))
    return names.get(newest, _NOTHING)


def _end(names: Mapping[int, NodeId], conversation: NodeId, parent: NodeId | None) -> NodeId:
    return names[max(names)] if names else stable_id("talk", conversation, parent)
