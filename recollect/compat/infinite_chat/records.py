"""What the Infinite Chat specification hands out [4]: its interfaces, with names as Python writes them.

The package exports the first two by the names of the specification, `Message` and `ToolCall`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from recollect import record
from recollect.answer.tools.base import FoundText
from recollect.record import iso
from recollect.record.nodes import MessageChunk, ToolCallChunk
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


def tool_call_of(call: record.ToolCall, asked_by: str) -> ChatToolCall:
    """A tool call as the specification has it."""
    piece = call if isinstance(call, ToolCallChunk) else None
    return ChatToolCall(
        id=call.id,
        tool_name=call.name,
        arguments=call.arguments,
        result=call.result,
        timestamp=iso(call.timestamp),
        message_id=asked_by,
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
