"""One conversation without an end, as the Infinite Chat specification has it [4], on a `Memory`.

This is what is done; `InfiniteChatStorage` is the same, awaited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any, cast

from recollect import record
from recollect.answer.tools.base import FoundText
from recollect.context.settings import IndexConfig
from recollect.errors import NotFound
from recollect.memory import Memory
from recollect.memory.opening import open as open_memory
from recollect.record import NodeId, RoleName, iso, stable_id
from recollect.record.nodes import MessageChunk, ToolCallChunk
from recollect.runtime.files import Address, read_place
from recollect.search.results.snippet import excerpt
from recollect.text.terms import terms


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message, or a chunk of one. `timestamp` is ISO 8601."""

    id: str
    content: str
    role: str
    timestamp: str | None
    parent_id: str | None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    is_chunk: bool = False
    chunk_index: int | None = None
    chunk_parent_id: str | None = None


@dataclass(frozen=True, slots=True)
class ChatToolCall:
    """A call of a tool, or a chunk of one: then `result` is that piece of it. `message_id`: what called for it."""

    id: str
    tool_name: str
    arguments: str
    result: str
    timestamp: str | None
    message_id: str
    is_chunk: bool = False
    chunk_index: int | None = None
    chunk_parent_id: str | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Something that was found. `type` is message or tool_call; `id` opens it, and `tokens` is what that costs."""

    id: str
    snippet: str
    timestamp: str | None
    score: float
    type: str
    is_chunk: bool = False
    tokens: int = 0


def message_of(message: record.Message) -> ChatMessage:
    """A message as the specification has it."""
    piece = message if isinstance(message, MessageChunk) else None
    return ChatMessage(
        id=message.id,
        content=message.content,
        role=message.role.value,
        timestamp=iso(message.timestamp),
        parent_id=message.parent_id,
        metadata=dict(message.metadata),
        is_chunk=piece is not None,
        chunk_index=piece.chunk_index if piece else None,
        chunk_parent_id=piece.chunk_parent_id if piece else None,
    )


def tool_call_of(call: record.ToolCall) -> ChatToolCall:
    """A tool call as the specification has it."""
    piece = call if isinstance(call, ToolCallChunk) else None
    return ChatToolCall(
        id=call.id,
        tool_name=call.name,
        arguments=call.arguments,
        result=call.result,
        timestamp=iso(call.timestamp),
        message_id=call.message_id,
        is_chunk=piece is not None,
        chunk_index=piece.chunk_index if piece else None,
        chunk_parent_id=piece.chunk_parent_id if piece else None,
    )


def results_of(found: FoundText, further: Sequence[record.Message], query: str) -> list[SearchResult]:
    """A hit as the specification has it: one result, and one for each of its `further` chunks."""
    best = SearchResult(
        id=found.id,
        snippet=found.snippet,
        timestamp=iso(found.timestamp),
        score=found.score,
        type=found.type,
        is_chunk=found.is_chunk,
        tokens=found.tokens,
    )
    wanted = terms(query)
    return [
        best,
        *(
            replace(best, id=one.id, snippet=excerpt(one.content, wanted).text, tokens=one.tokens)
            for one in further
            if one.id in found.chunk_ids
        ),
    ]


class InfiniteChat:
    """A conversation that is kept for ever, and given to a model by what it needs of it.

    What is written goes into this conversation alone, which `conversation_id` names. What is found comes of the whole
    memory that it is in, as in the specification, which has one conversation to a database: conversations that must
    not see each other have a `namespace` of their own.

    `neo4j_uri` and `neo4j_auth` (user, password) name a server; without them it is the configured store, or the file
    `path`. `openai_key` is not needed: embeddings are made here, unless `embedder` names another. `index_config` holds
    the specification's settings; what it does not name comes from INDEX_… in the environment. The store is opened by
    the first call. Raises InvalidInput for settings that there are not.
    """

    def __init__(
        self,
        neo4j_uri: str | None = None,
        neo4j_auth: tuple[str, str] | Mapping[str, str] | None = None,
        openai_key: str | None = None,
        index_config: IndexConfig | Mapping[str, Any] | None = None,
        *,
        path: str | Path | None = None,
        namespace: str = "default",
        conversation_id: str | None = None,
        title: str = "Infinite chat",
        embedder: str = "static",
        background: bool | None = None,
    ) -> None:
        self._place = _place(neo4j_uri, neo4j_auth) if neo4j_uri else path
        self.index_config = IndexConfig.of(index_config)
        self.conversation_id = conversation_id or stable_id("infinite chat")
        self._namespace, self._title = namespace, title
        self._embedder, self._background = embedder, background
        self._opened: Memory | None = None
        self._lock = Lock()

    # --- writing ---------------------------------------------------------------------------------------------------
    def store_message(
        self,
        content: str,
        role: str = "user",
        parent_id: str | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        timestamp: datetime | None = None,
    ) -> str:
        """Stores a message, in chunks where it is long, and returns its id. Without a parent it follows the last one.

        Raises InvalidInput, NotFound, also for a parent in another conversation.
        """
        return self._memory.store_message(
            content,
            cast("RoleName", role),
            conversation_id=self.conversation_id,
            parent_id=parent_id,
            title=self._title,
            timestamp=timestamp,
            metadata=dict(metadata or {}),
        ).id

    def store_tool_call(self, tool_name: str, arguments: Any, result: Any, message_id: str) -> str:
        """Stores a call of a tool with its result, in chunks where it is long, and returns its id. Raises NotFound."""
        return self._memory.store_tool_call(tool_name, arguments, result, self._own(message_id)).id

    def update_message(self, id: str, new_content: str) -> None:
        """Gives a message other words; the old ones are kept. Raises NotFound, and InvalidInput for a chunk."""
        self._memory.update_message(self._own(id), new_content)

    def delete_message(self, id: str) -> None:
        """Deletes a message softly. Raises NotFound."""
        self._memory.delete(self._own(id))

    def restore_message(self, id: str) -> None:
        """Takes a soft deletion back. Raises NotFound."""
        self._memory.restore(self._own(id))

    # --- what a model gets -----------------------------------------------------------------------------------------
    def prepare_context(self, current_message: str) -> str:
        """What a model needs to answer: the newest messages, what answers, and an index of the rest, within
        `max_index_tokens`. Raises InvalidInput.
        """
        memory = self._memory
        try:
            return memory.prepare_context(current_message, self.conversation_id, config=self.index_config).text
        except NotFound:  # nothing was said here yet
            return memory.prepare_context(current_message, config=self.index_config).text

    def tools(self, provider: str = "anthropic") -> list[dict[str, Any]]:
        """The schemas of the tools for a model: for "anthropic", "openai" or "openai-responses"."""
        return self._memory.toolbox().schemas(provider)  # type: ignore[arg-type]

    def call_tool(self, name: str, arguments: Mapping[str, Any] | str) -> str:
        """Does what a model asks of a tool, and returns what it is told."""
        return self._memory.toolbox().call(name, arguments).text

    # --- retrieval -------------------------------------------------------------------------------------------------
    def get_message_by_id(self, id: str) -> ChatMessage:
        """A message, or a chunk of one. Raises NotFound."""
        return message_of(self._memory.toolbox().get_message_by_id(id))

    def get_messages_by_ids(self, ids: Sequence[str]) -> list[ChatMessage]:
        """Those that are there, in the order asked for."""
        return [message_of(message) for message in self._memory.toolbox().get_messages_by_ids(ids)]

    def get_message_with_chunks(self, id: str) -> list[ChatMessage]:
        """The chunks of a long message, in order; a short one as it is. Raises NotFound."""
        return [message_of(message) for message in self._memory.toolbox().get_message_with_chunks(id)]

    def vector_search(self, query: str, limit: int = 10) -> list[SearchResult]:
        """What is found, tool calls too if so configured; each chunk of a message that matches is a result. Raises
        InvalidInput.
        """
        with_calls = self.index_config.include_tool_calls
        found = self._memory.toolbox().vector_search(query, limit, include_tool_calls=with_calls)
        further = self._memory.toolbox().get_messages_by_ids([piece for one in found for piece in one.chunk_ids[1:]])
        return [result for one in found for result in results_of(one, further, query)][:limit]

    def get_cluster(self, cluster_id: str, limit: int = 50) -> list[ChatMessage]:
        """The messages of a cluster. Raises NotFound."""
        return [message_of(message) for message in self._memory.toolbox().get_cluster(cluster_id, limit)]

    def get_topic_messages(self, topic: str, limit: int = 50) -> list[ChatMessage]:
        """The messages of a topic. Raises NotFound."""
        return [message_of(message) for message in self._memory.toolbox().get_topic_messages(topic, limit)]

    def get_period_messages(self, period: str, limit: int = 50) -> list[ChatMessage]:
        """What was said today, this_week, this_month, in 2025-03 … Raises InvalidInput."""
        return [message_of(message) for message in self._memory.toolbox().get_period_messages(period, limit)]

    def get_conversation_thread(self, message_id: str, depth: int = 5) -> list[ChatMessage]:
        """What was said around a message. Raises NotFound."""
        return [message_of(message) for message in self._memory.toolbox().get_conversation_thread(message_id, depth)]

    def get_tool_call(self, id: str) -> ChatToolCall:
        """A tool call, or a chunk of one. Raises NotFound."""
        return tool_call_of(self._memory.toolbox().get_tool_call(id))

    def get_tool_calls_by_message(self, message_id: str) -> list[ChatToolCall]:
        """The tool calls of a message. Raises NotFound."""
        return [tool_call_of(call) for call in self._memory.toolbox().get_tool_calls_by_message(message_id)]

    def search_and_retrieve(self, query: str, auto_limit: int = 5) -> list[ChatMessage]:
        """What is found, in full. Raises InvalidInput."""
        return [message_of(message) for message in self._memory.toolbox().search_and_retrieve(query, auto_limit)]

    def close(self) -> None:
        """Closes the store; the next call opens it again."""
        with self._lock:
            memory, self._opened = self._opened, None
        if memory is not None:
            memory.close()

    # --- inside ----------------------------------------------------------------------------------------------------
    @property
    def _memory(self) -> Memory:
        with self._lock:
            if self._opened is None:
                self._opened = open_memory(
                    self._place,
                    namespace=self._namespace,
                    embedder=self._embedder,
                    background=self._background,
                    chunk_tokens=self.index_config.chunk_threshold,
                    chunk_overlap=self.index_config.chunk_overlap,
                )
            return self._opened

    def _own(self, id: str) -> str:
        """The id of something that is written to. Raises NotFound where it is another conversation, or in one."""
        memory = self._memory
        of = {one.conversation_id for one in memory.messages([id])}
        if memory.integration.conversation_named(id) is not None:
            of.add(NodeId(id))
        if of - {self.conversation_id}:
            raise NotFound(f"No message of this conversation has the ID {id}.")
        return id


def _place(uri: str, auth: tuple[str, str] | Mapping[str, str] | None) -> Address | Path:
    place = read_place(uri)
    if not isinstance(place, Address) or auth is None:
        return place
    user, password = (auth["user"], auth["password"]) if isinstance(auth, Mapping) else auth
    return Address(place.server, place.database, user, password)
