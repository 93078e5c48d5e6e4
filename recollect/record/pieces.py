"""Pieces of long messages and tool results, and documents, read as messages and tool calls of their own [4].

They are made when somebody reads them; what is stored is the whole text, and where each piece of it lies.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from recollect.record.ids import NodeId
from recollect.record.nodes import Chunk, Document, Kind, Message, Role, ToolCall

_NOBODY = NodeId("")  # of a field that is always given


@dataclass(frozen=True, slots=True)
class MessageChunk(Message):
    """A piece of a message. `id` is that of the chunk, `content` and `tokens` are those of the piece, all else is the
    message's. `part` is the number of the attachment that it is a piece of, -1 for the message's own words.
    """

    chunk_index: int = 0
    chunk_parent_id: NodeId = _NOBODY
    part: int = -1

    @property
    def is_chunk(self) -> bool:
        """It is."""
        return True


@dataclass(frozen=True, slots=True)
class ToolCallChunk(ToolCall):
    """A piece of the result of a tool call. `id` is that of the chunk, `result` the words of the piece."""

    chunk_index: int = 0
    chunk_parent_id: NodeId = _NOBODY

    @property
    def is_chunk(self) -> bool:
        """It is."""
        return True


def document_message(document: Document, text: str | None = None) -> Message:
    """A document, or a part of its text, as something that can be read where messages are read. It is in no
    conversation; its speaker is its title.
    """
    return Message(
        id=document.id,
        conversation_id=_NOBODY,
        role=Role.TOOL,
        content=document.content if text is None else text,
        kind=Kind.CONTEXT,
        speaker=document.title,
        timestamp=document.created,
    )


def message_chunk(message: Message, chunk: Chunk) -> MessageChunk:
    """The piece of a message that a chunk names."""
    text = message.content if chunk.part < 0 else message.parts[chunk.part].text
    piece = {"id": chunk.id, "content": text[chunk.start : chunk.end], "tokens": chunk.tokens, "parts": ()}
    place = {"chunk_index": chunk.index, "chunk_parent_id": message.id, "part": chunk.part}
    return MessageChunk(**_values(message) | piece | place)


def tool_call_chunk(call: ToolCall, chunk: Chunk) -> ToolCallChunk:
    """The piece of a tool call's result that a chunk names; `call` has its result filled in."""
    piece = {"id": chunk.id, "result": call.result[chunk.start : chunk.end]}
    return ToolCallChunk(**_values(call) | piece | {"chunk_index": chunk.index, "chunk_parent_id": call.id})


def _values(record: Message | ToolCall) -> dict[str, Any]:
    of = Message if isinstance(record, Message) else ToolCall
    return {field.name: getattr(record, field.name) for field in fields(of)}
