"""What REST takes: the bodies of requests; names as in `--json`."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from fastapi import HTTPException
from pydantic import BaseModel, ConfigDict, Field, StrictBool, model_validator

from recollect.derive.entities.entity import Adder
from recollect.faces.http.answers import TOO_DEEP
from recollect.record import ID_FORM, ID_LENGTH, Kind, PartKind
from recollect.runtime.arguments import without_halves

_DEEPEST = 100  # levels of what is taken

#: An id that somebody gives. One that is empty is as one that is not given.
ID: dict[str, Any] = {"pattern": f"^$|{ID_FORM}", "maxLength": ID_LENGTH}


class RequestBody(BaseModel):
    """Something that is taken: a name that is not known is an error, for it would be left out silently. In the
    description of the API it is called without "Body".

    JSON can hold half of a pair that stands for one character, which no store and no answer can: it becomes U+FFFD.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    def __init_subclass__(cls, **options: Any) -> None:
        cls.__name__ = cls.__qualname__ = cls.__name__.removesuffix("Body")
        super().__init_subclass__(**options)

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, given: Any) -> Any:
        return _cleaned(given)


def _cleaned(given: Any, depth: int = 0) -> Any:
    if isinstance(given, str):
        return without_halves(given)
    if depth > _DEEPEST:
        raise HTTPException(400, TOO_DEEP)
    if isinstance(given, dict):
        return {_cleaned(name): _cleaned(value, depth + 1) for name, value in given.items()}
    return [_cleaned(one, depth + 1) for one in given] if isinstance(given, list) else given


def shown(**example: Any) -> ConfigDict:
    """An example of what is taken, for OpenAPI."""
    return ConfigDict(json_schema_extra={"examples": [example]})


class Narrowed(RequestBody):
    """What an answer may rest on."""

    source: list[str] = Field([], examples=[["claude"]])
    role: list[str] = Field([], examples=[["user"]])
    conversation: str | None = Field(None, description="An id or a title.")
    since: str | None = Field(None, description="2025-03, 2025-03-14, last spring …", examples=["2025-03"])
    until: str | None = Field(None, description="Includes the day, month or year that it names.")
    before: str | None = Field(None, description="Does not.")
    mode: Literal["auto", "instant", "quality"] = "auto"


class QuestionBody(Narrowed):
    """A question to everything that was said."""

    model_config = shown(question="What did I decide about the bike?", since="2025-03")

    question: str = Field(examples=["What did I decide about the bike?"])
    intent: str | None = Field(None, description="RETRIEVAL, QA, DECISION, CODE_LOOKUP or SYNTHESIS; else it is read.")


class ResearchQuestion(Narrowed):
    """A question that takes several searches, with what it may cost."""

    model_config = shown(question="How did my plans for the kitchen change?")

    question: str = Field("", examples=["How did my plans for the kitchen change?"])
    resume: bool | str = Field(False, description="Goes on with what was interrupted: the newest, or that of an id.")
    rounds: int | None = Field(None, ge=1, le=5, description="2 unless given, or as it was begun; so for the others.")
    calls: int | None = Field(None, ge=1, le=1000, description="6 unless given.")
    tokens: int | None = Field(None, ge=6_000, description="40,000 unless given.")
    seconds: float | None = Field(None, gt=0, le=3600, description="180 unless given.")


class ChatQuestion(RequestBody):
    """A turn of a chat. Without a conversation a new one begins."""

    model_config = shown(text="What did I pay for the bike?", title="The bike")

    text: str = Field(examples=["And what did it cost?"])
    conversation_id: str | None = Field(None, json_schema_extra=ID)
    budget: int = Field(10_000, ge=1, description="Tokens that the model is given.")
    mode: Literal["auto", "instant", "quality"] = "auto"
    title: str = ""
    tools: StrictBool = Field(True, description="Whether the model may look further with the read-only tools.")
    save: Literal["now", "behind"] = "now"


class ToResolve(RequestBody):
    """A question within a conversation."""

    model_config = shown(conversation_id="01JB3Z7Q2KABCDEFGHJKMNPQRS", question="How does it scale?")

    conversation_id: str
    question: str = Field(examples=["How does it scale?"])


class ToPrepare(RequestBody):
    """A text that a model is to answer."""

    model_config = shown(text="What did we decide about the API?", budget=4000)

    text: str = Field(examples=["What did we decide about the API?"])
    conversation_id: str | None = None
    budget: int | None = Field(None, description="Tokens at most; 10000 unless the server sets it otherwise.")
    known: list[str] = Field([], description="Ids of messages that the model is sent in any case.")
    tools: StrictBool = Field(True, description="Whether it can call tools, by which more is to be had.")
    config: dict[str, Any] | None = Field(None, examples=[{"index_strategy": "adaptive", "recent_window_size": 10}])


class NewFact(RequestBody):
    """A fact as it is told. What is left out, rules read from `content`."""

    model_config = shown(content="Luna weighs 12 kg.", concept="weight")

    content: str = Field(examples=["Luna weighs 12 kg."])
    concept: str = Field("", description="What has one value at a time: home, job, weight …", examples=["weight"])
    entity: str = ""
    value: str = ""
    category: str = ""
    confidence: float = Field(0.9, ge=0, le=1)
    tags: list[str] = Field([])
    said_by: str = ""
    since: datetime | None = Field(None, description="When it began, if told.")
    until: datetime | None = Field(None, description="When it ended or will end, if told.")
    said_at: datetime | None = Field(None, description="When it was said; left out, now.")
    before: str = Field("", description="The value that came right after this one.")
    ended: bool = Field(False, description="It no longer holds.")


class NewRule(RequestBody):
    """What the user wants of every answer; one that the user did not say is offered until it is confirmed."""

    model_config = shown(text="Answer in metric units.")

    text: str = Field(examples=["Answer in metric units."])
    confirmed: bool = Field(True, description="The user said so.")
    said_by: str = "user"


class FactEdit(RequestBody):
    """What is right: the fact in other words, or another value."""

    model_config = shown(value="13 kg")

    content: str | None = Field(None, examples=["Luna weighs 13 kg."])
    value: str | None = Field(None, examples=["13 kg"])


class FactMerge(RequestBody):
    """The facts that say the same."""

    model_config = shown(others=["7Q2KAB"])

    others: list[str] = Field(min_length=1, max_length=100)


class NewEntity(RequestBody):
    """An entity that a program knows of. `sources` are ids of messages that it was drawn from."""

    model_config = shown(name="Sam Berg", type="person")

    name: str = Field(examples=["Sam Berg"])
    type: str = Field("concept", examples=["person"])
    sources: list[str] = Field([])
    provenance: Adder = "stored"


class NewRelationship(RequestBody):
    """A relation that a program knows of. The entities are added where they are not known."""

    model_config = shown(source="Sam Berg", relation="LIVES_IN", target="Porto")

    source: str = Field(description='A name, or "you".', examples=["Sam Berg"])
    relation: str = Field(examples=["LIVES_IN"])
    target: str = Field(examples=["Porto"])
    since: datetime | None = None
    until: datetime | None = None
    sources: list[str] = Field([], description="Ids of messages that it was drawn from.")
    provenance: Adder = "stored"


class EntityEdit(RequestBody):
    """What is right: another name, another type."""

    model_config = shown(new_name="PostgreSQL", type="technology")

    new_name: str | None = Field(None, examples=["PostgreSQL"])
    type: str | None = Field(None, examples=["technology"])


class EntityMerge(RequestBody):
    """The entity that it is another name of."""

    model_config = shown(into="Maria Lopez")

    into: str = Field(examples=["Maria Lopez"])


class NewPart(RequestBody):
    """What hangs on a message besides its words."""

    kind: PartKind
    name: str = ""
    text: str = ""
    metadata: dict[str, Any] = Field({})


class MessageWords(RequestBody):
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


class NewMessages(RequestBody):
    """Messages of one conversation, written in one transaction."""

    model_config = shown(
        messages=[{"content": "How heavy is Luna?"}, {"role": "assistant", "content": "12 kg."}], title="At the vet"
    )

    messages: list[MessageWords] = Field(min_length=1, max_length=10_000)
    conversation_id: str | None = Field(None, json_schema_extra=ID)
    title: str = ""


class NewWords(RequestBody):
    """The new wording of a message."""

    model_config = shown(content="Luna weighs 13 kg now.")

    content: str = Field(examples=["Luna weighs 13 kg now."])


class RewordingBody(NewWords):
    """The new wording of one of several messages."""

    id: str


class Rewordings(RequestBody):
    """New wordings of several messages, written in one transaction."""

    model_config = shown(messages=[{"id": "01K7ZC5VJ9Q2M4N8R6T3W0X1YZ", "content": "Luna weighs 13 kg now."}])

    messages: list[RewordingBody] = Field(min_length=1, max_length=10_000)


class NewToolCall(RequestBody):
    """A call of a tool with its result; what is no text is kept as JSON."""

    model_config = shown(name="weather", arguments={"city": "Leeds"}, result="12 °C, rain")

    name: str = Field(examples=["weather"])
    arguments: str | dict[str, Any] = Field(examples=[{"city": "Leeds"}])
    result: Any = Field(examples=["12 °C, rain"])
    timestamp: datetime | None = None
    metadata: dict[str, Any] = Field({})
    id: str | None = Field(None, json_schema_extra=ID)


class NewToolCalls(RequestBody):
    """The calls of one message, written in one transaction."""

    model_config = shown(calls=[{"name": "weather", "arguments": {"city": "Leeds"}, "result": "12 °C, rain"}])

    calls: list[NewToolCall] = Field(min_length=1, max_length=1000)


class Names(RequestBody):
    """Whole ids of messages and conversations."""

    model_config = shown(names=["01JB3D9Q0Z5X8RV6M2T7KWYN4C"])

    names: list[str] = Field(min_length=1, max_length=10_000, examples=[["01JB3D9Q0Z5X8RV6M2T7KWYN4C"]])


class ToForget(RequestBody):
    """What is to go for good: what is named, or what matches, or both."""

    model_config = shown(names=["01JB3D9Q0Z5X8RV6M2T7KWYN4C"], dry_run=True)

    names: list[str] = Field([], examples=[["01JB3D9Q0Z5X8RV6M2T7KWYN4C"]])
    sources: list[str] = Field([])
    since: str | None = None
    until: str | None = None
    before: str | None = Field(None, description='What is older: a date, or "6 months ago".')
    everything: StrictBool = Field(False, description="All of the namespace.")
    dry_run: StrictBool = Field(False, description="Only says what would go.")


class SecretsToForget(RequestBody):
    """Which secrets go for good: all, or those of some sources."""

    model_config = shown(dry_run=True)

    sources: list[str] = Field([])
    dry_run: StrictBool = Field(False, description="Only says what would go.")


class PersonToForget(RequestBody):
    """Who is to be forgotten."""

    model_config = shown(name="Mara", dry_run=True)

    name: str = Field(min_length=1, max_length=1000, examples=["Mara"])
    mentions: StrictBool = Field(False, description="Also messages of others, documents and titles that name them.")
    dry_run: StrictBool = Field(False, description="Only says what would go.")


class ToImport(RequestBody):
    """Files and folders of the machine on which the server runs."""

    model_config = shown(paths=["~/Downloads/chatgpt-export.zip"])

    paths: list[str] = Field(min_length=1, max_length=1000, examples=[["~/Downloads/chatgpt-export.zip"]])
    format: str | None = Field(None, description="Reads every file as this format, whatever it looks like.")
    again: StrictBool = Field(False, description="Also brings back what was forgotten.")


class DocumentsToImport(RequestBody):
    """Text, Markdown, HTML and PDF files, or folders of them, of the machine on which the server runs."""

    model_config = shown(paths=["~/notes"])

    paths: list[str] = Field(min_length=1, max_length=1000, examples=[["~/notes"]])
    again: StrictBool = False


class RetryBody(RequestBody):
    """The tasks that are to be tried again; none: all that failed."""

    model_config = shown(ids=[])

    ids: list[str] = Field([])


class ToConsolidate(RequestBody):
    """How much is to be derived."""

    model_config = shown(limit=100)

    limit: int | None = Field(None, ge=1, description="Tasks at most.")
    again: StrictBool = Field(False, description="Derives everything anew; what was corrected by hand stays.")


class ToWork(RequestBody):
    """Where work is to be done until nothing is left to do; nowhere named: in all namespaces."""

    model_config = shown(namespaces=["default"])

    namespaces: list[str] | None = None
    again: StrictBool = False


class ToEmbed(RequestBody):
    """How many quality vectors are to be made."""

    model_config = shown(limit=1000)

    limit: int | None = Field(None, ge=1)


class ToMaintain(RequestBody):
    """For how long, at most."""

    model_config = shown(seconds=1.0)

    seconds: float | None = Field(None, gt=0, le=3600)


class ToBackUp(RequestBody):
    """Where the copy of the whole store is to be, on the machine of the server."""

    model_config = shown(path="~/recollect-backup.db")

    path: str = Field(min_length=1, max_length=1_000, pattern=r"^[^\x00]*$", examples=["~/recollect-backup.db"])


class ToolArguments(RequestBody):
    """What a model calls a tool with."""

    model_config = shown(arguments={"query": "Luna"})

    arguments: dict[str, object] | str = Field({}, examples=[{"query": "Luna"}])
    max_tokens: int = Field(4_500, ge=400)
    read_only: StrictBool = False
