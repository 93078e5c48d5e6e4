"""Lines for the width there is: what stands beside or below what, and matches marked in lines that fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recollect.faces.cli.terminal.output import Output
from recollect.faces.cli.terminal.wrapping import Marks, cell_len, within, wrapped


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
