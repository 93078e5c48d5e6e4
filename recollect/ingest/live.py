"""Live writing: messages at the end of a conversation, and a question with its answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, cast

from recollect.derive.tasks import queue
from recollect.errors import InvalidInput, NotFound
from recollect.importers.records.assemble import clean_part
from recollect.index.passages import is_person, said_before, says_more
from recollect.ingest.secrets import Withheld, recounted
from recollect.ingest.writer import Writer
from recollect.record import Conversation, Edge, Kind, Message, NodeId, Role, ToolCall, Turn, stable_id
from recollect.store import Change, End, Mark, Record, View
from recollect.store.passages import Passage
from recollect.store.update import insist
from recollect.text.clean import clean_metadata, clean_title

_STEP = 16  # messages that are read at once on the way up


@dataclass(frozen=True, slots=True)
class BranchPlace:
    """A message at its place in a conversation, which was at a revision (0: it begins with this message)."""

    conversation: Conversation
    revision: int
    message: Message
    previous: Message | None  # what was said before it
    people: bool
    turns: tuple[Turn, ...]
    mark: tuple[Mark, ...] = ()
    revived: bool = False  # the conversation was deleted or forgotten, and is there again with this message


def place(view: View, conversation: Conversation, message: Message) -> BranchPlace:
    """Where a new message goes. Raises NotFound for a parent that is not in the conversation."""
    end = view.end(conversation.id)
    people = is_person(message.speaker) or bool(end and end.named)
    if end is None:
        if message.parent_id is not None:
            raise NotFound(f"No message has the ID {message.parent_id}.")
        first = replace(message, position=0, active=True)
        begun = replace(conversation, leaf_id=message.id)
        return BranchPlace(begun, 0, first, None, people, _turns(view, first, None))
    revived = end.conversation.deleted  # what was forgotten counts as deleted
    if revived:
        again = conversation if end.conversation.erased else replace(end.conversation, deleted=False)
        end = replace(end, conversation=again)
    parent = _parent(view, end, message)
    placed = replace(message, parent_id=parent, position=end.message_count, active=True)
    updated = max((t for t in (end.conversation.updated, message.timestamp) if t), default=None)
    return BranchPlace(
        replace(end.conversation, updated=updated, leaf_id=message.id),
        end.revision,
        placed,
        said_before(view, placed),
        people,
        _turns(view, placed, end),
        _switch(view, end, placed),
        revived,
    )


def place_answer(asked: BranchPlace, answer: Message) -> BranchPlace:
    """Where the answer to a message goes that is written with it: right below it, into the turn that it opened."""
    below = replace(answer, parent_id=asked.message.id, position=asked.message.position + 1, active=True)
    updated = max((t for t in (asked.conversation.updated, answer.timestamp) if t), default=None)
    return replace(
        asked,
        conversation=replace(asked.conversation, updated=updated, leaf_id=below.id),
        message=below,
        previous=asked.message,
        turns=tuple(replace(turn, response_ids=(below.id,)) for turn in asked.turns),
    )


def _parent(view: View, end: End, message: Message) -> NodeId | None:
    """What it answers: what it says, else the leaf. The results of several calls of one message follow each other."""
    asked = message.parent_id
    leaf = end.leaf
    if asked is None or leaf is None or asked == leaf.id:
        return asked or (leaf.id if leaf else None)
    if not any(found.conversation_id == end.conversation.id for found in view.get(Message, [asked])):
        raise NotFound(f"Conversation {end.conversation.id} has no message {asked}.")
    if message.kind is Kind.TOOL and leaf.kind is Kind.TOOL:
        for above in _upwards(view, leaf):
            if above.id == asked:
                return leaf.id
            if above.kind is not Kind.TOOL:
                break
    return asked


def _switch(view: View, end: End, message: Message) -> tuple[Mark, ...]:
    """What enters and what leaves the active path when this message becomes its end."""
    if end.leaf is None or message.parent_id == end.leaf.id:
        return ()
    entering: list[NodeId] = []
    meeting: NodeId | None = None
    for above in _upwards(view, message):
        if above.active:
            meeting = above.id
            break
        entering.append(above.id)
    leaving: list[NodeId] = []
    for above in chain([end.leaf], _upwards(view, end.leaf)):  # no further up than is needed
        if above.id == meeting:
            break
        leaving.append(above.id)
    marks = (Mark(ids=entering, active=True), Mark(ids=leaving, active=False))
    return tuple(mark for mark in marks if mark.ids)


def _turns(view: View, message: Message, end: End | None) -> tuple[Turn, ...]:
    """A user's words open a turn; an assistant's are added to the turn of the words that they answer."""
    if message.kind is not Kind.SAID:
        return ()
    if message.role is Role.USER:
        position = end.turn.position + 1 if end and end.turn else 0
        return (Turn(stable_id("turn", message.id), message.conversation_id, position, message.id),)
    if message.role is Role.ASSISTANT:
        for above in _upwards(view, message):
            if above.kind is Kind.SAID and above.role is Role.USER:
                turns = view.get(Turn, [stable_id("turn", above.id)])
                return tuple(replace(turn, response_ids=(*turn.response_ids, message.id)) for turn in turns)
    return ()


def _upwards(view: View, message: Message) -> Iterator[Message]:
    """What stands above a message, its parent first, read a few at a time. The message itself need not be stored."""
    at: Message | None = message
    while at is not None and at.parent_id is not None:
        parent = next(iter(view.get(Message, [at.parent_id])), None)
        if parent is None:
            return
        yield parent
        above = view.above(parent.id, _STEP)
        yield from above
        at = above[-1] if len(above) == _STEP else None


# Several messages that come at once: each is placed as if those before it were written already, then all are
# written.

#: A message with the tool calls in it.
Entry = tuple[Message, Sequence[ToolCall]]


@dataclass(frozen=True, slots=True)
class Appended:
    """What is written of messages that were placed. `previous`: what was said before each."""

    conversation: Conversation
    revision: int  # of the conversation before, 0: it begins now
    messages: tuple[Message, ...]
    previous: Mapping[NodeId, Message | None]
    people: bool
    turns: tuple[Turn, ...]
    marks: tuple[Mark, ...]
    revived: bool

    @property
    def left(self) -> list[NodeId]:
        """The messages that were there before, and change their place."""
        return [i for mark in self.marks for i in mark.ids]


def placed_all(view: View, conversation: Conversation, messages: Sequence[Message]) -> Appended:
    """Where new messages go, in order; there is one at least. Raises NotFound for a parent that is not there."""
    pending = _Pending(view)
    placed = [pending.take(place(cast(View, pending), conversation, message)) for message in messages]
    active = {i: on for i, on in pending.active.items() if i not in pending.messages}
    marks = (
        Mark(ids=[i for i, on in active.items() if on], active=True),
        Mark(ids=[i for i, on in active.items() if not on], active=False),
    )
    return Appended(
        conversation=placed[-1].conversation,
        revision=placed[0].revision,
        messages=tuple(pending.messages.values()),
        previous={each.message.id: each.previous for each in placed},
        people=any(each.people for each in placed),
        turns=tuple(pending.turns.values()),
        marks=tuple(mark for mark in marks if mark.ids),
        revived=any(each.revived for each in placed),
    )


@dataclass(slots=True)
class _Pending:
    """A view in which messages are there before they are written: what `place` reads of one."""

    view: View
    messages: dict[NodeId, Message] = field(default_factory=dict)
    turns: dict[NodeId, Turn] = field(default_factory=dict)
    active: dict[NodeId, bool] = field(default_factory=dict)
    known_end: End | None = None

    def take(self, placed: BranchPlace) -> BranchPlace:
        """Counts a message as written, with what that changes."""
        message = placed.message
        self.messages[message.id] = message
        for mark in placed.mark:
            self.active |= dict.fromkeys(mark.ids, bool(mark.active))
            self.messages |= {m.id: self._as_it_will_be(m) for i in mark.ids if (m := self.messages.get(i))}
        self.turns |= {turn.id: turn for turn in placed.turns}
        before = self.known_end
        turns = [*([before.turn] if before and before.turn else []), *placed.turns]
        self.known_end = End(
            conversation=placed.conversation,
            revision=placed.revision,
            message_count=message.position + 1,
            leaf=message,
            turn=max(turns, key=lambda turn: turn.position, default=None),
            named=bool(before and before.named) or bool(message.speaker and message.kind is Kind.SAID),
        )
        return placed

    def end(self, id: NodeId) -> End | None:
        """The growing end of the conversation, those included."""
        if self.known_end is None:
            self.known_end = self.view.end(id)
        return self.known_end

    def get(self, kind: type[Any], ids: Sequence[NodeId]) -> list[Any]:
        """Records as they will be."""
        own: Mapping[NodeId, Any] = self.messages if kind is Message else self.turns if kind is Turn else {}
        stored = self.view.get(kind, [i for i in ids if i not in own])
        found = {**{record.id: self._as_it_will_be(record) for record in stored}, **own}
        return [found[i] for i in ids if i in found]

    def above(self, id: NodeId, most: int) -> list[Message]:
        """What stands above a message, its parent first."""
        found: list[Message] = []
        at: NodeId | None = id
        while at in self.messages and len(found) < most:
            at = self.messages[at].parent_id
            if at in self.messages:
                found.append(self.messages[at])
            elif at is not None:
                found += self.get(Message, [at])
        rest = self.view.above(at, most - len(found)) if at is not None and len(found) < most else []
        return found + [self._as_it_will_be(message) for message in rest]

    def _as_it_will_be(self, record: Any) -> Any:
        if isinstance(record, Message) and record.id in self.active:
            return replace(record, active=self.active[record.id])
        return record


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
