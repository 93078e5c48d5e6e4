"""Where code stands in Markdown. Prose and inline markup are read as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

#: What a fence begins with: without one of these a text holds no block of code.
_TICKS, _TILDES = "```", "~~~"
_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A block of code, `text[start:end]` with its fences, `text[first:last]` without. `language` is what it says."""

    start: int
    end: int
    first: int
    last: int
    language: str

    def of(self, text: str) -> str:
        """The code, without fences."""
        return text[self.first : self.last]


def code_blocks(text: str) -> list[CodeBlock]:
    r"""The blocks of code between fences, also within lists and quotations; one that is never closed reaches as far as
    what it stands in.

    >>> [text] = ["Try:\n```py\nx = 1\n```\nDone."]
    >>> [(one.of(text), one.language) for one in code_blocks(text)]
    [('x = 1\n', 'py')]
    """
    if _TICKS not in text and _TILDES not in text:
        return []
    starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
    starts += [len(text)] * (starts[-1] < len(text))
    return list(_blocks(text, starts))


def without_code(text: str, instead: str = "\n") -> str:
    """The text with something else in the place of each block of code."""
    parts, at = list[str](), 0
    for block in code_blocks(text):
        parts += [text[at : block.start], instead]
        at = block.end
    return "".join([*parts, text[at:]])


def lines_of(text: str) -> Iterator[tuple[int, str, bool]]:
    """The lines in order: where each begins, its text, and whether it is of a block of code, fences included."""
    blocks = iter(code_blocks(text))
    block, at = next(blocks, None), 0
    for line in text.split("\n"):
        while block is not None and block.end <= at:
            block = next(blocks, None)
        yield at, line, block is not None and block.start <= at
        at += len(line) + 1


def _blocks(text: str, starts: list[int]) -> Iterator[CodeBlock]:
    for token in _reader().parse(text):
        if token.type == "fence" and token.map is not None:
            begins, ends = (min(line, len(starts) - 1) for line in token.map)
            lines = len(_LINE_END.findall(token.content.removesuffix("\n"))) + bool(token.content)
            closed = begins + 1 + lines < ends  # by a line of its own
            first, last = starts[min(begins + 1, len(starts) - 1)], starts[ends - 1] if closed else starts[ends]
            language = token.info.split()[0].lower() if token.info.strip() else ""
            yield CodeBlock(starts[begins], starts[ends], first, max(first, last), language)


@cache
def _reader() -> MarkdownIt:
    """Reads blocks alone. Code that is merely indented is read as prose, which is indented as often."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark")
    reader.core.ruler.enableOnly(["normalize", "block"])
    reader.block.ruler.enableOnly(["fence", "blockquote", "list", "paragraph"])
    return reader
