"""Into the memory: records become changes and passages, and both are written in one transaction.

The only way in, for imports and for live writing alike. A change that was planned on what somebody else has changed
meanwhile is planned again.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from recollect.branching import place, place_answer
from recollect.consolidate import outbox
from recollect.drawn import DRAWN_FROM, back, withdrawn
from recollect.embedding import Embedder
from recollect.errors import InvalidInput, NotFound, StoreBusy
from recollect.importers.records.assemble import chunks_of, clean_part, message_chunks
from recollect.importers.records.identity import tokens
from recollect.importers.records.known import Chains, Known, Settled
from recollect.importers.records.merge import Plan, plan, replaced, updated
from recollect.pending import Entry, placed_all
from recollect.record import (
    Chunk,
    Conversation,
    Document,
    Edge,
    Message,
    Node,
    NodeId,
    Thread,
    ToolCall,
    Turn,
    Version,
    stable_id,
    utc_now,
)
from recollect.record.wire import digest
from recollect.search.indexing import (
    document_passages,
    is_person,
    messages_passages,
    node_passages,
    said_before,
    thread_passages,
    title_passages,
)
from recollect.store import Change, IndexChange, Mark, Space, Stale, View
from recollect.store.passages import EmbedderId, Passage
from recollect.text.chunks import CHUNK_TOKENS
from recollect.text.clean import clean_metadata, clean_title
from recollect.untelling import untold

_PATIENCE = 30.0  # seconds of planning anew before a writer gives up
_LONGEST_PAUSE = 0.004  # seconds: about as long as planning and writing a message takes

T = TypeVar("T")


@dataclass(slots=True)
class Written:
    """What a write did, in conversations and messages. `ids`: under which the conversations are stored; `apart`: those
    that came under the id of another conversation and got one of their own.
    """

    new: int = 0
    changed: int = 0
    same: int = 0
    forgotten: int = 0
    messages: int = 0
    ids: dict[NodeId, None] = field(default_factory=dict, repr=False)
    apart: list[NodeId] = field(default_factory=list, repr=False)

    def add(self, other: Written) -> None:
        """Counts another write in."""
        self.new += other.new
        self.changed += other.changed
        self.same += other.same
        self.forgotten += other.forgotten
        self.messages += other.messages
        self.ids |= other.ids
        self.apart += other.apart


@dataclass(slots=True)
class _Done:
    """What goes into one transaction: conversations as they came, and under the ids that they are stored by."""

    written: Written = field(default_factory=Written)
    came: dict[NodeId, Thread] = field(default_factory=dict)
    threads: dict[NodeId, Thread] = field(default_factory=dict)
    _unread: list[Thread] = field(default_factory=list)  # with ids, their words not looked at yet
    _with_ids: Chains = field(default_factory=Chains)
    _without_ids: Chains = field(default_factory=Chains)

    def may_hold(self, incoming: Thread) -> bool:
        """Whether this may be one of them: by its id or, where one of the two has none, by its words."""
        if incoming.conversation.id in self.came or incoming.conversation.id in self.threads:
            return True
        if incoming.conversation.source_id:
            return bool(self._without_ids) and any(self._without_ids.like(incoming, tokens(incoming)))
        for thread in self._unread:
            self._with_ids.add(thread, tokens(thread))
        self._unread.clear()
        says = tokens(incoming)
        return any(self._without_ids.like(incoming, says)) or any(self._with_ids.like(incoming, says))

    def add(self, incoming: Thread, thread: Thread) -> None:
        """Takes a conversation in."""
        self.came[incoming.conversation.id] = incoming
        self.threads[thread.conversation.id] = thread
        if incoming.conversation.source_id:
            self._unread.append(incoming)
        else:
            self._without_ids.add(thread, tokens(incoming))


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


class Ingest:
    """Writes into one space."""

    def __init__(
        self,
        space: Space,
        embedder: Embedder,
        count_tokens: Callable[[str], int],
        clock: Callable[[], datetime] = utc_now,
        chunk_tokens: int = CHUNK_TOKENS,
    ) -> None:
        self._space, self._embedder, self._count_tokens, self._clock = space, embedder, count_tokens, clock
        self._chunk_tokens = chunk_tokens  # of what is written live; longer texts are cut

    @property
    def embedder_id(self) -> EmbedderId:
        """Who makes the vectors of what is written."""
        return EmbedderId(self._embedder.name, self._embedder.dimensions)

    # --- imports ---------------------------------------------------------------------------------------------------
    def threads(self, threads: Sequence[Thread], *, again: bool = False, known: Known | None = None) -> Written:
        """Writes conversations, in one transaction where they are different ones. What is stored just so is left alone.

        `known` tells which stored conversation each is; without it their ids do. What was erased stays away unless it
        is asked for `again`.
        """
        written, waiting = Written(), list(threads)
        while waiting:
            done, waiting = self._insisting(partial(self._threads, waiting, again, known), "These conversations are")
            written.add(done.written)
            if known is not None:
                for thread in done.threads.values():
                    known.learn(thread)
        return written

    def _threads(self, threads: Sequence[Thread], again: bool, known: Known | None) -> tuple[_Done, list[Thread]]:
        """What was written, and what has to wait since it may be the same as something of that."""
        done, waiting, plans = _Done(), list[Thread](), list[Plan]()
        with self._space.view() as view:
            revisions = view.revisions([thread.conversation.id for thread in threads])
            for incoming in threads:
                if done.came.get(incoming.conversation.id) == incoming:
                    done.written.same += 1
                    continue
                if done.may_hold(incoming):
                    waiting.append(incoming)
                    continue
                own = revisions.get(incoming.conversation.id)
                if known is None or (own and own.digest == digest(incoming) and not again):
                    settled = Settled(incoming)
                else:
                    settled = known.settle(view, incoming, own)
                thread = settled.thread
                stored_as = thread.conversation.id
                if stored_as in done.threads:
                    waiting.append(incoming)
                    continue
                revision = own if stored_as == incoming.conversation.id else view.revisions([stored_as]).get(stored_as)
                made = plan(thread, revision, partial(settled.load, view), again=again)
                done.add(incoming, thread)
                plans += [made] if made else []
                done.written.forgotten += bool(revision and revision.erased and not again)
                done.written.apart += [stored_as] if settled.apart else []
        self._write_plans(plans, again)
        written = done.written
        written.new = sum(not made.revision for made in plans)
        written.changed = sum(bool(made.revision) and made.changes for made in plans)
        written.same += len(done.threads) - written.new - written.changed - written.forgotten
        written.messages = sum(made.added for made in plans)
        written.ids = dict.fromkeys(done.threads)
        return done, waiting

    def _write_plans(self, plans: Sequence[Plan], again: bool) -> None:
        if not plans:
            return
        passages: dict[NodeId, list[Passage]] = {}
        for made in plans:
            passages |= self.thread_passages(made.thread, made.fresh, titled=made.retitled)
        ids = [made.thread.conversation.id for made in plans if made.changes or not made.revision]
        self._space.write(
            Change(
                expect={made.thread.conversation.id: made.revision for made in plans},
                put=[record for made in plans for record in made.put],
                digests={made.thread.conversation.id: made.digest for made in plans if made.digest},
                revive=again,
                mark=[*(mark for made in plans for mark in made.mark), *self._stale(plans)],
                index=self._index_change(passages),
                tasks=outbox.due(ids),
            )
        )

    def _stale(self, plans: Sequence[Plan]) -> list[Mark]:
        """What was derived from conversations that are there already and change now."""
        changed = [made for made in plans if made.revision]
        if not changed:
            return []
        messages = [i for made in changed for i in (*made.fresh, *(i for mark in made.mark for i in mark.ids))]
        with self._space.view() as view:
            return outbox.stale(view, [made.thread.conversation.id for made in changed], messages)

    def documents(
        self, documents: Sequence[tuple[Document, Sequence[Chunk]]], *, again: bool = False, newest: bool = False
    ) -> None:
        """Writes documents with their chunks; where none are given, chunks are made.

        An earlier text of a document is nothing new, as it comes from an older export; unless these are the `newest`.
        """
        self._insisting(lambda: self._documents(documents, again, newest), "These documents are")

    def _documents(self, documents: Sequence[tuple[Document, Sequence[Chunk]]], again: bool, newest: bool) -> None:
        ids = [document.id for document, _ in documents]
        with self._space.view() as view:
            revisions = view.revisions(ids)
            known = {document.id: document for document in view.get(Document, ids)}
        merge = replaced if newest else updated
        fresh = [
            (document, chunks)
            for given, chunks in documents
            if (document := merge(given, known.get(given.id), now=self._clock(), again=again)) is not None
        ]
        if not fresh:
            return
        put: list[Document | Chunk] = []
        passages: dict[NodeId, list[Passage]] = {}
        for document, given in fresh:
            put += [document, *(given or chunks_of(document.id, document.content, count_tokens=self._count_tokens))]
            passages[document.id] = self.document_passages(document)
        self._space.write(
            Change(
                expect={d.id: revisions[d.id].number if d.id in revisions else 0 for d, _ in fresh},
                put=put,
                revive=again,
                index=self._index_change(passages),
            )
        )

    def made(
        self,
        document: Document,
        sources: Sequence[NodeId],
        allows: Callable[[Document | None], None] = lambda _: None,
    ) -> bool:
        """Writes a document that was made of messages and documents, in the place of what it was, with edges to them.

        Nothing is written where it was erased meanwhile, or one of the sources was deleted: then it says no. `allows`
        is shown what it was, and may raise.
        """
        return self._insisting(lambda: self._made(document, sources, allows), f"Document {document.id} is")

    def _made(self, document: Document, sources: Sequence[NodeId], allows: Callable[[Document | None], None]) -> bool:
        with self._space.view() as view:
            known = next(iter(view.get(Document, [document.id])), None)
            allows(known)
            messages = [found for found in view.get(Message, sources) if not (found.deleted or found.erased)]
            files = [found for found in view.get(Document, sources) if not (found.hidden or found.erased)]
            there = {*(found.id for found in messages), *(found.id for found in files)}
            if (known is not None and known.erased) or not set(sources) <= there:
                return False
            ids = [document.id, *(m.conversation_id for m in messages), *(found.id for found in files)]
            revisions = view.revisions(ids)
            had = view.edges([document.id], (DRAWN_FROM,), "out")
        self._space.write(
            Change(
                expect={i: revisions[i].number if i in revisions else 0 for i in dict.fromkeys(ids)},
                put=[document, *self._pieces(document)],
                edges=[Edge(document.id, DRAWN_FROM, source) for source in sources],
                cut=[(e.source_id, e.type, e.target_id, e.name) for e in had if e.target_id not in sources],
                index=self._index_change({document.id: self.document_passages(document)}),
            )
        )
        return True

    def others(self, records: Sequence[Edge | Node]) -> None:
        """Writes edges and nodes."""
        from recollect.consolidate.facts.work import due as decisions_due

        edges = [record for record in records if isinstance(record, Edge)]
        nodes = [record for record in records if isinstance(record, Node)]
        if edges or nodes:
            passages = {node.id: self.node_passages(node) for node in nodes}
            index = self._index_change(passages)
            self._space.write(Change(put=nodes, edges=edges, index=index, tasks=decisions_due(nodes)))

    # --- live writing ----------------------------------------------------------------------------------------------
    def append(self, conversation: Conversation, message: Message, calls: Sequence[ToolCall] = ()) -> Message:
        """Adds a message to the end of a conversation (made, where it is not there), or below `message.parent_id`.

        The cost does not depend on how long the conversation is. What is there already is not added again. Raises
        NotFound for a parent that is not in it, InvalidInput where another message has this id.
        """
        return self.append_all(conversation, [(message, calls)])[0]

    def append_all(self, conversation: Conversation, entries: Sequence[Entry]) -> list[Message]:
        """Adds messages one after the other, all in one transaction, each as `append` does it. Raises as that does."""
        cleaned = [(_cleaned(message), calls) for message, calls in entries]
        return self._insisting(lambda: self._append(conversation, cleaned), f"Conversation {conversation.id} is")

    def _append(self, conversation: Conversation, entries: Sequence[Entry]) -> list[Message]:
        ids = [message.id for message, _ in entries]
        with self._space.view() as view:
            known = {known.id: known for known in view.get(Message, [*ids, conversation.id])}
            taken = {found.id for found in view.get(Conversation, ids)} | ({conversation.id} & {*ids, *known})
            if taken or len(set(ids)) < len(ids):
                raise InvalidInput(
                    f"{min(taken, default=ids[0])} in {conversation.id}: this ID already belongs to something else.",
                    hint="Messages and conversations cannot share an ID: use a new one.",
                )
            found = {m.id: _repeated(known[m.id], m) for m, _ in entries if m.id in known}
            fresh = [(message, calls) for message, calls in entries if message.id not in known]
            if not fresh:
                return [found[i] for i in ids]
            placed = placed_all(view, conversation, [message for message, _ in fresh])
            stale = outbox.stale(view, [conversation.id], placed.left) if placed.left or placed.revived else []
        calls = {message.id: calls for message, calls in fresh}
        passages = self._fresh_passages(placed.messages, placed.previous, placed.people, calls)
        if not placed.revision or placed.revived:
            passages |= self.title_passages(placed.conversation)
        self._space.write(
            Change(
                expect={conversation.id: placed.revision} | dict.fromkeys(calls, 0),
                put=[
                    placed.conversation,
                    *placed.messages,
                    *(call for message_calls in calls.values() for call in message_calls),
                    *placed.turns,
                    *(chunk for message in placed.messages for chunk in self._chunks(message)),
                ],
                revive=placed.revived,
                mark=[*placed.marks, *stale],
                index=self._index_change(passages),
                tasks=outbox.due([conversation.id]),
            )
        )
        found |= {message.id: message for message in placed.messages}
        return [found[i] for i in ids]

    def exchange(self, exchange: Exchange) -> tuple[Message, Message | None]:
        """Adds a question with its answer and all that is known of both, in one transaction: whole or not at all [2].

        The cost does not depend on how long the conversation is. Tried twice it is written once. Raises InvalidInput
        where another message has one of the ids.
        """
        cleaned = replace(
            exchange, query=_cleaned(exchange.query), answer=exchange.answer and _cleaned(exchange.answer)
        )
        return self._insisting(lambda: self._exchange(cleaned), f"Conversation {exchange.conversation.id} is")

    def _exchange(self, exchange: Exchange) -> tuple[Message, Message | None]:
        conversation, query, answer = exchange.conversation, exchange.query, exchange.answer
        with self._space.view() as view:
            known = {message.id: message for message in view.get(Message, exchange.message_ids)}
            if query.id in known:
                return _repeated(known[query.id], query), answer and _repeated(known.get(answer.id, answer), answer)
            if known or conversation.id in exchange.message_ids or view.get(Conversation, exchange.message_ids):
                raise InvalidInput(
                    f"An ID of this turn in {conversation.id} already belongs to something else.",
                    hint="Messages and conversations cannot share an ID: use new ones.",
                )
            placed = place(view, conversation, query)
            stale = outbox.stale(view, [conversation.id], []) if placed.revived else []
        last = place_answer(placed, answer) if answer else placed
        passages = self._message_passages(placed.message, placed.previous, placed.people, ())
        if answer:
            passages |= self._message_passages(last.message, placed.message, placed.people, exchange.calls)
        if not placed.revision or placed.revived:
            passages |= self.title_passages(placed.conversation)
        written = [placed.message, last.message] if answer else [placed.message]
        self._space.write(
            Change(
                expect={conversation.id: placed.revision} | dict.fromkeys(exchange.message_ids, 0),
                put=[
                    last.conversation,
                    *written,
                    *exchange.calls,
                    *(exchange.told(turn) for turn in last.turns),
                    *(chunk for message in written for chunk in self._chunks(message)),
                ],
                edges=exchange.edges,
                revive=placed.revived,
                mark=[*placed.mark, *stale],
                index=self._index_change(passages),
                tasks=outbox.due([conversation.id]),
            )
        )
        return placed.message, last.message if answer else None

    def edit(
        self, message_id: NodeId, content: str, now: Version, metadata: Mapping[str, Any] | None = None
    ) -> Message:
        """Gives a message a new wording, and other metadata where it is given; `now` holds the old wording's place in
        the history. Raises NotFound.
        """
        return self._insisting(lambda: self._edit(message_id, content, now, metadata), f"Message {message_id} is")

    def _edit(self, message_id: NodeId, content: str, now: Version, metadata: Mapping[str, Any] | None) -> Message:
        with self._space.view() as view:
            message = _unforgotten(view, message_id)
            kept = message.metadata if metadata is None else clean_metadata(metadata)
            if message.content == content and message.metadata == kept:
                return message
            revision = view.revisions([message.conversation_id])[message.conversation_id].number
            end = view.end(message.conversation_id)
            previous = said_before(view, message)
            stale = outbox.stale(view, [message.conversation_id], [message.id])
            turns = view.get(Turn, [stable_id("turn", message.id)])  # what a chat knew of the old wording
            meant = [e for e in view.edges([message.id], ("MENTIONS",)) if e.name == outbox.BY_TURN] if turns else []
        versions = message.versions
        if message.content != content:
            versions = (*versions, replace(now, content=message.content))
        else:
            turns, meant = [], []
        edited = replace(message, content=content, versions=versions, tokens=self._count_tokens(content), metadata=kept)
        people = is_person(message.speaker) or bool(end and end.named)
        self._space.write(
            Change(
                expect={message.conversation_id: revision},
                put=[
                    edited,
                    *(
                        replace(turn, resolved_query=None, entities=())
                        for turn in turns
                        if turn.resolved_query or meant
                    ),
                    *self._chunks(edited),
                ],
                cut=[(edge.source_id, edge.type, edge.target_id, edge.name) for edge in meant],
                mark=stale,
                tasks=outbox.due([message.conversation_id]),
                index=self._index_change(self._message_passages(edited, previous, people, ())),
            )
        )
        return edited

    def untell(self, conversation_id: NodeId, gone: Sequence[Message]) -> None:
        """Takes the words of messages that are to be erased out of what else of a conversation tells them: its title,
        and the questions that were made whole by them.
        """
        self._insisting(lambda: self._untell(conversation_id, gone), f"Conversation {conversation_id} is")

    def _untell(self, conversation_id: NodeId, gone: Sequence[Message]) -> None:
        with self._space.view() as view:
            revision = view.revisions([conversation_id])[conversation_id].number
            found = untold(view, conversation_id, gone)
        if not found:
            return
        titled = [found.conversation] if found.conversation else []
        passages = {own: made for one in titled for own, made in self.title_passages(one).items()}
        self._space.write(
            Change(
                expect={conversation_id: revision},
                put=[*titled, *found.turns],
                cut=found.cut,
                index=self._index_change(passages) if passages else None,
            )
        )

    def delete(self, message_ids: Sequence[NodeId]) -> None:
        """Deletes softly: out of every search and count, kept in the record. Raises NotFound.

        A conversation that loses its last message is deleted with it, and so is no longer found by its title.
        """
        self._insisting(lambda: self._mark(message_ids, deleted=True), "These messages are")

    def restore(self, message_ids: Sequence[NodeId]) -> None:
        """Takes deletions back. Raises NotFound, InvalidInput for what was forgotten."""
        self._insisting(lambda: self._mark(message_ids, deleted=False), "These messages are")

    def _mark(self, message_ids: Sequence[NodeId], *, deleted: bool) -> None:
        with self._space.view() as view:
            messages = [_unforgotten(view, message_id) for message_id in message_ids]
            touched = list({message.conversation_id for message in messages})
            expect = {i: revision.number for i, revision in view.revisions(touched).items()}
            left = {i: living for i, (living, _) in view.sizes(touched).items()}
            for message in messages:
                left[message.conversation_id] -= (deleted and not message.deleted) - (not deleted and message.deleted)
            conversations = [
                replace(conversation, deleted=not left[conversation.id])
                for conversation in view.get(Conversation, touched)
                if conversation.deleted != (not left[conversation.id])
            ]
            stale = outbox.stale(view, touched, message_ids)
            reports = withdrawn(view, message_ids) if deleted else back(view, message_ids)
            expect |= {i: revision.number for i, revision in view.revisions([one.id for one in reports]).items()}
            passages: dict[NodeId, list[Passage]] = {one.id: self.document_passages(one) for one in reports}
            if not deleted:
                passages |= self.owners_passages(view, [replace(message, deleted=False) for message in messages])
        for conversation in conversations:
            passages |= {conversation.id: []} if conversation.deleted else self.title_passages(conversation)
        self._space.write(
            Change(
                expect=expect,
                put=[*conversations, *reports, *(chunk for one in reports for chunk in self._pieces(one))],
                mark=[Mark(ids=message_ids, deleted=deleted), *stale],
                index=self._index_change(passages),
                tasks=outbox.due(touched),
            )
        )

    # --- passages --------------------------------------------------------------------------------------------------
    def thread_passages(self, thread: Thread, fresh: Iterable[NodeId], *, titled: bool) -> dict[NodeId, list[Passage]]:
        """The passages of some messages of a conversation with their tool calls, and of its title, by owner."""
        wanted = set(fresh)
        made = thread_passages(thread, wanted, titled=titled, embedder=self._embedder, count_tokens=self._count_tokens)
        owners = [m.id for m in thread.messages if m.id in wanted]
        owners += [call.id for call in thread.tool_calls if call.message_id in wanted]
        return _by_owner(made, [*owners, *([thread.conversation.id] if titled else [])])

    def owners_passages(self, view: View, messages: Sequence[Message]) -> dict[NodeId, list[Passage]]:
        """The passages of messages as they are given, with their tool calls, by owner."""
        found: dict[NodeId, list[Passage]] = {}
        living = {message.id for message in messages if not message.deleted}
        for message in messages:
            callers = view.edges([message.id], ["CALLED_BY"], "in")
            calls = view.get(ToolCall, [edge.source_id for edge in callers])
            # A result that is a message of its own is found as that message.
            calls = [replace(call, result="") if call.result_message_id else call for call in calls]
            end = view.end(message.conversation_id)
            people = is_person(message.speaker) or bool(end and end.named)
            found |= self._message_passages(message, said_before(view, message, living), people, calls)
        return found

    def title_passages(self, conversation: Conversation) -> dict[NodeId, list[Passage]]:
        """The passage of a conversation's title, by owner."""
        made = title_passages(conversation, self._embedder, self._count_tokens)
        return _by_owner(made, [conversation.id])

    def document_passages(self, document: Document) -> list[Passage]:
        """The passages of a document."""
        if document.erased:
            return []
        return document_passages(document, embedder=self._embedder, count_tokens=self._count_tokens)

    def _pieces(self, document: Document) -> Iterator[Chunk]:
        return chunks_of(document.id, document.content, count_tokens=self._count_tokens)

    def node_passages(self, node: Node) -> list[Passage]:
        """The passages of a derived node."""
        return node_passages(node, self._embedder, self._count_tokens)

    def _message_passages(
        self, message: Message, previous: Message | None, people: bool, calls: Sequence[ToolCall]
    ) -> dict[NodeId, list[Passage]]:
        return self._fresh_passages([message], {message.id: previous}, people, {message.id: calls})

    def _fresh_passages(
        self,
        messages: Sequence[Message],
        previous: Mapping[NodeId, Message | None],
        people: bool,
        calls: Mapping[NodeId, Sequence[ToolCall]],
    ) -> dict[NodeId, list[Passage]]:
        made = messages_passages(
            messages,
            previous,
            calls,
            people=people,
            embedder=self._embedder,
            count_tokens=self._count_tokens,
            size=self._chunk_tokens,
        )
        return _by_owner(made, [*(m.id for m in messages), *(c.id for several in calls.values() for c in several)])

    def _chunks(self, message: Message) -> Iterator[Chunk]:
        return message_chunks(message, count_tokens=self._count_tokens, size=self._chunk_tokens)

    def _index_change(self, passages: Mapping[NodeId, Sequence[Passage]]) -> IndexChange:
        """What is written of passages; to remove some no embedder is asked for."""
        return IndexChange(embedder=self.embedder_id if any(passages.values()) else None, passages=passages)

    def _insisting(self, work: Callable[[], T], what: str) -> T:
        """Does it again where somebody else has written meanwhile.

        The pauses are random: two writers that plan equally long would else stay in step, and the one that is behind
        would always be late.
        """
        limit = time.monotonic() + _PATIENCE
        while True:
            try:
                return work()
            except Stale:
                if time.monotonic() > limit:
                    break
            time.sleep(random.uniform(0, _LONGEST_PAUSE))
        raise StoreBusy(f"{what} being changed by other processes all the time.", hint="Try again.")


def _by_owner(passages: Iterable[Passage], owners: Iterable[NodeId]) -> dict[NodeId, list[Passage]]:
    """The passages of each owner; an owner without any has an empty list, which removes what it had."""
    found: dict[NodeId, list[Passage]] = {owner: [] for owner in owners}
    for passage in passages:
        found.setdefault(passage.owner_id, []).append(passage)
    return found


def _unforgotten(view: View, message_id: NodeId) -> Message:
    found = view.get(Message, [message_id])
    if not found and (parents := view.edges([message_id], ("CHUNK_OF",))):
        raise InvalidInput(
            f"{message_id} is a chunk of {parents[0].target_id}: a chunk cannot be changed by itself.",
            hint="Change the message that it is a piece of.",
        )
    if not found:
        raise NotFound(f"No message has the ID {message_id}.", hint="To find messages: recollect search")
    if found[0].erased:
        raise InvalidInput(
            f"Message {message_id} was forgotten.", hint="To bring it back: recollect import --again PATH"
        )
    return found[0]


def _cleaned(message: Message) -> Message:
    """The message as every store accepts it. Its words are clean already."""
    return replace(
        message,
        speaker=clean_title(message.speaker) or None if message.speaker else None,
        model=clean_title(message.model) or None if message.model else None,
        parts=tuple(clean_part(part) for part in message.parts),
        metadata=clean_metadata(message.metadata) if message.metadata else message.metadata,
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
