"""What is kept of a request and its answer: what is new in it, each thing once however often it comes.

Tools that were called stand below the words that they were called with, and get their results when these come back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.gateway.aligning import as_one, call_id, call_mark, likeness
from recollect.gateway.talk import Call, Heard, Result, Said
from recollect.gateway.threads import Placed, Threads, answer_id, within
from recollect.memory import Memory
from recollect.record import Message, NodeId, Part, PartKind, ToolCall, stable_id
from recollect.text.clean import clean_text, clean_title

_TITLE = 60  # characters


def keep(memory: Memory, threads: Threads, placed: Placed, heard: Heard) -> None:
    """Stores what is new of a talk, and its answers: the first is what it goes on from, further ones are branches.
    Raises RecollectError.
    """
    with threads.keeping:
        keeping = _Keeping(memory, threads, placed)
        keeping.talk(len(placed.talk.said))
        keeping.answers(heard)


def keep_first(memory: Memory, threads: Threads, placed: Placed, until: int) -> Placed:
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

    def __init__(self, memory: Memory, threads: Threads, placed: Placed) -> None:
        self._memory, self._threads, self._placed = memory, threads, placed
        self.last = placed.parent  # what was said last
        self._end: NodeId | None = None  # what comes next stands below it, where that is not the end of the talk
        self._chain = placed.chain
        self._waiting: list[tuple[list[NodeId], dict[str, Any]]] = []  # the names of a message, and the message
        self._counted: Counter[tuple[NodeId, str]] = Counter()  # below a message, calls of an id

    def talk(self, end: int) -> int:
        """What is new of the talk before a place. Gives the place of the last message that was said."""
        talk, after = self._placed.talk.said, self._placed.after
        calls: dict[str, Call] = {}
        unanswered: dict[str, Call] = {}
        answered: list[tuple[Call, str]] = []  # below what was said last
        last = after
        for at, said in enumerate(talk[:end]):
            if at > after:
                answered += _answered(said.results, calls | _by_id(said.calls))
                for result in said.results:
                    unanswered.pop(result.call_id, None)
                if said.is_said:
                    if said.role == "user":
                        answered += [(call, "") for call in unanswered.values()]
                        unanswered = {}
                    self._tools(answered)
                    answered = []
                    self._said(said, at)
                    last = at
                unanswered |= _by_id(_unanswered(said.calls, said.results))
            calls |= _by_id(said.calls)
        self._tools([*answered, *((call, "") for call in unanswered.values())])
        return last

    def answers(self, heard: Heard) -> None:
        """The answers, each of them below what was asked, and written."""
        if heard.others:
            self.write()
        asked = self.last, self._end, self._chain
        for one in heard.answers:
            self.last, self._end, self._chain = asked
            self.answer(one)
            self.write()

    def answer(self, heard: Heard) -> None:
        """An answer, in one message or in several: what the provider's own tools found for it stands before its words,
        and the tools that it calls behind them. One that broke off is kept as far as it came, and says so.
        """
        told = heard.messages
        name = answer_id(heard.id) if self._placed.talk.is_held and heard.id else None  # a request may go on from it
        earlier = _by_id([call for said in self._placed.talk.said for call in said.calls])
        self._tools(_answered(heard.results, earlier | _by_id(heard.made)))
        for number, text in enumerate(told, 1):
            alike = likeness("assistant", text)
            self._chain = stable_id(self._chain, alike)
            draft: dict[str, Any] = {"content": text, "role": "assistant", "model": heard.model or None}
            names = [self._chain]
            if number == len(told):
                names = [name, self._chain] if name else names
                draft |= {"metadata": about} if (about := _about(heard)) else {}
            self._waiting.append((names, draft | {"id": names[0]}))
            self._threads.told(self._placed.realm, alike, self._placed.conversation_id)
        self._tools([(call, "") for call in _unanswered(heard.made, heard.results)] if heard.is_whole else [])
        for call in filter(lambda call: call.id, heard.made):
            self._threads.told(self._placed.realm, call_mark(call.id), self._placed.conversation_id)
        if name and not told:  # it only calls tools: what they answer goes on from it
            self.write()
            if self.last is not None:
                self._threads.remember(self._placed.realm, name, self._placed.conversation_id, self.last)

    def write(self) -> None:
        """Writes what waits, in one transaction."""
        if not self._waiting:
            return
        own, waiting, below = self._placed.conversation_id, self._waiting, self._end
        if below is None and self.last is not None and [m.id for m in self._memory.latest(own, 1)] != [self.last]:
            below = self.last
        possible = [name for _, draft in waiting for name in (draft["id"], within(own, draft["id"]))]
        there = {message.id: message for message in self._memory.messages(possible, forgotten=True)}
        for names, draft in waiting:
            names.append(draft["id"])
            draft |= {"id": self._free(draft, there)} | ({"parent_id": below} if below else {})
            below = draft["id"]
        stored = self._memory.store_messages([draft for _, draft in waiting], conversation_id=own, title=self._title())
        for (names, _), message in zip(waiting, stored, strict=True):
            for name in names:
                self._threads.remember(self._placed.realm, name, own, message.id)
        self.last = self._end = stored[-1].id
        self._waiting = []

    def _free(self, draft: Mapping[str, Any], there: Mapping[NodeId, Message]) -> NodeId:
        """The id of a message: the first that no other has taken. A talk that began alike may have, another answer of
        a provider that gives all of them one name, or what was forgotten.
        """
        own, text = self._placed.conversation_id, clean_text(draft["content"])
        for name in (draft["id"], within(own, draft["id"])):
            if name not in there or (there[name].conversation_id == own and there[name].content == text):
                return NodeId(name)
        return self._threads.ids()

    def _said(self, said: Said, at: int) -> None:
        """A message of the request."""
        parts = tuple(Part(PartKind.ASSET, clean_title(name)) for name in said.assets)
        draft: dict[str, Any] = {"content": said.text, "role": said.role, "parts": parts, "id": self._placed.ids[at]}
        self._waiting.append(([self._placed.names[at]], draft))

    def _tools(self, called: Sequence[tuple[Call, str]]) -> None:
        """Calls with what came of them, empty if nothing has yet: kept once, and filled in when it comes."""
        if called:
            self.write()
        if not called or self.last is None:
            return
        named, stored = self._named(called, self.last)
        fresh = [
            {
                "name": call.name or "tool",
                "arguments": call.arguments,
                "result": result,
                "id": name,
                "metadata": {"id": call.id} if call.id else {},
            }
            for name, (call, result) in named.items()
            if name not in stored
        ]
        come = {
            stored[name].result_message_id: result
            for name, (_, result) in named.items()
            if result.strip() and name in stored and not stored[name].result
        }
        empty = (
            [message.id for message in self._memory.messages(filter(None, come)) if not message.content] if come else []
        )
        if empty:
            self._memory.update_messages([{"id": name, "content": come[name]} for name in empty])
        stored |= {call.id: call for call in self._memory.store_tool_calls(fresh, self.last)} if fresh else {}
        self._end = stored[next(reversed(named))].result_message_id

    def _named(
        self, called: Sequence[tuple[Call, str]], below: NodeId
    ) -> tuple[dict[NodeId, tuple[Call, str]], dict[NodeId, ToolCall]]:
        """Calls by the ids that they are stored under, and those that are. Some servers give their calls no ids, and
        some clients others: then the same call that waits for its result, or has got this one, is meant.
        """
        own, realm = self._placed.conversation_id, self._placed.realm
        places: list[tuple[NodeId, NodeId]] = []
        for call, _ in called:
            alike = stable_id("called", call.name, as_one(call.arguments))
            by_id = call_id(own, below, call.id, self._number(below, call.id))
            by_words = stable_id(alike, below, self._number(below, alike)) if call.name else by_id
            places.append((by_id, by_words))
        meant = {name: found[1] for pair in places for name in pair if (found := self._threads.recall(realm, name))}
        stored = {call.id: call for call in self._memory.tool_calls({*(one for one, _ in places), *meant.values()})}
        named: dict[NodeId, tuple[Call, str]] = {}
        for (by_id, by_words), (call, result) in zip(places, called, strict=True):
            name = meant.get(by_id, by_id)
            other = stored.get(meant.get(by_words, by_id))
            if name not in stored and other is not None and other.result.strip() in ("", result.strip()):
                name = other.id
            named[name] = call, result
            for place in (by_id, by_words):
                self._threads.remember(realm, place, own, name)
        return named, stored

    def _number(self, below: NodeId, name: str) -> int:
        """How often this was called below a message before."""
        self._counted[below, name] += 1
        return self._counted[below, name] - 1

    def _title(self) -> str:
        """How the talk begins: as far as it is recorded."""
        placed = self._placed
        talk = placed.talk.said[placed.after + 1 if placed.parent is None else 0 :]
        first = next((said.text for said in talk if said.role == "user" and said.text), "")
        line = " ".join(first.split())
        if len(line) <= _TITLE:
            return line
        blank = line.rfind(" ", 0, _TITLE)
        return line[: blank if blank > 0 else _TITLE] + " …"


def _by_id(calls: Sequence[Call]) -> dict[str, Call]:
    return {call.id: call for call in calls}


def _answered(results: Sequence[Result], calls: Mapping[str, Call]) -> list[tuple[Call, str]]:
    """What tools answered, with the calls that it answers."""
    return [(calls.get(one.call_id) or Call(one.call_id, "", ""), one.text) for one in results]


def _unanswered(calls: Sequence[Call], results: Sequence[Result]) -> list[Call]:
    """The calls that have no result yet: the provider runs some tools itself, and tells both at once."""
    known = {result.call_id for result in results}
    return [call for call in calls if call.id not in known]


def _about(heard: Heard) -> dict[str, Any]:
    """What is to be known of an answer beside its words."""
    pages = [{"url": url, "title": title} for url, title in heard.sources.items()]
    return ({"sources": pages} if pages else {}) | ({} if heard.is_whole else {"incomplete": True})
