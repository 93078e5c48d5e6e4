"""The passages of the records that the tests of stores write: few words, small vectors that follow from them."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np

from recollect.record import Chunk, Conversation, Document, Kind, Message, Node, NodeId, Role, ToolCall, to_microseconds
from recollect.store import Record
from recollect.store.passages import PEOPLE, ROLE_SHIFT, ROLES, EmbedderId, Float, Owner, Partition, Passage
from tests.store.reference_model import Model

FIRST, OTHER_NAME, OTHER_SIZE = EmbedderId("first", 16), EmbedderId("second", 16), EmbedderId("first", 24)
EMBEDDERS = (FIRST, OTHER_NAME, OTHER_SIZE)
LONG = 60  # characters from which a text is cut in two


def chunks_of(parent: NodeId, text: str) -> list[Record]:
    """A long text in two pieces that overlap; a short one in none."""
    if len(text) < LONG:
        return []
    pieces = [(0, 40), (30, len(text))]
    return [Chunk(NodeId(f"{parent}-k{i}"), parent, i, start, end, 9) for i, (start, end) in enumerate(pieces)]


def text_of(record: Any, part: int = -1) -> str:
    """The words that passages are cut out of."""
    if isinstance(record, ToolCall):
        return f"{record.name}: {record.arguments}\n{record.result}"
    if isinstance(record, Conversation):
        return record.title
    if isinstance(record, Message):
        return record.parts[part].text if part >= 0 else record.content
    return str(record.text if isinstance(record, Node) else record.content)


def passages_of(record: Any, model: Model, embedder: EmbedderId) -> list[Passage]:
    """The passages of an owner: of what is deleted none, of a long text two."""
    if getattr(record, "deleted", False) or getattr(record, "erased", False):
        return []
    found = []
    for part in range(-1, len(record.parts) if isinstance(record, Message) else 0):
        text = text_of(record, part)
        pieces = [(0, 40), (30, len(text))] if len(text) >= LONG and part < 0 else [(0, len(text))]
        for chunk, (start, end) in enumerate(pieces):
            if text[start:end].strip():
                found.append(_passage(record, model, embedder, part, chunk, start, end))
    return found


def _passage(record: Any, model: Model, embedder: EmbedderId, part: int, chunk: int, start: int, end: int) -> Passage:
    message = record if isinstance(record, Message) else None
    if isinstance(record, ToolCall):
        message = model.messages.get(record.message_id)
    owner = {Message: Owner.MESSAGE, ToolCall: Owner.TOOL_CALL, Document: Owner.DOCUMENT, Node: Owner.NODE}
    words = re.findall(r"[^\W_]+", text_of(record, part)[start:end].lower())
    said = isinstance(record, Message) and (part >= 0 or record.kind is Kind.SAID)
    kinds = {ToolCall: "tool", Document: "document", Conversation: "title", Node: "fact"}
    partitions = {Conversation: Partition.TITLE, Node: Partition.DERIVED}
    partition = partitions.get(type(record), Partition.OTHER)
    role = message.role if isinstance(record, Message) else Role.TOOL
    speaker = record.speaker if isinstance(record, Message) else None
    vectors = vector_of(" ".join(words), embedder.size)
    return Passage(
        owner.get(type(record), Owner.CONVERSATION),
        record.id,
        getattr(record, "message_id", message.id if message else None),
        record.id if isinstance(record, Conversation) else getattr(record, "conversation_id", None),
        Partition.SAID if said else partition,
        kinds.get(type(record)) or ("attachment" if part >= 0 else record.kind.value),
        role.value,
        speaker,
        to_microseconds(getattr(record, "timestamp", None)),
        part,
        chunk,
        start,
        end,
        Counter(words),
        " ".join(words),
        ROLES.index(role.value) << ROLE_SHIFT | (PEOPLE if speaker else 0),
        vectors[0],
        vectors[1:] if len(words) > 3 else vectors[:0],
        message.parent_id if message else None,
        message is not None and message.position % 3 > 0,
    )


@cache
def vector_of(text: str, size: int) -> Float:
    """Three unit vectors that follow from a text."""
    made = np.random.default_rng(crc32(text.encode())).normal(size=(3, size))
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)
