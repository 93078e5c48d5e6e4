"""What is remembered: the nodes of the graph (SYSTEM.md 2), as frozen records, made complete.

Texts are stored once: a message holds its words whole, a chunk or a window only says which part of them it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from recollect.record.ids import NodeId

Metadata = Mapping[str, Any]


class _Nothing(Mapping[str, Any]):
    """The empty map that cannot be filled: what a record has where it has no metadata."""

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "{}"


NOTHING: Metadata = _Nothing()

#: The key in the metadata of documents that are kept and not searched.
HIDDEN = "hidden"

#: The source of documents that were made of the memory itself: they are found, and they prove nothing.
REPORTS = "research"


class Role(StrEnum):
    """Who stands behind a message, as chat formats have it."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


#: A role, as callers name it.
RoleName = Role | Literal["user", "assistant", "system", "tool"]


class Kind(StrEnum):
    """Whose words a message holds. Only SAID was said by a person or a model to the other.

    The rest is kept and found on request, never counted as said, never a fact, never ranked before what was said.
    """

    SAID = "said"
    REASONING = "reasoning"  # a model's thinking
    TOOL = "tool"  # calls of tools and what they gave back
    CONTEXT = (
        "context"  # put into the talk for somebody: instructions, reminders, recalled memory, compaction summaries
    )
    SUBAGENT = "subagent"  # agents among themselves


class PartKind(StrEnum):
    """What hangs on a message besides its words."""

    ATTACHMENT = "attachment"  # a file with its extracted text, where the export holds any
    ARTIFACT = "artifact"  # a document, page or program that the model wrote beside its answer
    REASONING = "reasoning"  # thinking that came inside the same message
    ASSET = "asset"  # an image, sound or video: named, without text


@dataclass(frozen=True, slots=True)
class Part:
    """Something that hangs on a message: searchable by its text, named by its name. It leads to its message."""

    kind: PartKind
    name: str = ""
    text: str = ""
    metadata: Metadata = NOTHING


@dataclass(frozen=True, slots=True)
class Version:
    """An earlier wording of an edited message."""

    content: str
    replaced_at: datetime


@dataclass(frozen=True, slots=True)
class Message:
    """One utterance. `position` counts the messages of the conversation as they came, from 0, and never changes.

    `parent_id` makes the conversation a tree (regenerations, edits), parents before their children; `active` says
    whether it lies on the path that is shown first. `tokens` is an estimate of the packaged tokenizer. Of an `erased`
    message nothing is left but its place.
    """

    id: NodeId
    conversation_id: NodeId
    role: Role
    content: str
    kind: Kind = Kind.SAID
    speaker: str | None = None
    timestamp: datetime | None = None
    parent_id: NodeId | None = None
    source_id: str | None = None
    position: int = 0
    active: bool = True
    model: str | None = None
    tokens: int = 0
    parts: tuple[Part, ...] = ()
    metadata: Metadata = NOTHING
    versions: tuple[Version, ...] = ()
    deleted: bool = False
    erased: bool = False

    @property
    def edited(self) -> bool:
        """Whether earlier wordings are kept."""
        return bool(self.versions)

    @property
    def is_chunk(self) -> bool:
        """Whether this is a piece of a message (`recollect.record.nodes`)."""
        return False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool within a message. Where the result is a message of its own, `result_message_id` names it and
    `result` is empty: no text is stored twice.
    """

    id: NodeId
    message_id: NodeId
    conversation_id: NodeId
    name: str
    arguments: str = ""
    result: str = ""
    result_message_id: NodeId | None = None
    timestamp: datetime | None = None
    position: int = 0
    metadata: Metadata = NOTHING

    @property
    def is_chunk(self) -> bool:
        """Whether this is a piece of a result (`recollect.record.nodes`)."""
        return False


@dataclass(frozen=True, slots=True)
class Turn:
    """One query with the responses to it, in order [2]. Chat fills in the resolved query, entities and sources."""

    id: NodeId
    conversation_id: NodeId
    position: int
    query_id: NodeId
    response_ids: tuple[NodeId, ...] = ()
    resolved_query: str | None = None
    entities: tuple[str, ...] = ()
    source_chunk_ids: tuple[NodeId, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a long message, part of a message, tool result or document: `text[start:end]` of its parent."""

    id: NodeId
    parent_id: NodeId
    index: int
    start: int
    end: int
    tokens: int
    part: int = -1  # -1: the parent's own text; else the number of the part


@dataclass(frozen=True, slots=True)
class Window:
    """A run of messages by position, first and last included [0]. Never stored: it follows from the number of messages
    (`recollect.text.sentences`).
    """

    conversation_id: NodeId
    index: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """One session or thread. `leaf_id` is the end of the active path."""

    id: NodeId
    source: str
    source_id: str | None = None
    title: str = ""
    created: datetime | None = None
    updated: datetime | None = None
    leaf_id: NodeId | None = None
    metadata: Metadata = NOTHING
    deleted: bool = False
    erased: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A file of a knowledge base (a project's instructions and files), searched by its chunks. `versions` are what it
    said before.
    """

    id: NodeId
    source: str
    title: str
    content: str
    source_id: str | None = None
    created: datetime | None = None
    metadata: Metadata = NOTHING
    versions: tuple[Version, ...] = ()
    erased: bool = False

    @property
    def hidden(self) -> bool:
        """Whether no search shows it: its metadata says so (HIDDEN), as of what a framework deleted."""
        return bool(self.metadata.get(HIDDEN))


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation between two nodes that no field of theirs already says.

    `name` tells relations of one type between the same two apart (RELATED_TO: USES, REPLACES).
    """

    source_id: NodeId
    type: str
    target_id: NodeId
    properties: Metadata = NOTHING
    name: str = ""

    @property
    def key(self) -> tuple[NodeId, str, NodeId, str]:
        """What tells it apart from all others: source, type, target, name."""
        return self.source_id, self.type, self.target_id, self.name


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation with everything in it: what an importer hands over and a store writes in one transaction."""

    conversation: Conversation
    messages: tuple[Message, ...]
    tool_calls: tuple[ToolCall, ...] = ()
    turns: tuple[Turn, ...] = ()
    chunks: tuple[Chunk, ...] = field(default=())


# Pieces of long messages and tool results, and documents, read as messages and tool calls of their own [4].

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


# What is derived from the record, or said beside it: summaries, facts, entities, topics … as one shape of node.


class NodeKind(StrEnum):
    """The kinds of nodes beside the record (SYSTEM.md 2)."""

    SUMMARY = "summary"
    EPISODE = "episode"
    FACT = "fact"
    ENTITY = "entity"
    TOPIC = "topic"
    SEGMENT = "segment"
    REPORT = "report"


class Origin(StrEnum):
    """Where a node comes from. What was said or imported cannot be made again and is in a dump; what is derived can."""

    SAID = "said"  # by a person: stored as such, or corrected by hand
    IMPORTED = "imported"
    DERIVED = "derived"


@dataclass(frozen=True, slots=True)
class Node:
    """A node beside the record.

    `key` is what its kind is looked up by (of a fact its entity, of an entity its name, of a summary its level).
    `state` is "live", or what took it out of the living ("stale", "superseded", "merged"). `made_by` names prompt,
    version and model of what is derived. `text` are its words; erasing removes text, key and body.
    """

    id: NodeId
    kind: NodeKind
    key: str = ""
    text: str = ""
    state: str = "live"
    conversation_id: NodeId | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    score: float = 0.0
    origin: Origin = Origin.DERIVED
    made_by: str = ""
    body: Metadata = NOTHING
    erased: bool = False
