"""Questions and answers: ask, research, chat, contexts. The answers are the documents of the command line."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field, StrictBool

from recollect.faces.rest.schemas.base import ID, Asked, Record, Tokens, shown


class Filters(Asked):
    """What an answer may rest on."""

    source: list[str] = Field([], examples=[["claude"]])
    role: list[str] = Field([], examples=[["user"]])
    conversation: str | None = Field(None, description="An id or a title.")
    since: str | None = Field(None, description="2025-03, 2025-03-14, last spring …", examples=["2025-03"])
    until: str | None = Field(None, description="Includes the day, month or year that it names.")
    before: str | None = Field(None, description="Does not.")
    mode: Literal["auto", "instant", "quality"] = "auto"


class Question(Filters):
    """A question to everything that was said."""

    model_config = shown(question="What did I decide about the bike?", since="2025-03")

    question: str = Field(examples=["What did I decide about the bike?"])
    intent: str | None = Field(None, description="RETRIEVAL, QA, DECISION, CODE_LOOKUP or SYNTHESIS; else it is read.")


class ResearchQuestion(Filters):
    """A question that takes several searches, with what it may cost."""

    model_config = shown(question="How did my plans for the kitchen change?")

    question: str = Field("", examples=["How did my plans for the kitchen change?"])
    resume: bool | str = Field(False, description="Goes on with what was interrupted: the newest, or that of an id.")
    rounds: int | None = Field(None, ge=1, le=5, description="2 unless given, or as it was begun; so for the others.")
    calls: int | None = Field(None, ge=1, le=1000, description="6 unless given.")
    tokens: int | None = Field(None, ge=6_000, description="40,000 unless given.")
    seconds: float | None = Field(None, gt=0, le=3600, description="180 unless given.")


class CitedConversation(Record):
    """The conversation of a citation."""

    id: str
    title: str
    source: str
    created: datetime | None


class CitedMessage(Record):
    """The message of a citation."""

    id: str
    source_id: str | None
    index: int
    role: str
    timestamp: datetime | None


class Citation(Record):
    """What proves the words before its number: `quote` stands at `start` to `end` of its message or document."""

    n: int
    conversation: CitedConversation | None
    document: str | None
    cited: str
    message: CitedMessage | None
    quote: str
    start: int
    end: int


class Answer(Record):
    """An answer with numbered citations. `known` is false if the conversations do not say."""

    question: str
    intent: str
    known: bool
    likelihood: float
    answer: str
    citations: list[Citation]
    removed: int
    notes: list[str]
    model: str | None = Field(description="Null: an extract, no model was asked.")
    tokens: Tokens
    cost: float | None
    took_ms: float


class PlannedPart(Record):
    """A search of the plan as it went."""

    query: str
    heading: str
    round: int
    passages: int
    known: bool


class Step(Record):
    """What was done on the way."""

    name: str
    detail: str


class Report(Record):
    """A report in Markdown, with its sources; saved as the document `id`."""

    id: str
    question: str
    title: str
    created: datetime
    known: bool
    report: str
    plan: list[PlannedPart]
    planned_by: str
    citations: list[Citation]
    missing: list[str]
    removed: int
    notes: list[str]
    model: str | None
    tokens: Tokens
    cost: float | None
    steps: list[Step]
    took_ms: float


class SavedReport(Record):
    """A report that is kept, or research that was interrupted or is `under_way` (`finished` is null)."""

    id: str
    title: str
    question: str
    created: datetime
    finished: datetime | None
    sources: int
    model: str | None
    under_way: bool


class ChatQuestion(Asked):
    """A turn of a chat. Without a conversation a new one begins."""

    model_config = shown(text="What did I pay for the bike?", title="The bike")

    text: str = Field(examples=["And what did it cost?"])
    conversation_id: str | None = Field(None, json_schema_extra=ID)
    budget: int = Field(10_000, ge=1, description="Tokens that the model is given.")
    mode: Literal["auto", "instant", "quality"] = "auto"
    title: str = ""
    tools: StrictBool = Field(True, description="Whether the model may look further with the read-only tools.")
    save: Literal["now", "behind"] = "now"


class Reference(Record):
    """A reference that was resolved."""

    said: str
    meant: str


class ChatSource(Record):
    """What the answer was drawn from, or may be."""

    number: int
    message_id: str | None
    document_id: str | None
    conversation_id: str | None
    title: str
    role: str
    timestamp: datetime | None
    score: float
    used: bool
    snippet: str


class ToolUsed(Record):
    """A tool that the model called."""

    name: str
    arguments: str
    tokens: int
    is_error: bool


class ChatAnswer(Record):
    """A whole turn. `model` and `answer_id` are null where no model is set."""

    conversation_id: str
    question_id: str
    answer_id: str | None
    question: str
    resolved: str
    references: list[Reference]
    entities: list[str]
    drifted: bool
    answer: str
    model: str | None
    note: str
    sources: list[ChatSource]
    tools: list[ToolUsed]
    tokens: Tokens
    cost: float | None
    took_ms: float


class ToResolve(Asked):
    """A question within a conversation."""

    model_config = shown(conversation_id="01JB3Z7Q2KABCDEFGHJKMNPQRS", question="How does it scale?")

    conversation_id: str
    question: str = Field(examples=["How does it scale?"])


class Whole(Record):
    """The question made whole, or as it was."""

    question: str = Field(examples=["How does Project Titan scale?"])


class ToPrepare(Asked):
    """A text that a model is to answer."""

    model_config = shown(text="What did we decide about the API?", budget=4000)

    text: str = Field(examples=["What did we decide about the API?"])
    conversation_id: str | None = None
    budget: int | None = Field(None, description="Tokens at most; 10000 unless the server sets it otherwise.")
    known: list[str] = Field([], description="Ids of messages that the model is sent in any case.")
    tools: StrictBool = Field(True, description="Whether it can call tools, by which more is to be had.")
    config: dict[str, Any] | None = Field(None, examples=[{"index_strategy": "adaptive", "recent_window_size": 10}])


class ContextPart(Record):
    """A part of a context."""

    name: str
    tokens: int
    ids: list[str]
    text: str


class Brief(Record):
    """What matters for work in a folder. `text` is empty where nothing was said there."""

    folder: str
    name: str
    tokens: int
    budget: int
    conversations: list[str]
    parts: list[ContextPart]
    text: str


class RequestItem(Record):
    """Something that stood in a request; `used`: it may again."""

    id: str
    kind: str
    text: str
    used: bool


class RequestPart(Record):
    """A part of what a request was given."""

    name: str
    tokens: int
    items: list[RequestItem]


class Requested(Record):
    """What a request was given of the memory. `message_id` is what was asked, where that is stored."""

    at: str
    by: str
    conversation_id: str | None
    message_id: str | None
    text: str
    tokens: int
    parts: list[RequestPart]


class Context(Record):
    """What a model needs to answer, within a budget. `messages` go to it as they are."""

    tokens: int
    budget: int
    index_form: str
    relevant: int
    took_ms: float
    degraded: str | None
    parts: list[ContextPart]
    messages: list[dict[str, str]]
