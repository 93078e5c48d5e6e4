"""What every form of the index is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.context import wording
from recollect.context.budget import PER_ENTRY, fitting, tokens_in, tokens_in_each
from recollect.context.choices import ToolNames
from recollect.context.result import ContextPart
from recollect.context.settings import IndexConfig
from recollect.context.snippets import snippets
from recollect.models.embedding import Embedder
from recollect.record import NodeId
from recollect.search.recalling import Recalled

_LINE_TOKENS, _CHARACTERS_PER_TOKEN = 12, 5  # of a line beside its snippet, and of the snippet: about the fewest


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """What an index is made of: what was found and is not shown itself, in order of rank, and the room there is."""

    text: str
    left: Sequence[Recalled]
    found: Sequence[Recalled]  # with those that are shown
    config: IndexConfig
    embedder: Embedder
    now: datetime
    room: int
    tools: ToolNames

    def may_take(self) -> int:
        """How many lines may fit at most: of more no snippet is made."""
        return self.may_take_of(1, 0)

    def may_take_of(self, lines: int, beside: int) -> int:
        """The same of what has so many lines and `beside` them so many tokens."""
        line = _LINE_TOKENS + self.config.snippet_length // _CHARACTERS_PER_TOKEN
        return self.room // (lines * line + beside) + 1

    def snippets(self, found: Sequence[Recalled]) -> list[str]:
        """A line for each."""
        config = self.config
        return snippets(found, config.snippet_strategy, config.snippet_length, self.embedder, self.text)


@dataclass(frozen=True, slots=True)
class FormBlock:
    """Lines that belong together, and the ids that stand in them: all of it is shown, or nothing."""

    lines: tuple[str, ...]
    ids: tuple[NodeId, ...] = ()


def listed(one: Recalled, snippet: str) -> str:
    """As in `- [7Q2KAB9X] 2025-03-14 "We need to implement rate limiting for…"`."""
    return " ".join(part for part in ("-", wording.code(one.id), wording.day(one.time), f'"{snippet}"') if part)


def headed(heading: str, blocks: Sequence[FormBlock]) -> list[FormBlock]:
    """The same below a heading, which stands there where any of them does."""
    return [FormBlock((heading, *blocks[0].lines), blocks[0].ids), *blocks[1:]] if blocks else []


def in_blocks(batches: Iterable[Sequence[FormBlock]], room: int) -> ContextPart | None:
    """The index of so many blocks, in order, as fit. Of the batches that they come in none is asked for behind one that
    does not fit whole.
    """
    kept: list[FormBlock] = []
    for blocks in batches:
        costs = [cost + PER_ENTRY for cost in tokens_in_each(["\n".join(block.lines) for block in blocks])]
        fits = fitting(costs, room)
        kept += blocks[:fits]
        if fits < len(blocks):
            break
        room -= sum(costs)
    if not kept:
        return None
    text = "\n".join(line for block in kept for line in block.lines)
    ids = tuple(dict.fromkeys(own for block in kept for own in block.ids))
    return ContextPart("index", text, tokens_in(text) + PER_ENTRY, ids)
