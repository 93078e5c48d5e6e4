"""What is kept of a request and its answer: what is new in it, each thing once however often it comes.

Tools that were called stand below the words that they were called with, and get their results when these come back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.errors import NotFound
from recollect.gateway.aligning import (
    answer_marks,
    call_id,
    call_in_words,
    call_mark,
    calls_named,
    item_mark,
    likeness,
    likeness_of,
    meant_by,
)
from recollect.gateway.talk import Calls, DialogueCall, DialogueMessage, DialogueResult, HeardAnswer
from recollect.gateway.threads import PlacedDialogue, Threads, answer_alias, answer_id, within
from recollect.memory import Memory
from recollect.memory.recording import Recording
from recollect.record import Message, NodeId, Part, PartKind, ToolCall, stable_id
from recollect.text.clean import clean_text, clean_title, title_from


def keep(memory: Memory, threads: Threads, placed: PlacedDialogue, heard: HeardAnswer) -> None:
    """Stores what is new of a talk, and its answers: the first is what it goes on from, further ones are branches.
    Raises RecollectError.
    """
    with threads.keeping:
        keeping = _Keeping(memory, threads, placed)
        keeping.talk(len(placed.talk.said))
        keeping.answers(heard)
        keeping.write()


def keep_first(memory: Memory, threads: Threads, placed: PlacedDialogue, until: int) -> PlacedDialogue:
    """Stores what is new of a talk up to a place before it is answered, and says where the talk stands then: what the
    model is not sent must be found. Raises RecollectError.
    """
    if until <= placed.after:
        return placed
    with threads.keeping:
        keeping = _Keeping(memory, threads, placed)
        after = keeping.talk(until + 1)
        keeping.write()
    return replace(placed, after=after, parent=keeping.last)


class _Keeping:
    """Messages wait until they are written together; tools that were called stand below the last of them. All ids
    follow from what was said: who keeps the same twice, or at once, keeps it once.
    """

    def __init__(self, memory: Memory, threads: Threads, placed: PlacedDialogue) -> None:
        self._memory, self._threads, self._placed = memory, threads, placed
        self.last = placed.parent  # what was said last
        self._end: NodeId | None = None  # what comes next stands below it, where that is not the end of the talk
        self._chain = placed.chain
        self._waiting: list[tuple[list[NodeId], dict[str, Any]]] = []  # the names of a message, and the message
        self._counted: Counter[tuple[NodeId, str]] = Counter()  # below a message, calls of an id
        self._aliases: dict[str, list[NodeId]] = {}  # that wait, too
        self._broken: list[NodeId] = []  # answers that broke off behind their last word, and have come whole since
        self._said_last = next(  # its likeness
            (likeness_of(one) for one in reversed(placed.talk.said[: placed.after + 1]) if one.is_said), None
        )

    def talk(self, end: int) -> int:
        """What is new of the talk before a place. Gives the place of the last message that was said."""
        talk, after = self._placed.talk.said, self._placed.after
        calls = Calls()
        unanswered: list[DialogueCall] = []
        answered: list[tuple[DialogueCall, str]] = []  # below what was said last
        last = after
        for at, said in enumerate(talk[:end]):
            calls.made(said.calls)
            told = [(calls.answered(result), result.text) for result in said.results]
            if at > after:
                answered += told
                unanswered = [call for call in unanswered if call not in [of for of, _ in told]]
                if said.is_said:
                    if said.role == "user":
                        answered += [(call, "") for call in unanswered]
                        unanswered = []
                    self._tools(answered)
                    answered = []
                    self._said(said, at)
                    last = at
                unanswered += _unanswered(said.calls, said.results)
        self._tools([*answered, *((call, "") for call in unanswered)])
        return last

    def answers(self, heard: HeardAnswer) -> None:
        """The answers, each of them below what was asked, and written."""
        if heard.others:
            self.write()
        asked = self.last, self._end, self._chain, self._said_last
        for one in heard.answers:
            self.last, self._end, self._chain, self._said_last = asked
            self.answer(one)
            self.write()

    def answer(self, heard: HeardAnswer) -> None:
        """An answer, in one message or in several: what the provider's own tools found for it stands before its words,
        and the tools that it calls behind them. One that broke off is kept as far as it came, and says so.
        """
        told, realm = heard.messages, self._placed.realm
        held = [answer_alias(realm, heard.id)] if self._placed.talk.is_held and heard.id else []  # to be followed
        earlier = _by_id([call for said in self._placed.talk.said for call in said.calls])
        self._tools(_answered(heard.results, earlier | _by_id(heard.made)))
        for number, (text, item) in enumerate(told, 1):
            alike, is_last = likeness("assistant", text), number == len(told)
            self._chain = stable_id(self._chain, alike)
            draft: dict[str, Any] = {"content": text, "role": "assistant", "model": heard.model or None}
            if is_last and (about := _about(heard)):
                draft["metadata"] = about
            draft["id"] = answer_id(heard.id) if is_last and held else self._chain
            names = [self._chain, *answer_marks(realm, alike, self._said_last), *(held if is_last else ())]
            names += [item_mark(realm, item)] if item else []  # a client may refer to it
            self._waiting.append((names, draft))
            self._said_last = alike
        self._tools([(call, "") for call in _unanswered(heard.made, heard.results)] if heard.is_whole else [])
        if not told:  # it only calls tools: what they answer goes on from it
            self.write()
            if self.last is not None:
                self._also(self.last, held)

    def write(self, called: Sequence[tuple[DialogueCall, str]] = ()) -> None:
        """Writes what waits, with calls that were made below the last of it, in one transaction: words never stand
        without their calls. Calls have what came of them, empty if nothing has yet; they are kept once, and filled in
        when it comes.
        """
        own, waiting = self._placed.conversation_id, [draft for _, draft in self._waiting]
        if waiting:
            self._name_waiting()
            self.last = self._end = NodeId(waiting[-1]["id"])
        fresh: list[dict[str, Any]] = []
        named, stored = self._named(called, self.last) if called and self.last is not None else ({}, {})
        if named:
            fresh = [_drafted(name, *told) for name, told in named.items() if name not in stored]
            self._fill_in(named, stored)
        self._write_aliases()  # first: what is stored must be found, and an alias of nothing is none
        if waiting:
            self._waiting, waiting[-1]["tool_calls"] = [], fresh
            self._memory.store_messages(waiting, conversation_id=own, title=self._title())
            if self._broken:
                self._memory.delete(*self._broken)
                self._broken = []
        elif fresh and self.last is not None:
            try:
                self._memory.integration.store_tool_calls(fresh, self.last)
            except NotFound:  # what they were called for was forgotten, and they with it
                return
        if named:
            last = next(reversed(named))
            known = stored.get(last) or self._memory.integration.tool_calls([last])[0]
            self._end = known.result_message_id

    def _name_waiting(self) -> None:
        """Gives the messages that wait their ids and parents."""
        own, below = self._placed.conversation_id, self._end
        if below is None and self.last is not None and [m.id for m in self._memory.latest(own, 1)] != [self.last]:
            below = self.last
        possible = [name for _, draft in self._waiting for name in (draft["id"], within(own, draft["id"]))]
        there = {message.id: message for message in self._memory.messages(possible, forgotten=True)}
        for names, draft in self._waiting:
            meant = draft["id"]
            draft |= {"id": self._free(draft, there)} | ({"parent_id": below} if below else {})
            below = draft["id"]
            self._also(below, [*names, *([meant] if meant != below else [])])

    def _fill_in(self, named: Mapping[NodeId, tuple[DialogueCall, str]], stored: Mapping[NodeId, ToolCall]) -> None:
        """Gives calls that wait for their results those that have come."""
        come = {
            stored[name].result_message_id: result
            for name, (_, result) in named.items()
            if result.strip() and name in stored and not stored[name].result
        }
        empty = (
            [message.id for message in self._memory.messages(filter(None, come)) if not message.content] if come else []
        )
        if empty:
            self._memory.integration.update_messages([{"id": name, "content": come[name]} for name in empty])

    def _also(self, name: NodeId, aliases: Sequence[NodeId]) -> None:
        """A message or a call is to be found by these, too."""
        if aliases:
            self._aliases.setdefault(name, []).extend(aliases)

    def _write_aliases(self) -> None:
        if self._aliases:
            self._memory.integration.add_aliases(self._aliases)
            self._aliases = {}

    def _free(self, draft: Mapping[str, Any], there: Mapping[NodeId, Message]) -> NodeId:
        """The id of a message: the first that no other has taken. A talk that began alike may have, another answer of
        a provider that gives all of them one name, or what was forgotten.
        """
        own, text = self._placed.conversation_id, clean_text(draft["content"])
        for name in (draft["id"], within(own, draft["id"])):
            other = there.get(name)
            is_same = other is None or (other.conversation_id == own and other.content == text)
            if is_same and other is not None and "incomplete" in other.metadata and not _is_incomplete(draft):
                self._broken.append(other.id)  # the same words, of which nobody said that they are all
            elif is_same:
                return NodeId(name)
        return self._threads.ids()

    def _said(self, said: DialogueMessage, at: int) -> None:
        """A message of the request."""
        parts = tuple(Part(PartKind.ASSET, clean_title(name)) for name in said.assets)
        draft: dict[str, Any] = {"content": said.text, "role": said.role, "parts": parts, "id": self._placed.ids[at]}
        turn = [self._placed.turn] if at == max(self._placed.names) and self._placed.turn else []
        self._waiting.append(([self._placed.names[at], *turn], draft))
        self._said_last = likeness_of(said)

    def _tools(self, called: Sequence[tuple[DialogueCall, str]]) -> None:
        """Calls with what came of them, below what was said last."""
        if called:
            self.write(called)

    def _named(
        self, called: Sequence[tuple[DialogueCall, str]], below: NodeId
    ) -> tuple[dict[NodeId, tuple[DialogueCall, str]], dict[NodeId, ToolCall]]:
        """Calls by the ids that they are stored under, and those that are. Some servers give their calls no ids, and
        some clients others: then the same call that waits for its result, or has got this one, is meant.
        """
        places: list[tuple[NodeId, NodeId]] = []
        for call, _ in called:
            alike = call_in_words(below, call)
            by_id = call_id(self._placed.conversation_id, below, call.id, self._number(below, call.id))
            in_words = call_in_words(below, call, self._number(below, alike)) if call.name else by_id
            places.append((by_id, in_words))
        stored = calls_named(self._memory, [name for pair in places for name in pair])
        named: dict[NodeId, tuple[DialogueCall, str]] = {}
        for (by_id, in_words), (call, result) in zip(places, called, strict=True):
            other = stored.get(in_words)
            if other is not None and other.result.strip() not in ("", result.strip()):
                other = None
            meant = meant_by(call, stored.get(by_id), other)
            name = meant.id if meant is not None else stable_id(by_id, in_words) if by_id in stored else by_id
            named[name] = call, result
            if meant is None or by_id not in stored:
                mark = [call_mark(self._placed.realm, call.id)] if call.id else []
                self._also(name, [alias for alias in (by_id, in_words, *mark) if alias != name])
        return named, {call.id: call for call in stored.values()}

    def _number(self, below: NodeId, name: str) -> int:
        """How often this was called below a message before."""
        self._counted[below, name] += 1
        return self._counted[below, name] - 1

    def _title(self) -> str:
        """How the talk begins: as far as it is recorded."""
        placed = self._placed
        talk = placed.talk.said[placed.after + 1 if placed.parent is None else 0 :]
        first = next((said.text for said in talk if said.role == "user" and said.text), "")
        return title_from(first)


def _drafted(name: NodeId, call: DialogueCall, result: str) -> dict[str, Any]:
    """A call as it is stored."""
    return {
        "name": call.name or "tool",
        "arguments": call.arguments,
        "result": result,
        "id": name,
        "metadata": {"id": call.id} if call.id else {},
    }


def _is_incomplete(draft: Mapping[str, Any]) -> bool:
    """Whether an answer broke off: its words may be only the beginning."""
    return "incomplete" in draft.get("metadata", {})


def _by_id(calls: Sequence[DialogueCall]) -> dict[str, DialogueCall]:
    return {call.id: call for call in calls}


def _answered(results: Sequence[DialogueResult], calls: Mapping[str, DialogueCall]) -> list[tuple[DialogueCall, str]]:
    """What tools answered, with the calls that it answers."""
    return [(calls.get(one.call_id) or DialogueCall(one.call_id, "", ""), one.text) for one in results]


def _unanswered(calls: Sequence[DialogueCall], results: Sequence[DialogueResult]) -> list[DialogueCall]:
    """The calls that have no result yet: the provider runs some tools itself, and tells both at once."""
    known = {result.call_id for result in results}
    return [call for call in calls if call.id not in known]


def _about(heard: HeardAnswer) -> dict[str, Any]:
    """What is to be known of an answer beside its words."""
    pages = [{"url": url, "title": title} for url, title in heard.sources.items()]
    return ({"sources": pages} if pages else {}) | ({} if heard.is_whole else {"incomplete": True})


# What is not recorded of a talk, and stays out when it is sent again: clients repeat what was said with each
# request.


def keep_out(recording: Recording, placed: PlacedDialogue, heard: HeardAnswer) -> None:
    """Keeps out what is new of a talk, and its answers. Raises StoreError."""
    new = {name for n, said in enumerate(placed.talk.said) if n > placed.after for name in _names(placed, n, said)}
    recording.keep_out(sorted(new | {name for one in heard.answers for name in _names_heard(placed, one)}))


def recorded(recording: Recording, placed: PlacedDialogue) -> PlacedDialogue | None:
    """A talk from the first question on that is not kept out; None where there is none. What is asked at the end is
    asked now, whenever it was asked before. Raises StoreError.
    """
    said = placed.talk.said
    asks = bool(said) and said[-1].role == "user" and said[-1].is_said and not said[-1].results
    names = {n: {*_names(placed, n, one)} for n, one in enumerate(said[:-1] if asks else said)}
    out = recording.kept_out(sorted(set().union(*names.values())))
    last = max((n for n in names if names[n] & out), default=-1)
    if last < 0:
        return placed
    asked = next((n for n in range(last + 1, len(said)) if said[n].role == "user" and said[n].is_said), None)
    return None if asked is None else replace(placed, after=max(placed.after, asked - 1))


def _names(placed: PlacedDialogue, at: int, said: DialogueMessage) -> Iterator[NodeId]:
    """Under which names something of a talk is kept out: such as no other talk has, however alike it begins."""
    if (name := placed.names.get(at)) is not None and placed.ids.get(at) == name:
        yield name
    yield from (call_mark(placed.realm, call.id) for call in said.calls if call.id)


def _names_heard(placed: PlacedDialogue, heard: HeardAnswer) -> Iterator[NodeId]:
    name = placed.chain
    for text, _ in heard.messages:
        name = stable_id(name, likeness("assistant", text))
        yield name
    yield from (call_mark(placed.realm, call.id) for call in heard.made if call.id)
