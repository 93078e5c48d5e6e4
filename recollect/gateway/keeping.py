"""What is kept of a request and its answer: what is new in it, each thing once however often it comes.

Tools that were called are kept when their results come back, below the words that they were called with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recollect.gateway.talk import Call, Heard, Result, Said
from recollect.gateway.threads import Placed, Threads, answer_id, likeness
from recollect.memory import Memory
from recollect.record import NodeId, Part, PartKind, stable_id
from recollect.text.clean import clean_text, clean_title

_TITLE = 60  # characters


def keep(memory: Memory, threads: Threads, placed: Placed, heard: Heard, *, is_kept_there: bool = False) -> None:
    """Stores what is new of a talk, and its answers: the first is what it goes on from, further ones are branches.
    `is_kept_there`: the provider keeps the answer under its id, and a request may go on from that. Raises
    RecollectError.
    """
    with threads.keeping:
        keeping = _Keeping(memory, threads, placed)
        keeping.talk(len(placed.talk.said))
        keeping.answers(heard, is_kept_there=is_kept_there)


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
    """Messages wait until they are written together; what tools answered is written below the last of them."""

    def __init__(self, memory: Memory, threads: Threads, placed: Placed) -> None:
        self._memory, self._threads, self._placed = memory, threads, placed
        self.last = placed.parent
        self._digest = next(reversed(placed.digests.values()), stable_id("talk", placed.conversation_id, placed.parent))
        self._waiting: list[tuple[list[NodeId], dict[str, Any]]] = []  # the names of a message, and the message
        self._answered: Counter[tuple[NodeId, str]] = Counter()  # below a message, results for an id

    def talk(self, end: int) -> int:
        """What is new of the talk before a place. Gives the place of the last message that was said."""
        talk, after = self._placed.talk.said, self._placed.after
        calls: dict[str, Call] = {}
        last = after
        for at, said in enumerate(talk[:end]):
            calls |= {call.id: call for call in said.calls}
            if at > after:
                self.results(said, calls)
                if said.is_said:
                    self.said(said, self._placed.digests[at], is_named=at in self._placed.stable)
                    last = at
        return last

    def said(self, said: Said, digest: NodeId, *, is_named: bool) -> None:
        """A message of the request."""
        parts = tuple(Part(PartKind.ASSET, clean_title(name)) for name in said.assets)
        draft: dict[str, Any] = {"content": said.text, "role": said.role, "parts": parts}
        self._waiting.append(([digest], draft | ({"id": digest} if is_named else {})))

    def answers(self, heard: Heard, *, is_kept_there: bool) -> None:
        """The answers, each of them below what was asked, and written."""
        if heard.others:
            self.write()
        asked = self.last, self._digest
        for one in heard.answers:
            self.last, self._digest = asked
            self.answer(one, is_kept_there=is_kept_there)
            self.write()

    def answer(self, heard: Heard, *, is_kept_there: bool) -> None:
        """An answer, in one message or in several, with what the provider's own tools found for it. One that broke off
        is kept as far as it came, and says so.
        """
        told = heard.messages
        calls = {call.id: call for said in self._placed.talk.said for call in said.calls}
        self.results(Said("assistant", "", 0, results=tuple(heard.results)), calls | {c.id: c for c in heard.made})
        name = answer_id(heard.id) if is_kept_there and heard.id else None
        for own, tool, *arguments in heard.calls.values() if is_kept_there else ():
            call = Call(own, tool or "tool", "".join(arguments))
            self._threads.called(self._placed.conversation_id, call)
        for number, text in enumerate(told, 1):
            self._digest = stable_id(self._digest, likeness("assistant", text))
            draft: dict[str, Any] = {"content": text, "role": "assistant", "model": heard.model or None}
            names = [self._digest]
            if number == len(told):
                names = [name, self._digest] if name else names
                draft |= {"metadata": about} if (about := _about(heard)) else {}
            self._waiting.append((names, draft | ({"id": names[0]} if self._placed.names_answers else {})))
        if name and not told:  # it only calls tools: what they answer goes on from it
            self.write()
            if self.last is not None:
                self._threads.remember(name, self._placed.conversation_id, self.last)

    def results(self, said: Said, calls: Mapping[str, Call]) -> None:
        """What tools answered, of calls that are not kept yet. The ids of calls are told apart by the message that they
        stand below, and by their order: some servers count them anew in every answer.
        """
        if not said.results:
            return
        self.write()
        if self.last is None:
            return
        named: dict[NodeId, Result] = {}
        for one in said.results:
            place = self.last, one.call_id
            named[stable_id("call", self._placed.conversation_id, *place, self._answered[place])] = one
            self._answered[place] += 1
        known = {call.id for call in self._memory.tool_calls(named)}
        fresh = []
        for own, result in named.items():
            call = calls.get(result.call_id) or self._threads.call(self._placed.conversation_id, result.call_id)
            if own not in known:
                fresh.append({"name": call.name, "arguments": call.arguments, "result": result.text, "id": own})
        if fresh:
            self._memory.store_tool_calls(fresh, self.last)

    def write(self) -> None:
        """Writes what waits, in one transaction."""
        if not self._waiting:
            return
        own, waiting = self._placed.conversation_id, self._waiting
        named = {draft["id"]: clean_text(draft["content"]) for _, draft in waiting if "id" in draft}
        taken = {  # by a talk that began alike, by another answer of a provider that gives all of them one name, or by
            # what was forgotten
            message.id
            for message in self._memory.messages(list(named), forgotten=True)
            if message.conversation_id != own or message.content != named[message.id]
        }
        drafts = [{k: v for k, v in draft.items() if k != "id" or v not in taken} for _, draft in waiting]
        if self.last is not None and [m.id for m in self._memory.latest(own, 1)] != [self.last]:
            drafts[0]["parent_id"] = self.last
        stored = self._memory.store_messages(drafts, conversation_id=own, title=self._title())
        for (names, _), message in zip(waiting, stored, strict=True):
            for name in names:
                self._threads.remember(name, own, message.id)
        self.last, self._waiting = stored[-1].id, []

    def _title(self) -> str:
        """How the talk begins."""
        first = next((said.text for said in self._placed.talk.said if said.role == "user" and said.text), "")
        line = " ".join(first.split())
        if len(line) <= _TITLE:
            return line
        blank = line.rfind(" ", 0, _TITLE)
        return line[: blank if blank > 0 else _TITLE] + " …"


def _about(heard: Heard) -> dict[str, Any]:
    """What is to be known of an answer beside its words."""
    pages = [{"url": url, "title": title} for url, title in heard.sources.items()]
    return ({"sources": pages} if pages else {}) | ({} if heard.is_whole else {"incomplete": True})
