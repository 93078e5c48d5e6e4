"""What the tools answer, as data: the same entries as in the text, with the same words of each, so that the one is as
large as the other. Members that are None say that there is nothing to tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recollect.record import iso
from recollect.record.nodes import MessageChunk

if TYPE_CHECKING:
    from recollect.answer.tools.finding import FoundText
    from recollect.derive.facts.fact import Fact
    from recollect.record import Message, Part, ToolCall

#: Characters of a title that stands in a list.
MOST_OF_TITLE = 60
_MOST_OF_NAME = 200

#: Puts the mark of the memory around words that it hands out.
Mark = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """What is attached to a message."""

    kind: str
    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMessage:
    """A message or a chunk of one. `text` is what of it had room: where it goes on after that, `next_offset` says from
    which character on `get_message_by_id` gives more. `tokens` are those of the whole.
    """

    id: str
    conversation_id: str
    role: str
    kind: str
    tokens: int
    text: str
    speaker: str | None = None
    date: str | None = None
    active: bool = True
    edited: bool = False
    chunk: int | None = None
    chunk_of: str | None = None
    next_offset: int | None = None
    attachments: list[Attachment] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMessages:
    """Messages. `next_offset` and `next_chunk` go on where this answer ends; `left` are the ids of some that had no
    room, `missing` some that are not there.
    """

    messages: list[ShownMessage]
    next_offset: int | None = None
    next_chunk: int | None = None
    left: list[str] | None = None
    missing: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownResult:
    """A result of a search: an excerpt, and the id that opens it. `type` is message, tool_call or document.
    `chunk_ids` are the chunks of a long message that match, where several do.
    """

    id: str
    type: str
    role: str
    tokens: int
    text: str
    message_id: str
    conversation_id: str
    title: str | None = None
    speaker: str | None = None
    date: str | None = None
    active: bool = True
    chunk: int | None = None
    chunk_of: str | None = None
    chunk_ids: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownResults:
    """The index of what is found; `next_offset` shows further results."""

    results: list[ShownResult]
    next_offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCall:
    """A call of a tool. Where the result goes on after what is shown, `next_offset` says from which character on
    `get_tool_call` gives more. `tokens` are those of the whole result.
    """

    id: str
    name: str
    message_id: str
    tokens: int
    arguments: str
    result: str
    date: str | None = None
    result_message_id: str | None = None
    next_offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCalls:
    """The tool calls of a message, each with the beginning of its result; `next_offset` shows further ones."""

    calls: list[ShownCall]
    next_offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFact:
    """A fact: `since` and `until` are when it held, where somebody told that, `said` when it was said last; `messages`
    prove it, `replaced` is what it took the place of. `structured` is its value in figures: kind, numbers, unit, per,
    currency, of, date, as far as it has them.
    """

    id: str
    text: str
    entity: str
    attribute: str
    confidence: float
    pinned: bool
    messages: list[str]
    since: str | None = None
    until: str | None = None
    said: str | None = None
    replaced: str | None = None
    structured: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFacts:
    """Facts; `next_offset` shows further ones, `left` is how many more were found and had no room."""

    facts: list[ShownFact]
    next_offset: int | None = None
    left: int | None = None


def shown_message(
    message: Message,
    text: str,
    mark: Mark,
    *,
    next_offset: int | None = None,
    attachments: list[Attachment] | None = None,
) -> ShownMessage:
    """A message with as much of its text as is shown."""
    piece = message if isinstance(message, MessageChunk) else None
    return ShownMessage(
        id=message.id,
        conversation_id=message.conversation_id,
        role=message.role.value,
        kind=message.kind.value,
        tokens=message.tokens,
        text=mark(text),
        speaker=_name(message.speaker),
        date=iso(message.timestamp),
        active=message.active,
        edited=message.edited,
        chunk=piece.chunk_index if piece else None,
        chunk_of=piece.chunk_parent_id if piece else None,
        next_offset=next_offset,
        attachments=attachments or None,
    )


def shown_attachment(part: Part, text: str, mark: Mark) -> Attachment:
    """An attachment with as much of its text as is shown."""
    return Attachment(kind=part.kind.value, name=_name(part.name) or "", text=mark(text))


def shown_result(found: FoundText, mark: Mark) -> ShownResult:
    """A result of a search."""
    return ShownResult(
        id=found.id,
        type=found.type,
        role=found.role,
        tokens=found.tokens,
        text=mark(found.snippet),
        message_id=found.message_id,
        conversation_id=found.conversation_id,
        title=found.title[:MOST_OF_TITLE] or None,
        speaker=_name(found.speaker),
        date=iso(found.timestamp),
        active=found.active,
        chunk=found.chunk_index,
        chunk_of=found.chunk_parent_id,
        chunk_ids=list(found.chunk_ids) if len(found.chunk_ids) > 1 else None,
    )


def shown_call(
    call: ToolCall, tokens: int, arguments: str, result: str, mark: Mark, *, next_offset: int | None = None
) -> ShownCall:
    """A tool call with as much of its arguments and its result as is shown."""
    return ShownCall(
        id=call.id,
        name=_name(call.name) or "",
        message_id=call.message_id,
        tokens=tokens,
        arguments=mark(arguments) if arguments else "",
        result=mark(result) if result else "",
        date=iso(call.timestamp),
        result_message_id=call.result_message_id,
        next_offset=next_offset,
    )


def shown_fact(fact: Fact, text: str, proofs: list[str], mark: Mark, *, replaced: str | None = None) -> ShownFact:
    """A fact with as much of its words and proofs as is shown."""
    told = fact.structured
    return ShownFact(
        id=fact.id,
        text=mark(text),
        entity=_name(fact.entity) or "",
        attribute=_name(fact.attribute) or "",
        confidence=fact.confidence,
        pinned=fact.pinned,
        messages=proofs,
        since=iso(fact.told_since),
        until=iso(fact.told_until),
        said=iso(fact.last_said),
        replaced=replaced,
        structured={name: it for name, it in told.as_json().items() if it} if told else None,
    )


def _name(name: str | None) -> str | None:
    return name[:_MOST_OF_NAME] if name else None
