"""From records to the properties of nodes and back, by the one codec (`recollect.engines.codec`).

A property is named like the field. Beside the fields stands what statements look for: `number` (of messages,
conversations, documents, derived nodes), `revision` and `digest`, titles in one case (`folded`), and keys made of what
may be too long for an index.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from recollect.engines.codec import decode, encode, names
from recollect.errors import StoreDamaged
from recollect.record import Chunk, Conversation, Document, Kind, Message, Node, NodeKind, PartKind, ToolCall, Turn
from recollect.store.change import Record
from recollect.store.results import Lost

T = TypeVar("T")
Properties = Mapping[str, Any]

#: The label of each kind of record; of a derived node it is DERIVED, beside its own (`own_label`).
LABELS: Mapping[type[Any], str] = {
    Conversation: "Conversation",
    Message: "Message",
    ToolCall: "ToolCall",
    Turn: "Turn",
    Chunk: "Chunk",
    Document: "Document",
    Node: "Derived",
}

_FLAGS = frozenset({"active", "deleted", "erased"})  # true and false in the graph, for whoever asks it
_LONGEST_KEY = 500


def own_label(kind: NodeKind) -> str:
    """The label of a kind of derived node: Summary, Fact …"""
    return kind.value.capitalize()


def all_labels(record: Record) -> list[str]:
    """The labels that the node of a record is made with."""
    own = LABELS[type(record)]
    if isinstance(record, Node):
        return ["Node", own, own_label(record.kind)]
    return ["Node", own, "Session"] if isinstance(record, Conversation) else ["Node", own]


def key(text: str | None) -> str | None:
    """What stands for a text in an index: itself, or of a long one its fingerprint (an index takes 8,000 bytes)."""
    if text is None or len(text) <= _LONGEST_KEY:
        return text
    return "#" + hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def source_key(source_id: str | None) -> str | None:
    """What source ids are looked up by, whatever their case."""
    return key(source_id.casefold()) if source_id is not None else None


def properties(record: Record) -> dict[str, Any]:
    """All that is set when a record is put; what is None is removed."""
    found: dict[str, Any] = dict(zip(names(type(record)), encode(record), strict=True))
    for name in _FLAGS & found.keys():
        found[name] = bool(found[name])
    if isinstance(record, Message):
        found["source_key"] = source_key(record.source_id)
        # Only messages of people with names have this property, and so only they are in its index.
        found["named"] = True if record.speaker is not None and record.kind is Kind.SAID else None
        found["attachments"] = sum(part.kind is not PartKind.REASONING for part in record.parts) or None
    elif isinstance(record, Conversation):
        found["source_key"] = source_key(record.source_id)
        found["folded"] = record.title.casefold()
    elif isinstance(record, Document):
        found["folded"] = record.title.casefold()
    elif isinstance(record, Node):
        found["short_key"] = key(record.key)
    return found


def readable(kind: type[T], nodes: Iterable[Properties], lost: Lost | None) -> list[T]:
    """Records, without those that are damaged where `lost` counts them. Raises StoreDamaged where nothing does."""
    found: list[T] = []
    for node in nodes:
        try:
            found.append(record(kind, node))
        except StoreDamaged:
            if lost is None:
                raise
            lost.count(kind)
    return found


def record(kind: type[T], node: Properties) -> T:
    """The inverse."""
    return decode(kind, [node.get(name) for name in names(kind)])
