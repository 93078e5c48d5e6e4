"""Which conversation a request goes on with, and what of it is known already.

Clients send what was said again and again, mostly without ids. So a message gets a name that follows from all that was
said before it: the same beginning leads to the same message, an edited one or another answer opens a branch. Who sends
no beginning is found by what only we can have told him (`aligning`): our answers, and the calls of tools that we passed
on. All these names are aliases in the store, so that a restart changes nothing; of clients that are apart they hold the
key, so that none goes on with what another has said.

Where several talks have the same beginning, the one goes on that agrees with most of the calls and results that the
request tells, then with most of its answers to the letter. If that does not decide, it is the latest that has not gone
on yet, nor is being answered; if all have, the latest gets a branch. So two windows that say the same are two
conversations, and only words that are alike from the first to the last may change places. The same request again, once
answered, is the question of another such talk, if there is one; else it stands where it was asked, and gets another
answer.

The same request once more, because its answer did not arrive, is the same turn.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from recollect.gateway.aligning import (
    LOOKED_UP,
    Aligned,
    agreement,
    align,
    as_told,
    calls_behind,
    end_of,
    likeness_of,
    marks,
    with_answers,
    without_forgotten,
)
from recollect.gateway.scope import RequestScope
from recollect.gateway.talk import Dialogue
from recollect.memory import Memory
from recollect.record import Kind, Message, NodeId, Role, new_id, stable_id, utc_now
from recollect.text.clean import clean_text

_TURNS = 2_000
_AT_ONCE = 64  # so many realms are placed in at once, at most
_AGAIN = 300.0  # seconds after which the same request is a new one, unless the client says that it is not
_NOTHING = NodeId("")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PlacedDialogue:
    """Where a request stands. `names` are those of the messages that were said, by their places in the talk; `ids` what
    each gets as its id if it is new. `after` is the last of them that is known, -1 for none, and `parent` its id. `key`
    is the name of what is asked now, `chain` what the name of the answer follows from.
    """

    conversation_id: NodeId
    talk: Dialogue
    realm: tuple[str, str]
    names: Mapping[int, NodeId]
    ids: Mapping[int, NodeId]
    after: int = -1
    parent: NodeId | None = None
    key: NodeId = _NOTHING
    chain: NodeId = _NOTHING
    goes_on: bool = False  # it says less than the conversation holds: the client leaves that to us
    turn: NodeId = _NOTHING  # an alias of what is asked now

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it to keep, and nothing that its answer could stand below."""
        return not self.names and self.parent is None

    def without_talk(self) -> PlacedDialogue:
        """The same, to be remembered: without what the request says, which may be long."""
        ids = {n: own for n, own in self.ids.items() if n > self.after}
        return replace(self, talk=Dialogue(()), names={}, ids=ids)


class RecentDialogues(Generic[T]):
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

    def drop(self, realm: tuple[str, str], name: NodeId) -> None:
        """Keeps it no longer."""
        with self._lock:
            self._kept.pop((realm, name), None)


@dataclass(slots=True)
class _Turn:
    """A request that was placed: when it ended, None while it is answered, and whether the answer arrived."""

    placed: PlacedDialogue
    attempt: str
    ended: float | None = None
    is_heard: bool = False


@dataclass(slots=True)
class Threads:
    """Thread-safe."""

    ids: Callable[[], NodeId] = new_id
    clock: Callable[[], float] = time.monotonic
    #: Held while something is kept: what is compared with the store must hold until it is written.
    keeping: threading.Lock = field(default_factory=threading.Lock)
    _placing: Sequence[threading.Lock] = field(default_factory=lambda: [threading.Lock() for _ in range(_AT_ONCE)])
    _turns: RecentDialogues[_Turn] = field(default_factory=lambda: RecentDialogues(_TURNS))
    #: Below which messages an answer is on its way, and since when; by the name of the turn.
    _open: RecentDialogues[tuple[NodeId, float]] = field(default_factory=lambda: RecentDialogues(_TURNS))

    def place(self, memory: Memory, talk: Dialogue, asked: RequestScope, said: NodeId) -> PlacedDialogue:
        """Where a request stands. `said` is the name of all that it says."""
        with self._placing[hash(asked.realm) % _AT_ONCE]:
            placed = self._placed(memory, talk, asked, said)
        return replace(placed, turn=_turn_alias(asked, said))

    def _placed(self, memory: Memory, talk: Dialogue, asked: RequestScope, said: NodeId) -> PlacedDialogue:
        names = _turns(asked, said)
        earlier = next((found for name in names if (found := self._turns.find(asked.realm, name)) is not None), None)
        placed = self._place(memory, with_answers(memory, talk, asked.realm), asked, said)
        if (told := without_forgotten(memory, placed.talk, placed.after)) is not placed.talk:
            placed = self._place(memory, told, asked, said)
        for _ in range(LOOKED_UP):
            told = as_told(memory, placed.conversation_id, placed.talk, placed.after, placed.parent)
            if told is placed.talk:
                break
            placed = self._place(memory, told, asked, said)
        if not asked.is_retried:
            placed = self._said_anew(memory, placed)
        if earlier is not None and self._comes_again(earlier, asked):
            placed = _again(memory, placed, earlier.placed)
        elif earlier is None:
            placed = _kept(memory, placed, asked, said)
        if asked.stores:
            turn = _Turn(placed.without_talk(), asked.attempt)
            for name in (*names, *placed.names.values()) if len(placed.names) == 1 else names:
                self._turns.keep(asked.realm, name, turn)
            if placed.parent is not None:
                self._open.keep(asked.realm, placed.parent, (said, self.clock()))
        return placed

    def end(self, asked: RequestScope, said: NodeId, *, is_heard: bool) -> None:
        """Takes in that nothing more comes of a request; `is_heard`: the client has got its answer."""
        for name in _turns(asked, said):
            if (found := self._turns.find(asked.realm, name)) is not None and found.attempt == asked.attempt:
                found.ended, found.is_heard = self.clock(), found.is_heard or is_heard
                parent = found.placed.parent
                if parent is not None and (self._open.find(asked.realm, parent) or ("", 0.0))[0] == said:
                    self._open.drop(asked.realm, parent)

    def _comes_again(self, earlier: _Turn, asked: RequestScope) -> bool:
        """Whether a request is an earlier one once more. One that is still being answered may be somebody else's."""
        if asked.attempt and asked.attempt == earlier.attempt:
            return True
        is_over = earlier.ended is not None and self.clock() - earlier.ended > _AGAIN
        return (asked.is_retried and not is_over) or self._is_unheard(earlier)

    def _said_anew(self, memory: Memory, placed: PlacedDialogue) -> PlacedDialogue:
        """The same, beside what is asked where that was deleted: who says it again at the end says something new."""
        last = max(placed.names, default=-1)
        if placed.parent is None or not placed.after == last == len(placed.talk.said) - 1:
            return placed
        said = next(iter(memory.messages([placed.parent], forgotten=True)), None)
        if said is None or not said.deleted or said.role is not Role.USER or placed.talk.said[last].role != "user":
            return placed
        before = max((n for n in placed.names if n < last), default=-1)
        return replace(placed, after=before, parent=said.parent_id, ids={**placed.ids, last: self.ids()})

    def _is_unheard(self, turn: _Turn | None) -> bool:
        """Whether somebody still waits for the answer to a request that has ended."""
        if turn is None or turn.ended is None or turn.is_heard:
            return False
        return self.clock() - turn.ended <= _AGAIN

    def _place(self, memory: Memory, talk: Dialogue, asked: RequestScope, turn: NodeId) -> PlacedDialogue:
        said = [n for n, one in enumerate(talk.said) if one.is_said]
        realm, conversation = asked.realm, asked.conversation
        if talk.follows and (found := self._following(memory, realm, talk.follows, turn)) is not None:
            own, parent = found.conversation_id, _said_above(found)
            names, _ = _names(talk, said, stable_id("below", parent))
            return PlacedDialogue(
                own, talk, realm, names, names, -1, parent, _asked(talk, names), _end(names, own, parent)
            )
        # As 0.2.0 called the namespace, which has been renamed since: talks that began there go on.
        beginning = stable_id("talk", asked.earlier or memory.namespace, conversation, *filter(None, realm[1:]))
        names, lasting = _names(talk, said, beginning, conversation is not None)
        request = _Request(memory, talk, realm, said, names, lasting, turn)
        if conversation is not None and len(said) < 2:
            return self._alone(request, conversation, is_retried=asked.is_retried)
        # Two talks may begin alike: who has heard no answer yet, and names no conversation, begins a new one, unless he
        # goes on without the answer, or with calls that we passed on.
        # He has heard one, too, who tells what was forgotten.
        is_unheard = len(said) > 1 and self._is_unheard(self._turns.find(realm, names[said[0]]))
        is_known = conversation is not None or talk.forgotten > 0 or is_unheard
        for some in (said[-LOOKED_UP:], said[:-LOOKED_UP]):
            if (at := self._known(request, some, unproven=None if is_known else min(said, default=None))) is not None:
                after, message = _further_on(request, *at)
                return request.placed(message.conversation_id, after, message.id)
        for own in (conversation,) if conversation else _candidates(request):
            aligned = align(memory, own, talk, said, is_named=conversation is not None)
            if aligned is not None:
                return request.placed(own, aligned.after, aligned.parent)
        if conversation is None:
            return request.placed(self.ids())
        return request.placed(conversation, goes_on=bool(memory.latest(conversation, 1)))

    def _known(self, request: _Request, places: Sequence[int], unproven: int | None) -> tuple[int, Message] | None:
        """The last of some places whose message is stored, and that. At the `unproven` one calls must prove it."""
        memory, names = request.memory, request.names
        aliased = memory.integration.aliased(names[n] for n in places)
        # What was forgotten has no aliases, and what an earlier version stored; an id is left of both.
        unaliased = [names[n] for n in places if n in request.lasting and names[n] not in aliased]
        by_id = {message.id: message for message in memory.messages(unaliased, forgotten=True)}
        for n in reversed(places):
            if names[n] in by_id:
                return _further(request, n, by_id[names[n]])
            alike = memory.messages(aliased.get(names[n], ()))
            found = self._best(request, n, alike, is_proof=n == unproven)
            if found is not None:
                return self._beside(request, n, aliased) or (n, found)
        return None

    def _beside(
        self, request: _Request, at: int, aliased: Mapping[NodeId, Sequence[NodeId]]
    ) -> tuple[int, Message] | None:
        """Where a question that was asked before is asked by another talk, which was alike until then and has not gone
        on; None where there is none.
        """
        before = [n for n in request.said if n < at]
        if len(before) < 2 or at != request.said[-1] or calls_behind(request.talk, at):
            return None
        alike = request.memory.messages(aliased.get(request.names[before[-1]], ()))
        free = (message for message in alike if len(alike) > 1 and self._is_free(request, message))
        return next(((before[-1], message) for message in free), None)

    def _best(self, request: _Request, at: int, alike: Sequence[Message], *, is_proof: bool) -> Message | None:
        """Of messages with the same words before them, the newest first, the one that a request goes on from."""
        if len(alike) < 2 and not is_proof:
            return next(iter(alike), None)
        rated: list[tuple[tuple[bool, int, int, bool], Message]] = []
        for message in alike:
            agrees, same = agreement(request.memory, request.talk, at, message)
            goes_on = len(request.said) > 1 and self._is_free(request, message)
            if same or not is_proof or (goes_on and _is_unanswered(request.memory, message)):
                exact = _exact(request, at, message) if len(alike) > 1 else 0
                rated.append(((agrees, same, exact, self._is_free(request, message)), message))
        return max(rated, key=lambda one: one[0])[1] if rated else None

    def _is_free(self, request: _Request, message: Message) -> bool:
        """Whether a conversation ends with a message, and no other request is being answered below it."""
        turn, since = self._open.find(request.realm, message.id) or (request.turn, 0.0)
        if turn != request.turn and self.clock() - since <= _AGAIN:
            return False
        return [one.id for one in request.memory.latest(message.conversation_id, 1, deleted=True)] == [message.id]

    def _following(self, memory: Memory, realm: tuple[str, str], answer: str, turn: NodeId) -> Message | None:
        """The answer that the provider keeps under this name."""
        name = answer_alias(realm, answer)
        request = _Request(memory, Dialogue(()), realm, (), {}, frozenset(), turn)
        found = self._best(
            request, -1, memory.messages(memory.integration.aliased([name]).get(name, ())), is_proof=False
        )
        if found is None and not realm[1]:  # forgotten, or of an earlier version
            return next(iter(memory.messages([answer_id(answer)], forgotten=True)), None)
        return found

    def _alone(self, request: _Request, conversation: NodeId, *, is_retried: bool) -> PlacedDialogue:
        """A single message of a conversation that is named: its first, or the newest of a client that sends no more.
        Without one: what tools answered.
        """
        latest = request.memory.latest(conversation, 2)
        # Tried again after a restart, an answer may stand there already: then it goes on where its tools were called.
        behind = _where_called(request, conversation) if latest and is_retried else None
        if not request.said:
            is_there = behind is not None and behind.parent in [one.id for one in latest]
            parent = behind.parent if behind is not None and is_there else latest[-1].id if latest else None
            return request.placed(conversation, parent=parent, goes_on=True)
        (at,) = request.said
        name = request.names[at]
        if not latest:
            return request.placed(conversation)
        asked_before = likeness_of(request.talk.said[at]) == likeness_of(latest[-1])  # and not answered in words
        above = latest[:-1] if asked_before else latest
        # The same words may have been said here before.
        key = stable_id(name, above[-1].id) if above else name
        placed = replace(request.placed(conversation, goes_on=bool(above)), ids={at: key}, key=key, chain=key)
        if not asked_before and behind is not None and behind.after == at and behind.parent == latest[0].id:
            key = stable_id(name, latest[0].parent_id) if latest[0].parent_id else name
            return replace(placed, ids={at: key}, key=key, chain=key, after=at, parent=latest[0].id)
        if not asked_before:
            has_results = any(one.results for one in request.talk.said[: at + 1])
            return replace(placed, parent=latest[-1].id) if has_results else placed
        return replace(placed, after=at, parent=latest[-1].id)


@dataclass(frozen=True, slots=True)
class _Request:
    """What a request says, with the names of that; those that are `lasting` are ids as well. `turn` names all of it."""

    memory: Memory
    talk: Dialogue
    realm: tuple[str, str]
    said: Sequence[int]
    names: Mapping[int, NodeId]
    lasting: frozenset[int]
    turn: NodeId

    def placed(
        self,
        conversation: NodeId,
        after: int = -1,
        parent: NodeId | None = None,
        *,
        goes_on: bool = False,
    ) -> PlacedDialogue:
        """It in a conversation."""
        ids = {n: name if n in self.lasting else within(conversation, name) for n, name in self.names.items()}
        chain = _end(self.names, conversation, parent)
        key = _asked(self.talk, self.names)
        return PlacedDialogue(conversation, self.talk, self.realm, self.names, ids, after, parent, key, chain, goes_on)


def answer_id(name: str) -> NodeId:
    """The id of an answer that the provider keeps under a name."""
    return stable_id("answer", name)


def answer_alias(realm: tuple[str, str], name: str) -> NodeId:
    """The alias of an answer that the provider keeps under a name."""
    return stable_id("answered", realm[1], name)


def within(conversation: NodeId, name: NodeId) -> NodeId:
    """The name of a message in one conversation alone: others may begin alike."""
    return stable_id("within", conversation, name)


def _turns(asked: RequestScope, said: NodeId) -> list[NodeId]:
    """The names of a turn: by what the client calls it and all that it says, and by that alone. Some clients call all
    that they ask the same.
    """
    return [*([stable_id("attempt", asked.client, asked.attempt, said)] if asked.attempt else []), said]


def _again(memory: Memory, placed: PlacedDialogue, first: PlacedDialogue) -> PlacedDialogue:
    """The same turn where it was placed first, or below what was asked, where that is kept by now."""
    ids = {**placed.ids, **first.ids}
    again = replace(first, talk=placed.talk, names=placed.names, ids=ids)
    last = max(ids, default=-1)
    if last <= first.after:
        return again
    names = [*memory.integration.aliased([ids[last]]).get(ids[last], ()), ids[last]]
    found = next((one for one in memory.messages(names) if one.conversation_id == first.conversation_id), None)
    if found is None:
        return again
    return replace(again, after=last, parent=found.id)


def _kept(memory: Memory, placed: PlacedDialogue, asked: RequestScope, said: NodeId) -> PlacedDialogue:
    """The same, below what was asked if that was kept before a restart, and its answer did not arrive."""
    last, alias = max(placed.names, default=-1), _turn_alias(asked, said)
    if last <= placed.after:
        return placed
    for message in memory.messages(memory.integration.aliased([alias]).get(alias, ())):
        is_late = message.timestamp is None or (utc_now() - message.timestamp).total_seconds() > _AGAIN
        (end,) = memory.latest(message.conversation_id, 1, deleted=True) or [message]
        is_broken = end.parent_id == message.id and "incomplete" in end.metadata
        is_unheard = is_broken or (end.id == message.id and _is_unanswered(memory, message))
        if not is_late and (asked.is_retried or is_unheard):
            kept = replace(placed, conversation_id=message.conversation_id, after=last, parent=message.id)
            if asked.conversation is None or len(placed.names) > 1:
                return kept
            # Named as it was before it was kept: what its answer is called follows from that.
            key = stable_id(placed.names[last], message.parent_id) if message.parent_id else placed.names[last]
            return replace(kept, ids={last: key}, key=key, chain=key)
    return placed


def _is_unanswered(memory: Memory, message: Message) -> bool:
    """Whether the answer to the last message of a conversation had no words and called nothing, or never arrived."""
    return not memory.toolbox().get_tool_calls_by_message(message.id)


def _candidates(request: _Request) -> Iterator[NodeId]:
    """The conversations that a request may go on with which neither names one nor tells its beginning: where we gave
    the answers in it, or called the tools, the latest first.
    """
    memory, found = request.memory, marks(request.talk, request.realm)
    aliased = memory.integration.aliased(found)
    seen: set[NodeId] = set()
    for mark in found:
        ids = aliased.get(mark, [])
        there = {one.id: one.conversation_id for one in memory.messages(ids)} if ids else {}
        there |= {one.id: one.conversation_id for one in memory.integration.tool_calls(ids)} if ids else {}
        for own in (there[one] for one in ids if one in there):
            if own not in seen:
                seen.add(own)
                yield own


def _exact(request: _Request, at: int, message: Message) -> int:
    """How many answers of a request, from a place back, are to the letter those that lead to a message: what is alike
    may differ by a sign.
    """
    latest = request.memory.latest(message.conversation_id, LOOKED_UP, deleted=True)
    there = [one for one in latest if one.kind is not Kind.TOOL]
    end = next((n for n, one in enumerate(there) if one.id == message.id), -1)
    above = there[end::-1] if end >= 0 else [message]
    asked = [request.talk.said[n] for n in reversed(request.said) if n <= at]
    return sum(
        clean_text(one.text) == other.content
        for one, other in zip(asked, above, strict=False)
        if one.role == "assistant"
    )


def _where_called(request: _Request, conversation: NodeId) -> Aligned | None:
    """Where in a conversation the tools were called that a request tells of."""
    if not any(one.calls or one.results for one in request.talk.said):
        return None
    return align(request.memory, conversation, request.talk, request.said, is_named=True)


def _said_above(message: Message) -> NodeId:
    """A message that somebody said: of what a tool answered, what it was called below."""
    return message.parent_id if message.kind is Kind.TOOL and message.parent_id else message.id


def _turn_alias(asked: RequestScope, said: NodeId) -> NodeId:
    """The alias of what is asked by all that a request says."""
    return stable_id("turn", asked.realm[1], said)


def _further(request: _Request, after: int, known: Message) -> tuple[int, Message]:
    """What of the request is known behind a message: answers may have the names that a provider gives them as ids."""
    rest = [n for n in request.said if n > after]
    latest = request.memory.latest(known.conversation_id, LOOKED_UP, deleted=True) if rest else []
    below = latest[next((n for n, one in enumerate(latest, 1) if one.id == known.id), len(latest)) :]
    last = known
    for n, message in zip(rest, below, strict=False):
        if likeness_of(request.talk.said[n]) != likeness_of(message):
            break
        after, last = n, message
    return after, last


def _further_on(request: _Request, after: int, known: Message) -> tuple[int, Message]:
    """The same, behind what a client leaves out of the middle of a talk: all that it tells from there on, up to an
    answer, was said later in the same talk, in this order; and what was said right behind that answer.
    """
    rest = [n for n in request.said if n > after]
    ends = [at for at, n in enumerate(rest) if request.talk.said[n].role == "assistant"]
    if not ends:
        return after, known
    memory, name = request.memory, request.names[after]
    alike = memory.messages(memory.integration.aliased([name]).get(name, ()))
    asked = [likeness_of(request.talk.said[n]) for n in rest]
    for own in dict.fromkeys(message.conversation_id for message in (known, *alike)):
        latest = memory.latest(own, 2 * len(rest) + LOOKED_UP, deleted=True)
        there = [likeness_of(message) for message in latest]
        for end in reversed(ends):
            if (at := end_of(asked[: end + 1], there)) is not None:
                return _further(request, rest[end], latest[at])
    return after, known


def _names(
    talk: Dialogue, said: Sequence[int], beginning: NodeId, is_named: bool = True
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


def _asked(talk: Dialogue, names: Mapping[int, NodeId]) -> NodeId:
    """The name of the newest question, whatever a model has said since on its way to an answer."""
    newest = next((n for n in sorted(names, reverse=True) if talk.said[n].role == "user"), max(names, default=-1))
    return names.get(newest, _NOTHING)


def _end(names: Mapping[int, NodeId], conversation: NodeId, parent: NodeId | None) -> NodeId:
    return names[max(names)] if names else stable_id("talk", conversation, parent)
