"""What every way of writing stands on: a space, and what makes passages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.importers.records.assemble import chunks_of, message_chunks
from recollect.index.passages import (
    chunks_by_parent,
    document_passages,
    is_person,
    messages_passages,
    node_passages,
    said_before,
    threads_passages,
    title_passages,
)
from recollect.models.embedding import Embedder
from recollect.record import Chunk, Conversation, Document, Message, Node, NodeId, Thread, ToolCall, utc_now
from recollect.store import IndexChange, Space, View
from recollect.store.passages import EmbedderId, Passage
from recollect.text.sentences import USUAL, Chunking


class Passages:
    """Makes the passages of records, and cuts what is long."""

    def __init__(self, embedder: Embedder, count_tokens: Callable[[str], int], chunking: Chunking) -> None:
        self._embedder, self._count_tokens = embedder, count_tokens
        self._chunking = chunking  # of what is written live

    @property
    def embedder_id(self) -> EmbedderId:
        """Who makes the vectors of what is written."""
        return EmbedderId(self._embedder.name, self._embedder.dimensions)

    def threads_passages(self, given: Sequence[tuple[Thread, Collection[NodeId], bool]]) -> dict[NodeId, list[Passage]]:
        """The passages of some messages of conversations with their tool calls and, where it says so, of the titles, by
        owner.
        """
        made = threads_passages(given, embedder=self._embedder, count_tokens=self._count_tokens)
        found: dict[NodeId, list[Passage]] = {}
        for (thread, fresh, titled), passages in zip(given, made, strict=True):
            owners = [m.id for m in thread.messages if m.id in fresh]
            owners += [call.id for call in thread.tool_calls if call.message_id in fresh]
            found |= _by_owner(passages, [*owners, *([thread.conversation.id] if titled else [])])
        return found

    def thread_passages(self, thread: Thread, fresh: Iterable[NodeId], *, titled: bool) -> dict[NodeId, list[Passage]]:
        """The same of one conversation."""
        return self.threads_passages([(thread, set(fresh), titled)])

    def owners_passages(self, view: View, messages: Sequence[Message]) -> dict[NodeId, list[Passage]]:
        """The passages of messages as they are given, with their tool calls, by owner."""
        found: dict[NodeId, list[Passage]] = {}
        living = {message.id for message in messages if not message.deleted}
        chunks = chunks_by_parent(view.get(Chunk, [message.id for message in messages]))
        for message in messages:
            end = view.end(message.conversation_id)
            people = is_person(message.speaker) or bool(end and end.named)
            previous, calls = said_before(view, message, living), self._calls_of(view, message)
            found |= self._message_passages(message, previous, people, calls, chunks)
        return found

    def _calls_of(self, view: View, message: Message) -> list[ToolCall]:
        """The tool calls of a message for its passages: a result that is a message is found as that message."""
        calls = view.get(ToolCall, [edge.source_id for edge in view.edges([message.id], ["CALLED_BY"], "in")])
        return [replace(call, result="") if call.result_message_id else call for call in calls]

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
        self,
        message: Message,
        previous: Message | None,
        people: bool,
        calls: Sequence[ToolCall],
        chunks: Mapping[NodeId, Sequence[Chunk]],
    ) -> dict[NodeId, list[Passage]]:
        return self._fresh_passages([message], {message.id: previous}, people, {message.id: calls}, chunks)

    def _fresh_passages(
        self,
        messages: Sequence[Message],
        previous: Mapping[NodeId, Message | None],
        people: bool,
        calls: Mapping[NodeId, Sequence[ToolCall]],
        chunks: Mapping[NodeId, Sequence[Chunk]],
    ) -> dict[NodeId, list[Passage]]:
        made = messages_passages(
            messages,
            previous,
            calls,
            chunks,
            people=people,
            embedder=self._embedder,
            count_tokens=self._count_tokens,
        )
        return _by_owner(made, [*(m.id for m in messages), *(c.id for several in calls.values() for c in several)])

    def _chunks(self, messages: Iterable[Message]) -> dict[NodeId, list[Chunk]]:
        """What the long ones of messages that are written live are cut in."""
        return {
            message.id: list(message_chunks(message, count_tokens=self._count_tokens, chunking=self._chunking))
            for message in messages
        }

    def _index_change(self, passages: Mapping[NodeId, Sequence[Passage]]) -> IndexChange:
        """What is written of passages; to remove some no embedder is asked for."""
        return IndexChange(embedder=self.embedder_id if any(passages.values()) else None, passages=passages)


def _by_owner(passages: Iterable[Passage], owners: Iterable[NodeId]) -> dict[NodeId, list[Passage]]:
    """The passages of each owner; an owner without any has an empty list, which removes what it had."""
    found: dict[NodeId, list[Passage]] = {owner: [] for owner in owners}
    for passage in passages:
        found.setdefault(passage.owner_id, []).append(passage)
    return found


class Writer(Passages):
    """Plans on a view of a space, and writes into it."""

    def __init__(
        self,
        space: Space,
        embedder: Embedder,
        count_tokens: Callable[[str], int],
        clock: Callable[[], datetime] = utc_now,
        chunking: Chunking = USUAL,
    ) -> None:
        super().__init__(embedder, count_tokens, chunking)
        self._space, self._clock = space, clock
