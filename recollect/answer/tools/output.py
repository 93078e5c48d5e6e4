"""Texts for a model within a number of tokens: what does not fit is named, with the call that gets it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.answer.tools.calls import ToolCalls
from recollect.models.embedding import tokenizer
from recollect.record import Kind, Message, Role, ToolCall, iso
from recollect.record.nodes import MessageChunk
from recollect.text.sentences import first_span

if TYPE_CHECKING:
    from recollect.answer.tools.base import FoundText
    from recollect.derive.facts.fact import Fact
    from recollect.record import Part


_LAST_WORDS = 150  # tokens that are kept for what is left out, and how to get it
_LEAST = 20  # tokens of a text, below which nothing of it is shown


def count(text: str) -> int:
    """How many tokens a text has: counted, not estimated, however long it is."""
    return sum(tokenizer.count_tokens(piece) for piece in tokenizer.slices(text))


@dataclass(slots=True)
class ToolOutput:
    """Where one call is answered: the calls of the memory, and the room that there is for the answer. `mark` goes
    around the words of it that a tool returns as data.
    """

    calls: ToolCalls
    room: int
    mark: Callable[[str], str] = str
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.room -= _LAST_WORDS

    def add(self, text: str) -> bool:
        """Puts a text down where there is room for it; says whether there was."""
        tokens = count(text)
        if tokens > self.room:
            return False
        self.room -= tokens
        self.lines.append(text)
        return True

    def add_entry(self, text: str, *, first: bool) -> bool:
        """As `add`, but the first entry of a list is cut where there is no room for it whole: the list goes on."""
        if self.add(text):
            return True
        if not first or self.room < _LEAST:
            return False
        span = first_span(text, 0, self.room - 2, count)
        return self.add(f"{text[: span.end]}…")

    def add_some(self, head: str, text: str, offset: int = 0) -> int | None:
        """Puts a text down from a character on, below its head, as much of it as there is room for.

        Returns the character up to which it is shown: the length of the text where nothing is left; None where there
        was no room for any.
        """
        left = self.room - count(head)
        if left < _LEAST and (text or left < 0):
            return None
        span = first_span(text, offset, left, count) if offset < len(text) else None
        end = span.end if span else len(text)
        self.room = left - (span.tokens if span else 0)
        self.lines.append(f"{head}\n{text[offset:end]}" if text else head)
        return end

    def last(self, text: str) -> None:
        """Puts the last words down: room is kept for them."""
        self.lines.append(text)

    @property
    def text(self) -> str:
        """All that was put down."""
        return "\n".join(self.lines)


def head_of(message: Message, *, conversation: bool = False) -> str:
    """What stands above a message: its id, who said it, when, and what it costs."""
    who = message.role.value + (f" {message.speaker}" if message.speaker else "")
    told = [who, day_of(message.timestamp), f"{message.tokens:,} tokens"]
    if message.kind is not Kind.SAID and not (message.kind is Kind.TOOL and message.role is Role.TOOL):
        told.append(message.kind.value)
    if isinstance(message, MessageChunk):
        told.append(f"chunk {message.chunk_index} of {message.chunk_parent_id}")
    if message.edited:
        told.append("edited")
    if not message.active:
        told.append("on another branch")
    if message.parts:
        told.append(f"with {', '.join(part.name or part.kind.value for part in message.parts)}")
    if conversation:
        told.append(f"conversation {message.conversation_id}")
    return f"[{message.id}] {', '.join(part for part in told if part)}"


def head_of_call(call: ToolCall, tokens: int) -> str:
    """What stands above a tool call."""
    told = [f"tool {call.name}", day_of(call.timestamp), f"result of {tokens:,} tokens"]
    if call.is_chunk:
        told.append("a chunk of it")
    if call.result_message_id:
        told.append(f"result message {call.result_message_id}")
    return f"[{call.id}] {', '.join(part for part in told if part)}"


def day_of(moment: datetime | None) -> str:
    """A time as it is shown; empty where it is not known."""
    return moment.strftime("%Y-%m-%d %H:%M") if moment else ""


def begin_of(text: str, characters: int = 160) -> str:
    """The first words of a text, on one line."""
    line = " ".join(text[: 4 * characters].split())
    return line if len(line) <= characters else line[: characters - 1].rstrip() + "…"


def listed(ids: Iterable[str]) -> str:
    """Ids as they stand in a call."""
    return "[" + ", ".join(f'"{i}"' for i in ids) + "]"


# What the tools answer, as data: the same entries as in the text, with the same words of each, so that the one is
# as large as the other. Members that are None say that there is nothing to tell.

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


# Messages put down on a desk: in full, as entries of a list, or one from a character on; with the call that gets
# the rest. What is put down comes back as data.

_EACH = 300  # tokens of a message that stands in a list: the rest is loaded by its id


def put_whole(desk: ToolOutput, message: Message, offset: int) -> ShownMessage:
    """A message from a character on, with what is attached to it once its text has ended."""
    length = len(message.content)
    end = desk.add_some(head_of(message, conversation=True), message.content, offset)
    attached: list[Attachment] = []
    for part in message.parts:
        if part.text and end == length:
            head = f"[{part.kind.value}] {part.name}"
            if desk.add(f"{head}\n{part.text}"):
                attached.append(shown_attachment(part, part.text, desk.mark))
                continue
            begin = begin_of(part.text)
            named = f"{head}, {count(part.text):,} tokens: its chunks by get_message_with_chunks"
            if desk.add(f"{named}, its beginning: {begin}"):
                attached.append(shown_attachment(part, begin, desk.mark))
    more = tell_rest(desk, f'get_message_by_id(id="{message.id}"', offset, end, length)
    shown = message.content[offset : offset if end is None else end]
    return shown_message(message, shown, desk.mark, next_offset=more, attachments=attached)


def tell_rest(desk: ToolOutput, call: str, offset: int, end: int | None, length: int) -> int | None:
    """Says how to get what is left of a text; returns the character at which it goes on, None at its end."""
    at = offset if end is None else end
    if offset and offset >= length:
        desk.last(f"The text ends at character {length:,}.")
    elif at < length:
        desk.last(f"Characters {offset:,} to {at:,} of {length:,}. For more: {call}, offset={at})")
        return at
    return None


def put_in_full(desk: ToolOutput, messages: Sequence[Message]) -> tuple[list[ShownMessage], list[Message]]:
    """Puts messages down whole while there is room; the first in part, if need be. Returns those, and what is left."""
    shown: list[ShownMessage] = []
    for place, message in enumerate(messages):
        head = head_of(message)
        if desk.add(f"{head}\n{message.content}"):
            shown.append(shown_message(message, message.content, desk.mark))
            continue
        if place:
            return shown, list(messages[place:])
        end = desk.add_some(head, message.content)
        more = tell_rest(desk, f'get_message_by_id(id="{message.id}"', 0, end, len(message.content))
        return [shown_message(message, message.content[: end or 0], desk.mark, next_offset=more)], list(messages[1:])
    return shown, []


def entry(desk: ToolOutput, message: Message) -> tuple[str, ShownMessage]:
    """A message in a list, as text and as data: whole where it is short, else its beginning."""
    head, text = head_of(message), message.content
    if message.tokens <= _EACH:
        return f"{head}\n{text}", shown_message(message, text, desk.mark)
    most = min(_EACH, max(desk.room - count(head) - 1, 1))
    end = first_span(text, 0, most, count).end
    return f"{head}\n{text[:end]}…", shown_message(message, text[:end], desk.mark, next_offset=end)


def put_entries(desk: ToolOutput, messages: Sequence[Message]) -> list[ShownMessage]:
    """Puts messages down as a list while there is room, one at least; returns those."""
    shown: list[ShownMessage] = []
    for message in messages:
        text, data = entry(desk, message)
        if not desk.add(text):
            if shown:
                return shown
            end = desk.add_some(head_of(message), message.content)
            return [shown_message(message, message.content[: end or 0], desk.mark, next_offset=end or 0)]
        shown.append(data)
    return shown
