"""What is remembered: conversations with their messages, tool calls, documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from pydantic import Field, field_serializer, model_validator

from recollect import record
from recollect.faces.rest.schemas.base import Page, Record


class Part(Record):
    """What hangs on a message besides its words."""

    kind: record.PartKind
    name: str
    text: str


class Version(Record):
    """An earlier wording."""

    content: str
    replaced_at: datetime


class Conversation(Record):
    """A conversation, without what is in it."""

    id: str
    source_id: str | None
    title: str
    source: str = Field(examples=["chatgpt"])
    created: datetime | None
    updated: datetime | None
    leaf_id: str | None = Field(description="The end of the path that is shown first.")
    deleted: bool


class ConversationRow(Record):
    """A conversation of a list."""

    id: str
    source_id: str | None
    title: str
    source: str
    created: datetime | None
    updated: datetime | None
    messages: int = Field(description="How many there are that are not deleted.")

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, row: Any) -> Any:
        c = row.conversation
        return {name: getattr(c, name) for name in ("id", "source_id", "title", "source", "created", "updated")} | {
            "messages": row.messages
        }


class Message(Record):
    """A message, or a piece of a long one (`is_chunk`). Of what was deleted or forgotten only the place is shown."""

    id: str
    conversation_id: str
    source_id: str | None
    index: int = Field(validation_alias="position", description="Its place in the conversation, from 0.")
    parent_id: str | None
    active: bool = Field(description="Whether it is on the path that is shown first.")
    role: record.Role
    kind: record.Kind
    speaker: str | None
    timestamp: datetime | None
    model: str | None
    tokens: int = Field(description="About how many tokens it costs in a model's context.")
    edited: bool
    deleted: bool
    erased: bool
    content: str
    parts: list[Part]
    versions: list[Version] = Field(description="Earlier wordings, the oldest first.")
    metadata: Mapping[str, Any]
    is_chunk: bool
    chunk_index: int | None = None
    chunk_parent_id: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_words(cls, message: Any) -> Any:
        if isinstance(message, record.Message) and message.deleted:
            return replace(
                message, content="", speaker=None, model=None, parts=(), versions=(), metadata=record.NOTHING
            )
        return message

    @field_serializer("metadata")
    def _plain(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        return dict(metadata)


class Cluster(Page[Message]):
    """Messages that belong together, the most typical first."""

    summary: str = Field(description="What all of them come down to, with the first of them; else empty.")


class ToolCall(Record):
    """A call of a tool, with its result."""

    id: str
    message_id: str
    conversation_id: str
    name: str
    arguments: str
    result: str
    result_message_id: str | None
    timestamp: datetime | None
    is_chunk: bool
    chunk_index: int | None = None
    chunk_parent_id: str | None = None


class Turn(Record):
    """A question with the answers to it."""

    id: str
    position: int
    query_id: str
    response_ids: list[str]
    resolved_query: str | None
    entities: list[str]


class Chunk(Record):
    """Where a piece of a long text lies: `text[start:end]` of its parent."""

    id: str
    parent_id: str
    index: int
    start: int
    end: int
    tokens: int
    part: int = Field(description="-1: the parent's own text; else the number of the part.")


class Thread(Record):
    """A conversation with everything in it."""

    conversation: Conversation
    messages: list[Message]
    tool_calls: list[ToolCall]
    turns: list[Turn]
    chunks: list[Chunk]


class Resolved(Record):
    """What a name means: a conversation, and a message of it if the name is a message's."""

    conversation: Conversation
    message: Message | None


class Fingerprint(Record):
    """What changes when something that was handed out is not so any more."""

    fingerprint: str


class DocumentRow(Record):
    """A document of a list."""

    id: str
    title: str
    source: str
    path: str | None = Field(None, description="Where the file was when it was imported.")
    created: datetime | None
    characters: int
    versions: int = Field(description="How many earlier wordings are kept.")

    @model_validator(mode="before")
    @classmethod
    def _of(cls, document: Any) -> Any:
        return document if isinstance(document, Mapping) else _document(document)


class Document(DocumentRow):
    """A document with its text."""

    content: str

    @model_validator(mode="before")
    @classmethod
    def _of(cls, document: Any) -> Any:
        return document if isinstance(document, Mapping) else {**_document(document), "content": document.content}


def _document(document: record.Document) -> dict[str, Any]:
    return {
        "id": document.id,
        "title": document.title,
        "source": document.source,
        "path": document.metadata.get("path"),
        "created": document.created,
        "characters": len(document.content),
        "versions": len(document.versions),
    }
