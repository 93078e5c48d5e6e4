"""What a wire form is: how a provider writes down what was said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from recollect.gateway.talk import Dialogue, HeardAnswer

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Links:
    """Who says an item of a request, and what it hangs together with: the calls of tools that it opens, by their ids,
    and those that it closes with a result.
    """

    role: Literal["system", "user", "assistant", "result"]
    opens: tuple[str, ...] = ()
    closes: tuple[str, ...] = ()


class Wire(Protocol):
    """A wire form. What it does not know it passes over, and leaves as it is."""

    vendor: str  # openai, anthropic
    path: str  # what the address of its requests ends in
    items: str  # the field that holds what was said

    def read(self, body: Body) -> Dialogue:
        """What stands in a request."""
        ...

    def links(self, item: Body) -> Links:
        """What an item of a request hangs together with."""
        ...

    def with_blocks(self, body: Body, blocks: Mapping[int, str]) -> dict[str, Any]:
        """The request with a text before the words of some of its messages, by their places."""
        ...

    def hear(self, event: Body, heard: HeardAnswer) -> None:
        """Takes in an event of an answer that streams."""
        ...

    def whole(self, answer: Body, heard: HeardAnswer) -> None:
        """Takes in an answer that comes in one piece."""
        ...


def before_words(content: object, block: str, kind: str) -> object:
    """A content with a text before its words, behind the results of tools: those must come first."""
    if isinstance(content, str):
        return f"{block}\n\n{content}"
    parts = list(content) if isinstance(content, list) else []
    first = next((n for n, part in enumerate(parts) if _has_words(part, kind)), len(parts))
    return [*parts[:first], {"type": kind, "text": block}, *parts[first:]]


def _has_words(part: object, kind: str) -> bool:
    return isinstance(part, str) or (isinstance(part, Mapping) and part.get("type") == kind)
