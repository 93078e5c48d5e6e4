"""What is written, changed and removed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import Field, StrictBool, field_serializer, model_validator

from recollect.faces.rest.schemas.base import ID, Asked, Record, shown
from recollect.record import Kind, PartKind


class NewPart(Asked):
    """What hangs on a message besides its words."""

    kind: PartKind
    name: str = ""
    text: str = ""
    metadata: dict[str, Any] = Field({})


class MessageWords(Asked):
    """A message that is to be remembered."""

    content: str | dict[str, Any] | list[str | dict[str, Any]] = Field(
        description="A text, or content parts as OpenAI and Anthropic write them.",
        examples=["Luna weighs 12 kg now.", [{"type": "text", "text": "Luna weighs 12 kg now."}]],
    )
    role: Literal["user", "assistant", "system", "tool", "developer"] = Field(
        "user", description="A developer is the system."
    )
    parent_id: str | None = Field(None, description="Below this message instead of at the end: a branch.")
    speaker: str | None = Field(None, examples=["Maria"])
    timestamp: datetime | None = Field(None, description="Now, unless it is given; in UTC unless it says otherwise.")
    kind: Kind = Kind.SAID
    model: str | None = None
    parts: list[NewPart] = Field([])
    metadata: dict[str, Any] = Field({})
    id: str | None = Field(None, description="Made here, unless it is given.", json_schema_extra=ID)


class NewMessage(MessageWords):
    """A message that is to be remembered, with where it belongs."""

    model_config = shown(content="Luna weighs 12 kg now.", title="At the vet")

    conversation_id: str | None = Field(
        None, description="Without one, a new conversation begins.", json_schema_extra=ID
    )
    title: str = Field("", description="The title of a new conversation.")


class NewMessages(Asked):
    """Messages of one conversation, written in one transaction."""

    model_config = shown(
        messages=[{"content": "How heavy is Luna?"}, {"role": "assistant", "content": "12 kg."}], title="At the vet"
    )

    messages: list[MessageWords] = Field(min_length=1, max_length=10_000)
    conversation_id: str | None = Field(None, json_schema_extra=ID)
    title: str = ""


class NewWords(Asked):
    """The new wording of a message."""

    model_config = shown(content="Luna weighs 13 kg now.")

    content: str = Field(examples=["Luna weighs 13 kg now."])


class Rewording(NewWords):
    """The new wording of one of several messages."""

    id: str


class Rewordings(Asked):
    """New wordings of several messages, written in one transaction."""

    model_config = shown(messages=[{"id": "01K7ZC5VJ9Q2M4N8R6T3W0X1YZ", "content": "Luna weighs 13 kg now."}])

    messages: list[Rewording] = Field(min_length=1, max_length=10_000)


class NewToolCall(Asked):
    """A call of a tool with its result; what is no text is kept as JSON."""

    model_config = shown(name="weather", arguments={"city": "Leeds"}, result="12 °C, rain")

    name: str = Field(examples=["weather"])
    arguments: str | dict[str, Any] = Field(examples=[{"city": "Leeds"}])
    result: Any = Field(examples=["12 °C, rain"])
    timestamp: datetime | None = None
    metadata: dict[str, Any] = Field({})
    id: str | None = Field(None, json_schema_extra=ID)


class NewToolCalls(Asked):
    """The calls of one message, written in one transaction."""

    model_config = shown(calls=[{"name": "weather", "arguments": {"city": "Leeds"}, "result": "12 °C, rain"}])

    calls: list[NewToolCall] = Field(min_length=1, max_length=1000)


class Names(Asked):
    """Whole ids of messages and conversations."""

    model_config = shown(names=["01JB3D9Q0Z5X8RV6M2T7KWYN4C"])

    names: list[str] = Field(min_length=1, max_length=10_000, examples=[["01JB3D9Q0Z5X8RV6M2T7KWYN4C"]])


class Counted(Record):
    """How many messages."""

    messages: int


class ToForget(Asked):
    """What is to go for good: what is named, or what matches, or both."""

    model_config = shown(names=["01JB3D9Q0Z5X8RV6M2T7KWYN4C"], dry_run=True)

    names: list[str] = Field([], examples=[["01JB3D9Q0Z5X8RV6M2T7KWYN4C"]])
    sources: list[str] = Field([])
    since: str | None = None
    until: str | None = None
    before: str | None = Field(None, description='What is older: a date, or "6 months ago".')
    everything: StrictBool = Field(False, description="All of the namespace.")
    dry_run: StrictBool = Field(False, description="Only says what would go.")


class Forgotten(Record):
    """What goes. `conversations` go whole; `touched` counts all that lose anything, `titles` names twenty of them."""

    removed: bool = Field(description="False for a dry run, and where nothing matches.")
    conversations: int
    messages: int
    documents: int
    nodes: int = Field(description="Facts, summaries and other notes that were derived from it.")
    touched: int
    titles: list[str]
    derived: dict[str, int] = Field(description="What was made of it and goes with it or is made anew, by kind.")


class StoredSecret(Record):
    """A secret that is stored, told without its words."""

    kind: str = Field(examples=["AWS access key"])
    source: str
    where: str = Field(description="title, message, tool_call, turn, document, fact, summary …")
    id: str = Field(description="Of what holds it; of a tool call or a turn that of its message.")
    conversation_id: str | None
    title: str
    timestamp: datetime | None
    count: int


class Secrets(Record):
    """The secrets that are stored."""

    secrets: list[StoredSecret]


class SecretsToForget(Asked):
    """Which secrets go for good: all, or those of some sources."""

    model_config = shown(dry_run=True)

    sources: list[str] = Field([])
    dry_run: StrictBool = Field(False, description="Only says what would go.")


class TakenOut(Record):
    """What goes: so many different secrets, from so many messages and other records."""

    removed: bool = Field(description="False for a dry run, and where there is none.")
    secrets: int
    kinds: dict[str, int] = Field(examples=[{"AWS access key": 1}])
    messages: int
    others: int


class PersonToForget(Asked):
    """Who is to be forgotten."""

    model_config = shown(name="Mara", dry_run=True)

    name: str = Field(min_length=1, max_length=1000, examples=["Mara"])
    mentions: StrictBool = Field(False, description="Also messages of others, documents and titles that name them.")
    dry_run: StrictBool = Field(False, description="Only says what would go.")


class Person(Record):
    """What there is of a person, in three groups: what they said, what others say of them, what was derived."""

    removed: bool = Field(description="False for a dry run.")
    names: list[str] = Field(description="Their usual name, then others that are taken for theirs.")
    said: list[str] = Field(description="The ids of their messages.")
    mentions: list[str] = Field(description="The ids of messages of others that name them.")
    documents: list[str] = Field(description="The ids of documents that name them.")
    titles: list[str] = Field(description="Titles of conversations that name them.")
    facts: list[str] = Field(description="The ids of facts that name them.")
    derived: dict[str, int] = Field(description="What was made of their messages, by kind.")


class DeletedRow(Record):
    """A conversation of which something was deleted softly."""

    conversation_id: str
    title: str
    whole: bool = Field(description="Whether nothing of it is left to be seen.")
    messages: list[str] = Field(description="The ids of those messages, in order.")

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, row: Any) -> Any:
        return {
            "conversation_id": row.conversation.id,
            "title": row.conversation.title,
            "whole": row.whole,
            "messages": [message.id for message in row.messages],
        }


class ToImport(Asked):
    """Files and folders of the machine on which the server runs."""

    model_config = shown(paths=["~/Downloads/chatgpt-export.zip"])

    paths: list[str] = Field(min_length=1, max_length=1000, examples=[["~/Downloads/chatgpt-export.zip"]])
    format: str | None = Field(None, description="Reads every file as this format, whatever it looks like.")
    again: StrictBool = Field(False, description="Also brings back what was forgotten.")


class DocumentsToImport(Asked):
    """Text, Markdown, HTML and PDF files, or folders of them, of the machine on which the server runs."""

    model_config = shown(paths=["~/notes"])

    paths: list[str] = Field(min_length=1, max_length=1000, examples=[["~/notes"]])
    again: StrictBool = False


class ImportProblem(Record):
    """What could not be read, or (`lost` is false) only in part."""

    place: str
    reason: str
    lost: bool


class ImportSource(Record):
    """What was found in one archive, folder or file."""

    label: str = Field(examples=["ChatGPT export"])
    path: str = Field(validation_alias="container")
    files: int


class Written(Record):
    """What came of conversations or documents."""

    new: int
    changed: int
    same: int


class Stored(Record):
    """What is in, counted by reading it back."""

    conversations: int
    messages: int
    active: int
    tool_calls: int
    attachments: int
    kinds: Mapping[str, int] = Field(validation_alias="by_kind")
    sources: Mapping[str, int] = Field(validation_alias="by_source")

    @field_serializer("kinds", "sources")
    def _plain(self, counts: Mapping[str, int]) -> dict[str, int]:
        return dict(counts)


class ImportReport(Record):
    """What an import did."""

    sources: list[ImportSource]
    stored: Stored
    written: Written
    documents: int
    forgotten: int = Field(description="Conversations that were left out because you forgot them.")
    apart: int = Field(description="Conversations that came with the id of another, and are kept as their own.")
    problems: list[ImportProblem]
    notes: dict[str, int]


class DocumentReport(Record):
    """What an import of documents did."""

    stored: int
    new: int
    changed: int
    unchanged: int
    forgotten: int
    removed: list[str] = Field(description="Documents that are files no longer.")
    problems: list[ImportProblem]
    notes: dict[str, int]
