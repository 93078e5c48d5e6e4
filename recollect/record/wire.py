"""Records as plain JSON values and back, without loss: the lines of a dump, and what a digest is taken of."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields
from datetime import datetime
from enum import Enum
from functools import cache
from types import MappingProxyType, NoneType
from typing import Any

import orjson

from recollect.record.ids import from_microseconds, parse_time, to_microseconds
from recollect.record.nodes import (
    Chunk,
    Conversation,
    Document,
    Edge,
    Kind,
    Message,
    Node,
    NodeKind,
    Origin,
    Part,
    PartKind,
    Role,
    Thread,
    ToolCall,
    Turn,
    Version,
)

_ENUMS: Mapping[tuple[type, str], type[Enum]] = {
    (Message, "role"): Role,
    (Message, "kind"): Kind,
    (Part, "kind"): PartKind,
    (Node, "kind"): NodeKind,
    (Node, "origin"): Origin,
}
_LISTS: Mapping[tuple[type, str], type] = {
    (Message, "parts"): Part,
    (Message, "versions"): Version,
    (Document, "versions"): Version,
    (Thread, "messages"): Message,
    (Thread, "tool_calls"): ToolCall,
    (Thread, "turns"): Turn,
    (Thread, "chunks"): Chunk,
}
_TIMES = frozenset({"timestamp", "created", "updated", "replaced_at", "valid_from", "valid_to"})
_EXPECTED: Mapping[str, type | tuple[type, ...]] = {
    "str": str,
    "NodeId": str,
    "str | None": (str, NoneType),
    "NodeId | None": (str, NoneType),
    "int": int,
    "bool": bool,
    "Metadata": dict,
}


def to_wire(record: Any) -> dict[str, Any]:
    """A record as a map of JSON values, without fields that are empty or at their default. Times in microseconds."""
    plain: dict[str, Any] = {}
    kind: type = type(record)
    for name, default in _fields(kind):
        value = getattr(record, name)
        if value is None or value == default or value in ((), ""):
            continue
        if type(value) is str:
            plain[name] = value
        elif isinstance(value, Mapping):
            if value:
                plain[name] = _json(value)
        else:
            plain[name] = _plain(value)
    return plain


def from_wire(kind: type[Any], plain: Mapping[str, Any]) -> Any:
    """The inverse of `to_wire`. Raises KeyError, TypeError or ValueError for what is no record of that kind."""
    values: dict[str, Any] = {}
    for f in fields(kind):
        if f.name not in plain:
            continue
        value = plain[f.name]
        _check(f, value)
        if f.name in _TIMES:
            values[f.name] = _time(value)
        elif (kind, f.name) in _ENUMS:
            values[f.name] = _ENUMS[kind, f.name](value)
        elif (kind, f.name) in _LISTS:
            values[f.name] = tuple(from_wire(_LISTS[kind, f.name], inner) for inner in value)
        elif isinstance(value, list):
            values[f.name] = _texts(f.name, value)
        elif isinstance(value, dict):
            values[f.name] = MappingProxyType(value)
        else:
            values[f.name] = value
    for name in ("content", "title", "name"):  # required, and left out when empty
        if any(f.name == name for f in fields(kind)):
            values.setdefault(name, "")
    if missing := [f.name for f in fields(kind) if f.name not in values and f.default is MISSING]:
        raise KeyError(missing[0])
    return kind(**values)


def thread_to_wire(thread: Thread) -> dict[str, Any]:
    """A conversation with everything in it as one map; messages do not repeat the conversation's id."""
    plain = to_wire(thread.conversation)
    for name in ("messages", "tool_calls", "turns", "chunks"):
        inner = [to_wire(record) for record in getattr(thread, name)]
        for record in inner:
            record.pop("conversation_id", None)
        plain[name] = inner
    return plain


def thread_from_wire(plain: Mapping[str, Any]) -> Thread:
    """The inverse of `thread_to_wire`."""
    owned = {"messages", "tool_calls", "turns"}
    values: dict[str, Any] = {"conversation": from_wire(Conversation, plain)}
    for name in ("messages", "tool_calls", "turns", "chunks"):
        extra = {"conversation_id": plain["id"]} if name in owned else {}
        values[name] = tuple(from_wire(_LISTS[Thread, name], {**inner, **extra}) for inner in plain.get(name, ()))
    return Thread(**values)


def digest(thread: Thread) -> str:
    """A fingerprint of a conversation: equal for equal content."""
    raw = orjson.dumps(thread_to_wire(thread), option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    return hashlib.blake2b(raw, digest_size=16).hexdigest()


def dumps(plain: Mapping[str, Any]) -> bytes:
    """One line of JSON, keys sorted, with its newline."""
    return orjson.dumps(plain, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS)


@cache
def _fields(kind: type) -> Sequence[tuple[str, Any]]:
    return [(f.name, f.default) for f in fields(kind)]


_RECORDS = (Part, Version, Message, ToolCall, Turn, Chunk, Document, Edge, Node)


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return to_microseconds(value)
    if isinstance(value, tuple):
        return [to_wire(v) if isinstance(v, _RECORDS) else v for v in value]
    return value


def _json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json(inner) for inner in value]
    return value


def _check(known: Field[Any], value: Any) -> None:
    expected = _EXPECTED.get(str(known.type))
    if expected is not None and not isinstance(value, expected):
        raise TypeError(f"{known.name} is {type(value).__name__}")


def _texts(name: str, values: list[Any]) -> tuple[str, ...]:
    if not all(isinstance(value, str) for value in values):
        raise TypeError(f"{name} holds something else than texts")
    return tuple(values)


def _time(value: Any) -> datetime | None:
    try:
        moment = from_microseconds(value) if isinstance(value, int) else parse_time(value)
    except OverflowError as error:
        raise ValueError("a time beyond all years") from error
    if moment is None:
        raise ValueError("a time that cannot be read")
    return moment
