"""What a search gives: the document of `recollect search --json`, and `next`."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from recollect.faces.rest.schemas.base import Record

Marks = list[tuple[int, int]]


class Why(Record):
    """Why something was found."""

    rank: int = Field(description="Its place among all that was found, from 0.")
    terms: dict[str, float] = Field(description="What each part of the ranker added to the score.")
    words: list[str] = Field(description="The words of the question that it holds.")
    found_in: str = Field(examples=["said"])


class Beside(Record):
    """The answer to a question that was found, or the question to an answer."""

    id: str
    source_id: str | None
    index: int
    role: str


class FoundMessage(Record):
    """A message that matched."""

    id: str
    source_id: str | None
    index: int = Field(description="Its place in the conversation, from 0.")
    role: str
    kind: str
    speaker: str | None
    timestamp: datetime | None
    tokens: int
    active: bool
    score: float = Field(description="Comparable within one search.")
    snippet: str
    marks: Marks = Field(description="Where the matches are in `snippet`: start and end, in characters.")
    why: Why
    beside: Beside | None = None
    chunk_id: str | None = Field(None, description="Of a long message: the piece that matched best.")
    chunk_ids: list[str] = Field([], description="Of a long message: all pieces that matched, best first.")
    tool_call_id: str | None = None
    copies: list[str] = Field([], description="Near-identical messages that this one stands for.")


class FoundConversation(Record):
    """The conversation of a hit."""

    id: str
    source_id: str | None
    title: str
    source: str
    created: datetime | None
    message_count: int


class Window(Record):
    """The run of messages that matched best, both ends included."""

    start: int
    end: int


class Hit(Record):
    """One result: a conversation with the messages that matched, in reading order; or one message."""

    conversation: FoundConversation
    score: float
    window: Window
    messages: list[FoundMessage]
    why: Why


class DerivedMessage(Record):
    """A message that a fact or a summary was made of."""

    id: str
    conversation_id: str
    index: int
    timestamp: datetime | None


class Derived(Record):
    """A fact or a summary that answers."""

    id: str
    kind: str = Field(examples=["fact"])
    level: str
    text: str
    score: float
    since: datetime | None
    until: datetime | None
    made_by: str
    extractive: bool = Field(description="Whether it quotes the messages.")
    messages: list[DerivedMessage]


class FoundDocument(Record):
    """A file that answers, by its best chunk."""

    id: str
    title: str
    source: str
    path: str | None
    created: datetime | None
    page: int | None
    heading: str
    line: int | None
    start: int
    end: int
    at: int
    score: float
    snippet: str
    marks: Marks
    why: Why


class Spread(Record):
    """How many messages there are, in all and by what they can be filtered by. Months are "2024-03", in UTC."""

    messages: int
    conversations: int
    sources: dict[str, int]
    roles: dict[str, int]
    kinds: dict[str, int]
    months: dict[str, int]


class Facets(Spread):
    """The messages that hold a word of the query: all of them, counted exactly."""

    related: Spread = Field(description="Results that hold none and come near in meaning, as far as a search reaches.")
    all_months: dict[str, int] = Field(description="What was said in each month, whether it matches or not.")


class Found(Record):
    """The results, best first, with how they were found."""

    query: str
    took_ms: float
    mode: str = Field(examples=["instant"])
    signals: list[str] = Field(examples=[["words", "meaning"]])
    total: int = Field(description="How many conversations or messages can be had, page by page.")
    total_exact: bool = Field(description="If not, more may come near in meaning.")
    with_words: int = Field(description="How many of `total` hold a word of the query: all that do.")
    suggestion: str | None = Field(description="A query that may have been meant, and was not searched.")
    corrected: str | None = Field(description="The query that was searched in place of one with a typo.")
    close: bool = Field(description="False if nothing in the memory is close to the question.")
    likelihood: float = Field(description="From 0 to 1: how likely the memory holds an answer.")
    facets: Facets | None = None
    notes: list[str]
    derived: list[Derived]
    documents: list[FoundDocument]
    results: list[Hit]
    next: str | None = Field(None, description="Give it as `cursor` to get what follows; null at the end.")


class FoundText(Record):
    """A text that was found, as a model's tool has it: `id` opens it, `tokens` is what that costs."""

    id: str
    snippet: str
    timestamp: datetime | None
    score: float
    type: str = Field(examples=["message"])
    role: str
    tokens: int
    message_id: str
    conversation_id: str
    title: str
    speaker: str | None
    is_chunk: bool
    chunk_index: int | None
    chunk_parent_id: str | None
    active: bool
    chunk_ids: list[str] = Field(description="All pieces of a long message that matched, best first.")
