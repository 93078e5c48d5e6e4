"""From records to the properties of nodes and back. Times are microseconds, maps are JSON, lists of texts are lists."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from recollect.record import Conversation, Document, Kind, Message, PartKind, ToolCall, Turn, Window, to_microseconds
from recollect.record.nodes import Chunk
from recollect.store import rows
from recollect.store.rows import pack

Properties = Mapping[str, Any]

# The properties in the order of the functions of `recollect.store.rows` that read them.
_CONVERSATION = ("id", "source", "source_id", "title", "created", "updated", "leaf_id", "metadata", "deleted")
_MESSAGE = (
    "id", "conversation_id", "role", "content", "kind", "speaker", "timestamp", "parent_id", "source_id", "position",
    "active", "model", "tokens", "parts", "metadata", "versions", "deleted",
)  # fmt: skip
_MESSAGE_VALUES = (
    "position", "role", "kind", "speaker", "timestamp", "parent_id", "source_id", "active", "deleted", "tokens",
    "model", "parts", "metadata", "versions", "content",
)  # fmt: skip
_TOOL_CALL = (
    "id", "message_id", "conversation_id", "name", "arguments", "result", "result_message_id", "timestamp", "position",
    "metadata",
)  # fmt: skip
_CHUNK = ("id", "parent_id", "index", "start", "end", "tokens", "part")
_DOCUMENT = ("id", "source", "title", "content", "source_id", "created", "metadata")

_LONGEST_KEY = 500


def key(text: str | None) -> str | None:
    """What stands for a text in an index: itself, or of a long one its fingerprint (an index takes 8,000 bytes)."""
    if text is None or len(text) <= _LONGEST_KEY:
        return text
    return "#" + hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def conversation_values(c: Conversation, digest: str | None) -> dict[str, Any]:
    """All that is set when a conversation is put."""
    return {
        "source": c.source,
        "source_id": c.source_id,
        "source_key": key(c.source_id),
        "title": c.title,
        "created": to_microseconds(c.created),
        "updated": to_microseconds(c.updated),
        "leaf_id": c.leaf_id,
        "metadata": pack(dict(c.metadata)),
        "deleted": c.deleted,
        "digest": digest,
    }


def conversation(node: Properties) -> Conversation:
    """The inverse."""
    return rows.conversation([node.get(name) for name in _CONVERSATION])


def message_values(m: Message) -> dict[str, Any]:
    """All that is set when a message is added or edited; what is None is removed."""
    return {
        **dict(zip(_MESSAGE_VALUES, rows.message_row(m), strict=True)),
        "active": m.active,
        "deleted": m.deleted,
        "source_key": key(m.source_id),
        "named": True if m.speaker is not None and m.kind is Kind.SAID else None,
        "attachments": sum(part.kind is not PartKind.REASONING for part in m.parts) or None,
    }


def message(node: Properties) -> Message:
    """The inverse."""
    return rows.message([node.get(name) for name in _MESSAGE])


def tool_call_values(t: ToolCall) -> dict[str, Any]:
    """All that is set when a tool call is put."""
    return {
        "message_id": t.message_id,
        "position": t.position,
        "name": t.name,
        "arguments": t.arguments,
        "result": t.result,
        "result_message_id": t.result_message_id,
        "timestamp": to_microseconds(t.timestamp),
        "metadata": pack(dict(t.metadata)),
    }


def tool_call(node: Properties, result: str | None = None) -> ToolCall:
    """The inverse; `result` stands in where the call has none of its own."""
    values = [node.get(name) for name in _TOOL_CALL]
    values[5] = values[5] or result or ""
    return rows.tool_call(values)


def turn_values(t: Turn) -> dict[str, Any]:
    """All that is set when a turn is put."""
    return {
        "position": t.position,
        "query_id": t.query_id,
        "response_ids": list(t.response_ids),
        "resolved_query": t.resolved_query,
        "entities": list(t.entities) or None,
        "source_chunk_ids": list(t.source_chunk_ids) or None,
    }


def turn(node: Properties) -> Turn:
    """The inverse."""
    return Turn(
        id=node["id"],
        conversation_id=node["conversation_id"],
        position=node["position"],
        query_id=node["query_id"],
        response_ids=tuple(node.get("response_ids") or ()),
        resolved_query=node.get("resolved_query"),
        entities=tuple(node.get("entities") or ()),
        source_chunk_ids=tuple(node.get("source_chunk_ids") or ()),
    )


def chunk_values(c: Chunk) -> dict[str, Any]:
    """All that is set when a chunk is put."""
    return {
        "parent_id": c.parent_id,
        "index": c.index,
        "start": c.start,
        "end": c.end,
        "tokens": c.tokens,
        "part": c.part,
    }


def chunk(node: Properties) -> Chunk:
    """The inverse."""
    return rows.chunk([node.get(name) for name in _CHUNK])


def window(node: Properties) -> Window:
    """From the properties of a window."""
    return Window(node["conversation_id"], node["index"], node["start"], node["end"])


def document_values(d: Document) -> dict[str, Any]:
    """All that is set when a document is put."""
    return {
        "title": d.title,
        "created": to_microseconds(d.created),
        "metadata": pack(dict(d.metadata)),
        "content": d.content,
    }


def document(node: Properties) -> Document:
    """The inverse."""
    return rows.document([node.get(name) for name in _DOCUMENT])
