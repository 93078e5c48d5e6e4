"""Lines for the width there is: wrapping and columns, in cells of the terminal (a Chinese character takes two)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from recollect.faces.cli.terminal.output import Output

Marks = Sequence[tuple[int, int]]

_LONGEST_CUT = 20  # characters that are given up so that a text does not end within a word

_WORD = re.compile(r"\s*\S+")
_SIGNS = "/.-_:,=&?;)|"  # behind which a long word may be broken
#: Texts of characters that all take one cell: Latin, and the signs that we print.
_PLAIN = re.compile(r"[ -~\xa0-\xac\xae-\u02ff–—‘’“”„•…€→─│▸✓✗]*")


def cell_len(text: str) -> int:
    """The cells that a text takes on a terminal."""
    if _PLAIN.fullmatch(text):
        return len(text)
    from rich.cells import cell_len as measured

    return measured(text)


def _first_cells(text: str, width: int) -> str:
    """As much of the beginning as fits."""
    if _PLAIN.fullmatch(text):
        return text[:width]
    from rich.cells import chop_cells

    return chop_cells(text, width)[0]


def gap(left: str, right: str, out: Output) -> str:
    """What stands between the left and the right end of a line: blanks, or a line end where both do not fit."""
    if out.width is None:
        return "  "
    room = out.width - cell_len(left) - cell_len(right)
    return " " * room if room >= 2 else "\n   "


def joined(left: str, right: str, out: Output) -> str:
    """Two sentences in a line, or the second in a line of its own, so that no command in it is cut."""
    if out.width is None or cell_len(left) + 1 + cell_len(right) <= out.width:
        return f"{left} {right}"
    return f"{left}\n{right}"


def in_a_row(label: str, commands: Sequence[str], out: Output) -> str:
    """Commands to choose from, beside each other or, where they do not fit, below each other."""
    row = label + f"  {out.symbols.dot}  ".join(commands)
    if out.width is None or cell_len(row) <= out.width:
        return row
    return label + f"\n{' ' * len(label)}".join(commands)


def padded(text: str, width: int) -> str:
    """The text filled up to a width."""
    return text + " " * max(0, width - cell_len(text))


def shortened(text: str, width: int | None) -> str:
    """The text in at most `width` cells, ending in "…" where it was cut; whole for None."""
    if width is None or cell_len(text) <= width:
        return text
    cut = _first_cells(text, max(1, width - 1))
    if not text[len(cut)].isspace() and " " in cut[-_LONGEST_CUT:]:
        cut = cut[: cut.rindex(" ")]
    return cut.rstrip() + "…"


def wrapped(text: str, width: int | None) -> list[tuple[int, int]]:
    """Where the lines of a text without line ends begin and end, so that each fits; words too long are broken."""
    if width is None:
        return [(0, len(text))]
    spans: list[tuple[int, int]] = []
    start = end = 0
    for word in _WORD.finditer(text):
        if end and cell_len(text[start : word.end()]) > width:
            spans.append((start, end))
            start = word.end() - len(word[0].lstrip())
        end = word.end()
        while cell_len(text[start:end]) > width:
            cut = start + _break(_first_cells(text[start:end], width))
            spans.append((start, cut))
            start = cut
    return [*spans, (start, end)] if end > start or not spans else spans


def _break(piece: str) -> int:
    """Where a word too long for a line is broken: behind a sign in its later half, else at the end of the line."""
    at = max(piece.rfind(sign) for sign in _SIGNS) + 1
    return at if at > len(piece) // 2 else len(piece)


def wrapped_words(text: str, width: int | None) -> list[str]:
    """The lines of a text that fit."""
    return [text[start:end] for start, end in wrapped(text, width)]


def within(marks: Marks, start: int, end: int) -> list[tuple[int, int]]:
    """The marks inside of a piece of the text, counted from its beginning; those across its ends are cut."""
    cut = ((max(a, start) - start, min(b, end) - start) for a, b in marks)
    return [(a, b) for a, b in cut if a < b]


def marked_lines(text: str, marks: Marks, width: int | None, out: Output) -> Iterator[tuple[str, str]]:
    """A text line by line for the width there is: each plain, and with its matches marked."""
    if not out.styled:  # the brackets take room
        text, marks = out.marked(text, marks), ()
    at = 0
    for line in text.split("\n"):
        indent = 0 if width is None else min(len(line) - len(line.lstrip()), width // 2)
        for start, end in wrapped(line, None if width is None else width - indent):
            piece, blanks = line[start:end], " " * indent if start else ""
            yield blanks + piece, blanks + out.marked(piece, within(marks, at + start, at + end))
        at += len(line) + 1
