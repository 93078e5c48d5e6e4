"""Texts as the tools hand them out: in parts of so many tokens, with the mark of the memory around them."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.answer.tools.output import count, day_of
from recollect.record import Message
from recollect.text.clean import marked
from recollect.text.sentences import first_span

#: Tokens of a part. Clients warn of answers above 10,000, and cut them at 25,000.
PART = 8_000

_SHORT = 8  # characters at the end of an id: whole ones would cost more than short messages do
_BEGIN = 100  # characters of a title that is made of a text


def recalled(text: str, tool: str, namespace: str) -> str:
    """A text between the marks of the memory: what carries them is never stored again."""
    return marked(text, tool=tool, namespace=namespace)


def part_of(text: str, start: int, most: int = PART) -> tuple[str, int | None]:
    """As much of a text from a character on as there is room for, and where the rest begins; None: nothing is left."""
    if start >= len(text):
        return "", None
    span = first_span(text, start, most, count)
    return text[start : span.end], None if span.end >= len(text) else span.end


def headed(message: Message) -> str:
    """A message as it stands in a transcript: who, when, the end of its id, which tools take too, and its words."""
    who = message.role.value + (f" {message.speaker}" if message.speaker else "")
    told = ", ".join(filter(None, (who, day_of(message.timestamp), message.id[-_SHORT:])))
    parts = [f"[{part.kind.value}] {part.name}".strip() for part in message.parts]
    return "\n".join([f"## {told}", "", *filter(None, (message.content, *parts))])


def transcript(messages: Sequence[Message]) -> str:
    """Messages one after another."""
    return "\n\n".join(map(headed, messages))


def title_of(title: str, text: str = "") -> str:
    """A conversation's title; without one, how the text begins."""
    words = " ".join((title or text)[: 4 * _BEGIN].split())
    return (words if len(words) <= _BEGIN else words[: _BEGIN - 1].rstrip() + "…") or "(no title)"
