"""Texts for a model within a number of tokens: what does not fit is named, with the call that gets it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from recollect.answer.tools.calls import ToolCalls
from recollect.models.embedding import tokenizer
from recollect.record import Kind, Message, Role, ToolCall
from recollect.record.nodes import MessageChunk
from recollect.text.sentences import first_span

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
