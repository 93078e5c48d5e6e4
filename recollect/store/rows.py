"""From rows, as the engines read them, to records and back."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import orjson

from recollect.record import (
    NOTHING,
    Conversation,
    Document,
    Kind,
    Message,
    Metadata,
    NodeId,
    Part,
    PartKind,
    Role,
    ToolCall,
    Turn,
    Version,
    from_microseconds,
    to_microseconds,
)
from recollect.record.nodes import Chunk

Row = Sequence[Any]


def pack(value: Any) -> str | None:
    """JSON, or None for what is empty."""
    return (
        orjson.dumps(value, default=_plain, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()
        if value
        else None
    )


def unpack_metadata(text: str | None) -> Metadata:
    """The inverse of `pack` for maps."""
    return MappingProxyType(orjson.loads(text)) if text else NOTHING


def conversation(row: Row) -> Conversation:
    """From the columns of CONVERSATION."""
    return Conversation(
        id=row[0],
        source=row[1],
        source_id=row[2],
        title=row[3],
        created=from_microseconds(row[4]),
        updated=from_microseconds(row[5]),
        leaf_id=row[6],
        metadata=unpack_metadata(row[7]),
        deleted=bool(row[8]),
    )


def message(row: Row) -> Message:
    """From the columns MESSAGE."""
    return Message(
        id=row[0],
        conversation_id=row[1],
        role=Role(row[2]),
        content=row[3],
        kind=Kind(row[4]),
        speaker=row[5],
        timestamp=from_microseconds(row[6]),
        parent_id=row[7],
        source_id=row[8],
        position=row[9],
        active=bool(row[10]),
        model=row[11],
        tokens=row[12],
        parts=_parts(row[13]),
        metadata=unpack_metadata(row[14]),
        versions=_versions(row[15]),
        deleted=bool(row[16]),
    )


def message_row(message: Message) -> tuple[Any, ...]:
    """The values of a message in the order of the statements that write it, without namespace and conversation."""
    return (
        message.position,
        message.role.value,
        message.kind.value,
        message.speaker,
        to_microseconds(message.timestamp),
        message.parent_id,
        message.source_id,
        int(message.active),
        int(message.deleted),
        message.tokens,
        message.model,
        pack([_part_map(part) for part in message.parts]),
        pack(dict(message.metadata)),
        pack([{"content": v.content, "replaced_at": to_microseconds(v.replaced_at)} for v in message.versions]),
        message.content,
    )


def tool_call(row: Row) -> ToolCall:
    """From the columns TOOL_CALL."""
    return ToolCall(
        id=row[0],
        message_id=row[1],
        conversation_id=row[2],
        name=row[3],
        arguments=row[4],
        result=row[5],
        result_message_id=row[6],
        timestamp=from_microseconds(row[7]),
        position=row[8],
        metadata=unpack_metadata(row[9]),
    )


def turn(row: Row) -> Turn:
    """From the columns TURN."""
    return Turn(
        id=row[0],
        conversation_id=row[1],
        position=row[2],
        query_id=row[3],
        response_ids=_ids(row[4]),
        resolved_query=row[5],
        entities=_ids(row[6]),
        source_chunk_ids=_ids(row[7]),
    )


def chunk(row: Row) -> Chunk:
    """From the columns CHUNK."""
    return Chunk(id=row[0], parent_id=row[1], index=row[2], start=row[3], end=row[4], tokens=row[5], part=row[6])


def document(row: Row) -> Document:
    """From the columns DOCUMENT."""
    return Document(
        id=row[0],
        source=row[1],
        title=row[2],
        content=row[3],
        source_id=row[4],
        created=from_microseconds(row[5]),
        metadata=unpack_metadata(row[6]),
    )


def _ids(text: str | None) -> tuple[NodeId, ...]:
    return tuple(orjson.loads(text)) if text else ()


def _parts(text: str | None) -> tuple[Part, ...]:
    if not text:
        return ()
    return tuple(
        Part(PartKind(p["kind"]), p.get("name", ""), p.get("text", ""), MappingProxyType(p.get("metadata", {})))
        for p in orjson.loads(text)
    )


def _part_map(part: Part) -> dict[str, Any]:
    whole = {"kind": part.kind.value, "name": part.name, "text": part.text, "metadata": dict(part.metadata)}
    return {key: value for key, value in whole.items() if value}


def _versions(text: str | None) -> tuple[Version, ...]:
    if not text:
        return ()
    found = []
    for version in orjson.loads(text):
        moment = from_microseconds(version["replaced_at"])
        assert moment is not None
        found.append(Version(version["content"], moment))
    return tuple(found)


def _plain(value: Any) -> Any:
    if isinstance(value, MappingProxyType):
        return dict(value)
    return str(value)
