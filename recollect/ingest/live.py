"""Live writing: messages at the end of a conversation, and a question with its answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from recollect.derive.tasks import queue
from recollect.errors import InvalidInput
from recollect.importers.records.assemble import clean_part
from recollect.index.passages import said_before, says_more
from recollect.ingest.branching import place, place_answer
from recollect.ingest.pending import Entry, placed_all
from recollect.ingest.withheld import Withheld, recounted
from recollect.ingest.writer import Writer
from recollect.record import Conversation, Edge, Message, NodeId, ToolCall, Turn
from recollect.store import Change, Record, View
from recollect.store.passages import Passage
from recollect.store.update import insist
from recollect.text.clean import clean_metadata, clean_title

Kinds = Mapping[NodeId, type[Record]]  # what ids stand for


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A turn of a chat as it is written: the question, the answer (None: there was nobody to answer) with the tools
    that it took, and what the turn is known to be about. `edges` leave the two messages.
    """

    conversation: Conversation
    query: Message
    answer: Message | None = None
    calls: Sequence[ToolCall] = ()
    resolved_query: str | None = None
    entities: tuple[str, ...] = ()
    source_ids: tuple[NodeId, ...] = ()
    edges: Sequence[Edge] = ()

    @property
    def message_ids(self) -> list[NodeId]:
        """Of the question and the answer."""
        return [self.query.id, *([self.answer.id] if self.answer else [])]

    def told(self, turn: Turn) -> Turn:
        """The turn with what is known of it."""
        return replace(
            turn, resolved_query=self.resolved_query, entities=self.entities, source_chunk_ids=self.source_ids
        )


class Live(Writer):
    """Adds to conversations while they go on."""

    def append(self, conversation: Conversation, message: Message, calls: Sequence[ToolCall] = ()) -> Message:
        """Adds a message to the end of a conversation (made, where it is not there), or below `message.parent_id`.

        The cost does not depend on how long the conversation is. What is there already is not added again. Raises
        NotFound for a parent that is not in it, InvalidInput where another message has this id.
        """
        return self.append_all(conversation, [(message, calls)])[0]

    def append_all(self, conversation: Conversation, entries: Sequence[Entry]) -> list[Message]:
        """Adds messages one after the other, all in one transaction, each as `append` does it. Raises as that does."""
        cleaned = [(_cleaned(message), calls) for message, calls in entries]
        return insist(lambda: self._append(conversation, cleaned), f"Conversation {conversation.id} is")

    def _append(self, conversation: Conversation, entries: Sequence[Entry]) -> list[Message]:
        ids = [message.id for message, _ in entries]
        with self._space.view() as view:
            if withheld := Withheld.read(view).of(conversation.source):
                told = [(withheld.out_of(message), message, calls) for message, calls in entries]
                entries = [
                    (recounted(old, new, self._count_tokens), [*map(withheld.out_of, calls)])
                    for new, old, calls in told
                ]
                conversation = withheld.out_of(conversation)
                if withheld.holds_title(conversation.title):
                    conversation = replace(conversation, title="")
            kinds = view.kinds([conversation.id, *ids, *(call.id for _, calls in entries for call in calls)])
            known = {m.id: m for m in _those_known(view, kinds, ids)}
            fresh = [(message, calls) for message, calls in entries if message.id not in known]
            refuse_taken(kinds, conversation.id, fresh)
            found = {m.id: _repeated(known[m.id], m) for m, _ in entries if m.id in known}
            if not fresh:
                return [found[i] for i in ids]
            placed = placed_all(view, conversation, [message for message, _ in fresh])
            stale = queue.stale(view, [conversation.id], placed.left) if placed.left or placed.revived else []
            calls = [call for _, own in fresh for call in own]
            passages = self._call_passages(view, placed.messages, calls, placed.people)
        chunks = self._chunks(placed.messages)
        passages |= self._fresh_passages(placed.messages, placed.previous, placed.people, {}, chunks)
        if not placed.revision or placed.revived:
            passages |= self.title_passages(placed.conversation)
        self._space.write(
            Change(
                expect={conversation.id: placed.revision} | dict.fromkeys((message.id for message, _ in fresh), 0),
                put=[
                    placed.conversation,
                    *placed.messages,
                    *calls,
                    *placed.turns,
                    *chain.from_iterable(chunks.values()),
                ],
                revive=placed.revived,
                mark=[*placed.marks, *stale],
                index=self._index_change(passages),
                tasks=queue.due([conversation.id]),
            )
        )
        found |= {message.id: message for message in placed.messages}
        return [found[i] for i in ids]

    def _call_passages(
        self, view: View, placed: Sequence[Message], calls: Sequence[ToolCall], people: bool
    ) -> dict[NodeId, list[Passage]]:
        """The passages of calls, which are those of the messages that called; these have theirs already."""
        by_caller: dict[NodeId, list[ToolCall]] = {}
        for call in calls:
            by_caller.setdefault(call.message_id, []).append(call)
        own = {message.id: message for message in placed}
        stored = view.get(Message, [caller for caller in by_caller if caller not in own])
        callers = [message for message in (*own.values(), *stored) if message.id in by_caller]
        telling = {one.id: [call for call in by_caller[one.id] if says_more(call, one)] for one in callers}
        silent = [replace(message, content="", parts=()) for message in callers if telling[message.id]]
        before = {message.id: said_before(view, message) for message in silent}
        made = self._fresh_passages(silent, before, people, telling, {}) if silent else {}
        return {owner: passages for owner, passages in made.items() if owner not in by_caller}

    def exchange(self, exchange: Exchange) -> tuple[Message, Message | None]:
        """Adds a question with its answer and all that is known of both, in one transaction: whole or not at all [2].

        The cost does not depend on how long the conversation is. Tried twice it is written once. Raises InvalidInput
        where another message has one of the ids.
        """
        cleaned = replace(
            exchange, query=_cleaned(exchange.query), answer=exchange.answer and _cleaned(exchange.answer)
        )
        return insist(lambda: self._exchange(cleaned), f"Conversation {exchange.conversation.id} is")

    def _exchange(self, exchange: Exchange) -> tuple[Message, Message | None]:
        with self._space.view() as view:
            if withheld := Withheld.read(view).of(exchange.conversation.source):
                exchange = withheld.out_of(exchange)
            conversation, query, answer = exchange.conversation, exchange.query, exchange.answer
            ids = exchange.message_ids
            kinds = view.kinds([conversation.id, *ids, *(call.id for call in exchange.calls)])
            known = {m.id: m for m in _those_known(view, kinds, ids)}
            if query.id in known:
                return _repeated(known[query.id], query), answer and _repeated(known.get(answer.id, answer), answer)
            if known:
                raise _taken(min(known), conversation.id)
            refuse_taken(kinds, conversation.id, [(query, ()), *([(answer, exchange.calls)] if answer else [])])
            placed = place(view, conversation, query)
            stale = queue.stale(view, [conversation.id], []) if placed.revived else []
        last = place_answer(placed, answer) if answer else placed
        written = [placed.message, last.message] if answer else [placed.message]
        chunks = self._chunks(written)
        passages = self._message_passages(placed.message, placed.previous, placed.people, (), chunks)
        if answer:
            passages |= self._message_passages(last.message, placed.message, placed.people, exchange.calls, chunks)
        if not placed.revision or placed.revived:
            passages |= self.title_passages(placed.conversation)
        self._space.write(
            Change(
                expect={conversation.id: placed.revision} | dict.fromkeys(exchange.message_ids, 0),
                put=[
                    last.conversation,
                    *written,
                    *exchange.calls,
                    *(exchange.told(turn) for turn in last.turns),
                    *chain.from_iterable(chunks.values()),
                ],
                edges=exchange.edges,
                revive=placed.revived,
                mark=[*placed.mark, *stale],
                index=self._index_change(passages),
                tasks=queue.due([conversation.id]),
            )
        )
        return placed.message, last.message if answer else None


def _cleaned(message: Message) -> Message:
    """The message as every store accepts it. Its words are clean already."""
    return replace(
        message,
        speaker=clean_title(message.speaker) or None if message.speaker else None,
        model=clean_title(message.model) or None if message.model else None,
        parts=tuple(clean_part(part) for part in message.parts),
        metadata=clean_metadata(message.metadata) if message.metadata else message.metadata,
    )


def _those_known(view: View, kinds: Kinds, ids: Sequence[NodeId]) -> list[Message]:
    """The messages that are there already."""
    known = [own for own in ids if kinds.get(own) is Message]
    return view.get(Message, known) if known else []


def refuse_taken(kinds: Kinds, conversation: NodeId, fresh: Sequence[Entry] = ()) -> None:
    """Raises InvalidInput where an id of what is new, or that of the conversation, belongs to another record: an id
    stands for one thing in a namespace.
    """
    new = [own for message, calls in fresh for own in (message.id, *(call.id for call in calls))]
    twice = {own for own, times in Counter([conversation, *new]).items() if times > 1}
    others = {own for own in new if own in kinds}
    if kinds.get(conversation, Conversation) is not Conversation:
        others.add(conversation)
    if taken := twice | others:
        raise _taken(min(taken), conversation)


def _taken(id: NodeId, conversation: NodeId) -> InvalidInput:
    return InvalidInput(
        f"{id} in {conversation}: this ID already belongs to something else.",
        hint="Records cannot share an ID: leave it out, or use a new one.",
    )


def _repeated(known: Message, message: Message) -> Message:
    """The message that is there, where it is the same: an append that was tried twice is one."""
    if (known.conversation_id, known.role) != (message.conversation_id, message.role) or not (
        known.content == message.content or any(version.content == message.content for version in known.versions)
    ):
        raise InvalidInput(
            f"Another message already has the ID {message.id}.", hint="Leave the ID out, or use a new one."
        )
    return known
