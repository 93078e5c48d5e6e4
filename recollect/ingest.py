"""Into the memory: records become changes and passages, and both are written in one transaction.

The only way in, for imports and for live writing alike. What others write meanwhile is no harm: a change planned on a
conversation that has moved on is planned again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from recollect.embedding import Embedder
from recollect.errors import InvalidInput, NotFound, StoreError
from recollect.importers.assemble import chunks_of, clean_part, message_chunks
from recollect.importers.merge import Plan, plan
from recollect.record import (
    Chunk,
    Conversation,
    Document,
    Edge,
    Kind,
    Message,
    Namespace,
    NodeId,
    Role,
    Thread,
    ToolCall,
    Turn,
    Version,
    Window,
    stable_id,
)
from recollect.search.indexing import document_passages, is_person, message_passages, thread_passages, title_passages
from recollect.store import Batch, End, StaleChange, Stand, Store, ThreadChange
from recollect.store.passages import Passage
from recollect.text.clean import clean_metadata, clean_title
from recollect.text.windows import window_spans

_ATTEMPTS = 20
_ABOVE = 8  # how far up an append looks for what was said before it
_WINDOW_STEP = 8


@dataclass(slots=True)
class Written:
    """What a write did, in conversations and messages."""

    new: int = 0
    changed: int = 0
    same: int = 0
    messages: int = 0

    def add(self, other: Written) -> None:
        """Counts another write in."""
        self.new += other.new
        self.changed += other.changed
        self.same += other.same
        self.messages += other.messages


class Ingest:
    """Writes into one namespace of a store."""

    def __init__(
        self, store: Store, namespace: Namespace, embedder: Embedder, count_tokens: Callable[[str], int]
    ) -> None:
        self._store, self._namespace = store, namespace
        self._embedder, self._count_tokens = embedder, count_tokens
        self._embedder_known = False

    # --- imports ---------------------------------------------------------------------------------------------------
    def threads(self, threads: Sequence[Thread]) -> Written:
        """Writes conversations, in one transaction; each only once in a call. What is stored just so is left alone."""
        self._settle_embedder()
        for _ in range(_ATTEMPTS):
            stands = self._store.stands(self._namespace, [t.conversation.id for t in threads])
            plans: list[Plan] = []
            for thread in threads:
                conversation_id = thread.conversation.id
                made = plan(thread, stands.get(conversation_id), lambda i=conversation_id: self._load(i))  # type: ignore[misc]
                if made is not None:
                    plans.append(made)
            try:
                self._write_plans(plans)
            except StaleChange:
                continue
            changed = [p for p in plans if p.change.base_revision and (p.fresh or p.change.moved)]
            new = [p for p in plans if not p.change.base_revision]
            return Written(
                new=len(new),
                changed=len(changed),
                same=len(threads) - len(new) - len(changed),
                messages=sum(len(p.change.added) for p in plans),
            )
        raise StoreError("These conversations are being written all the time by somebody else.", hint="Try again.")

    def documents(self, documents: Sequence[tuple[Document, Sequence[Chunk]]]) -> None:
        """Writes documents with their chunks; where none are given, chunks are made."""
        self._settle_embedder()
        chunks: list[Chunk] = []
        for document, given in documents:
            chunks += given or chunks_of(document.id, document.content, count_tokens=self._count_tokens)
        known = {d.id: d for d in self._store.documents(self._namespace, [d.id for d, _ in documents])}
        fresh = [d for d, _ in documents if known.get(d.id) != d]
        if not fresh:
            return
        passages = [
            passage
            for document in fresh
            for passage in document_passages(document, embedder=self._embedder, count_tokens=self._count_tokens)
        ]
        self._store.write(
            self._namespace,
            Batch(documents=fresh, chunks=chunks, passages=passages, reindexed=[d.id for d in fresh if d.id in known]),
        )

    def edges(self, edges: Sequence[Edge]) -> None:
        """Writes edges."""
        self._store.write(self._namespace, Batch(edges=edges))

    def reindex(self, progress: Callable[[int], None] | None = None) -> int:
        """Makes the passages of everything that is stored, when there are none. Returns how many messages."""
        self._settle_embedder()
        done = 0
        for conversation_id in self._store.conversation_ids(self._namespace):
            thread = self._load(conversation_id)
            if thread is None:
                continue
            passages = thread_passages(
                thread,
                [m.id for m in thread.messages],
                titled=True,
                embedder=self._embedder,
                count_tokens=self._count_tokens,
            )
            self._store.write(self._namespace, Batch(passages=passages))
            done += len(thread.messages)
            if progress is not None:
                progress(done)
        for document in self._store.documents(self._namespace):
            passages = document_passages(document, embedder=self._embedder, count_tokens=self._count_tokens)
            self._store.write(self._namespace, Batch(passages=passages))
        self._store.settle(self._namespace)
        return done

    def _write_plans(self, plans: Sequence[Plan]) -> None:
        if not plans:
            return
        passages = [
            passage
            for p in plans
            for passage in thread_passages(
                p.thread, p.fresh, titled=p.retitled, embedder=self._embedder, count_tokens=self._count_tokens
            )
        ]
        known = [p for p in plans if p.change.base_revision]
        again: list[NodeId] = [message_id for p in known for message_id in p.fresh]
        fresh = set(again)
        again += [call.id for p in known for call in p.thread.tool_calls if call.message_id in fresh]
        again += [p.thread.conversation.id for p in known if p.retitled]
        self._store.write(self._namespace, Batch(changes=[p.change for p in plans], passages=passages, reindexed=again))

    def _load(self, conversation_id: NodeId) -> Thread | None:
        return self._store.thread(self._namespace, conversation_id)

    def _settle_embedder(self) -> None:
        if not self._embedder_known:
            self._store.set_embedder(self._namespace, self._embedder.name)
            self._embedder_known = True

    # --- live writing ----------------------------------------------------------------------------------------------
    def append(self, conversation: Conversation, message: Message, calls: Sequence[ToolCall] = ()) -> Message:
        """Adds a message to the end of a conversation (made, where it is not there), or below `message.parent_id`.

        The cost does not depend on how long the conversation is. What is there already is not added again. Raises
        NotFound for a parent that is not in it, InvalidInput where another message has this id.
        """
        self._settle_embedder()
        message = _cleaned(message)
        for _ in range(_ATTEMPTS):
            if known := self._store.messages(self._namespace, [message.id]):
                return _repeated(known[0], message)
            end = self._store.end(self._namespace, conversation.id)
            change, placed, previous = self._appended(conversation, message, calls, end)
            people = is_person(message.speaker) or bool(end and end.named)
            passages = message_passages(
                placed,
                previous,
                people=people,
                embedder=self._embedder,
                count_tokens=self._count_tokens,
                calls=calls,
            )
            if end is None:
                passages += title_passages(conversation, self._embedder, self._count_tokens)
            try:
                self._store.write(self._namespace, Batch(changes=[change], passages=passages))
            except StaleChange:
                continue
            return placed
        raise StoreError(f"Conversation {conversation.id} is being written all the time.", hint="Try again.")

    def edit(self, message_id: NodeId, content: str, now: Version) -> Message:
        """Gives a message a new wording; `now` holds the old one's place in the history. Raises NotFound."""
        for _ in range(_ATTEMPTS):
            message = self._message(message_id)
            if message.content == content:
                return message
            end = self._store.end(self._namespace, message.conversation_id)
            assert end is not None
            version = replace(now, content=message.content)
            edited = replace(
                message, content=content, versions=(*message.versions, version), tokens=self._count_tokens(content)
            )
            chunks = tuple(message_chunks(edited, count_tokens=self._count_tokens))
            change = ThreadChange(end.conversation, base_revision=end.revision, edited=[edited], chunks=chunks)
            passages = self._passages_again(edited, end)
            batch = Batch(changes=[change], passages=passages, reindexed=[edited.id])
            try:
                self._store.write(self._namespace, batch)
            except StaleChange:
                continue
            return edited
        raise StoreError(f"Message {message_id} is being written all the time.", hint="Try again.")

    def delete(self, message_ids: Sequence[NodeId]) -> None:
        """Deletes softly: out of every search and count, kept in the record."""
        self._store.set_deleted(self._namespace, message_ids, True)

    def restore(self, message_ids: Sequence[NodeId]) -> None:
        """Takes deletions back. Raises NotFound."""
        self._store.set_deleted(self._namespace, message_ids, False)
        passages, again = [], list(message_ids)
        for message in self._store.messages(self._namespace, message_ids):
            end = self._store.end(self._namespace, message.conversation_id)
            assert end is not None
            calls = self._calls(message.id)
            again += [call.id for call in calls]
            passages += self._passages_again(message, end, calls)
        self._store.write(self._namespace, Batch(passages=passages, reindexed=again))

    def _calls(self, message_id: NodeId) -> list[ToolCall]:
        """The tool calls of a message as they are stored: a result that is a message of its own is not in them."""
        edges = self._store.neighbours(self._namespace, message_id, ["CALLED_BY"], inward=True)
        calls = self._store.tool_calls(self._namespace, [edge.source_id for edge in edges])
        return [replace(call, result="") if call.result_message_id else call for call in calls]

    def _message(self, message_id: NodeId) -> Message:
        found = self._store.messages(self._namespace, [message_id])
        if not found:
            raise NotFound(f"There is no message {message_id}.", hint="recollect search finds messages.")
        return found[0]

    def _passages_again(self, message: Message, end: End, calls: Sequence[ToolCall] = ()) -> list[Passage]:
        previous = self._said_before(message.parent_id, message.kind)
        people = is_person(message.speaker) or end.named
        return message_passages(
            message, previous, people=people, embedder=self._embedder, count_tokens=self._count_tokens, calls=calls
        )

    def _said_before(self, parent_id: NodeId | None, kind: Kind) -> Message | None:
        for _ in range(_ABOVE):
            found = self._store.messages(self._namespace, [parent_id]) if parent_id else []
            if not found:
                return None
            above = found[0]
            if kind is not Kind.SAID or (above.kind is Kind.SAID and not above.deleted and above.content):
                return above
            parent_id = above.parent_id
        return None

    def _appended(
        self, conversation: Conversation, message: Message, calls: Sequence[ToolCall], end: End | None
    ) -> tuple[ThreadChange, Message, Message | None]:
        """The change that an append makes, the message at its place, and what was said before it."""
        if end is None:
            if message.parent_id is not None:
                raise NotFound(f"There is no message {message.parent_id} to answer.")
            placed = replace(message, position=0, active=True)
            return self._change(conversation, 0, placed, calls, None), placed, None
        parent_id = message.parent_id or (end.leaf.id if end.leaf else None)
        if end.leaf is not None and message.kind is Kind.TOOL and self._called_alike(end.leaf, parent_id):
            parent_id = end.leaf.id
        if parent_id is not None and (end.leaf is None or parent_id != end.leaf.id):
            return self._branched(end, replace(message, parent_id=parent_id), calls)
        placed = replace(message, parent_id=parent_id, position=end.message_count, active=True)
        if end.leaf is not None and end.message_count > end.leaf.position + 1:
            return self._branched(end, placed, calls)  # other branches stand behind the leaf in reading order
        updated = max((t for t in (end.conversation.updated, message.timestamp) if t), default=None)
        grown = replace(end.conversation, updated=updated)
        return self._change(grown, end.revision, placed, calls, end), placed, self._said_before(parent_id, message.kind)

    def _called_alike(self, leaf: Message, asked: NodeId | None) -> bool:
        """Whether only results of tools stand between a message and the leaf: several calls of it are no branches."""
        while leaf.kind is Kind.TOOL and leaf.parent_id is not None:
            if leaf.parent_id == asked:
                return True
            leaf = self._message(leaf.parent_id)
        return False

    def _change(
        self, conversation: Conversation, revision: int, message: Message, calls: Sequence[ToolCall], end: End | None
    ) -> ThreadChange:
        return ThreadChange(
            replace(conversation, leaf_id=message.id),
            base_revision=revision,
            added=[message],
            tool_calls=calls,
            turns=self._turns(message, end),
            chunks=tuple(message_chunks(message, count_tokens=self._count_tokens)),
            windows=_last_windows(conversation.id, message.position + 1),
        )

    def _turns(self, message: Message, end: End | None) -> tuple[Turn, ...]:
        """A user's words open a turn, an assistant's are added to the last."""
        if message.kind is not Kind.SAID:
            return ()
        last = end.turn if end else None
        if message.role is Role.USER:
            position = last.position + 1 if last else 0
            return (Turn(stable_id("turn", message.id), message.conversation_id, position, message.id),)
        if message.role is Role.ASSISTANT and last is not None:
            return (replace(last, response_ids=(*last.response_ids, message.id)),)
        return ()

    def _branched(
        self, end: End, message: Message, calls: Sequence[ToolCall]
    ) -> tuple[ThreadChange, Message, Message | None]:
        """An answer to an earlier message opens a branch: the whole conversation is put in order again."""
        stored = self._load(end.conversation.id)
        if stored is None or message.parent_id not in {m.id for m in stored.messages}:
            raise NotFound(f"There is no message {message.parent_id} in conversation {end.conversation.id}.")
        updated = max((t for t in (stored.conversation.updated, message.timestamp) if t), default=None)
        incoming = Thread(
            replace(stored.conversation, leaf_id=message.id, updated=updated),
            (replace(message, position=len(stored.messages)),),
            tool_calls=tuple(calls),
            chunks=tuple(message_chunks(message, count_tokens=self._count_tokens)),
        )
        made = plan(incoming, Stand(end.revision, None), lambda: stored)
        if made is None:
            raise InvalidInput(f"Message {message.id} is there already.")
        placed = next(m for m in made.thread.messages if m.id == message.id)
        return replace(made.change, digest=None), placed, self._said_before(message.parent_id, message.kind)


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
            f"There is another message {message.id} already.", hint="Leave the id out, or take a new one."
        )
    return known


def _last_windows(conversation_id: NodeId, count: int) -> tuple[Window, ...]:
    """The last two windows of a path of so many messages: all that an append can have changed."""
    first = max(0, (count - 2) // _WINDOW_STEP - 1)
    spans = window_spans(count - first * _WINDOW_STEP)
    return tuple(
        Window(conversation_id, first + index, first * _WINDOW_STEP + start, first * _WINDOW_STEP + last)
        for index, (start, last) in enumerate(spans)
    )
