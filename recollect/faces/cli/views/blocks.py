"""Messages as they were meant: tables with their columns in line, code that is not wrapped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recollect.faces.cli.terminal.wrapping import cell_len, padded
from recollect.search.results.readable import cells, is_row, is_ruler

_FENCES = ("```", "~~~")


def lines_of(text: str, width: int | None) -> Iterator[tuple[str, bool]]:
    """The lines of a message, tables aligned, each with whether it is code or a table and must not be wrapped."""
    fence, rows = "", list[str]()
    for line in text.split("\n"):
        bare = line.strip()
        if not fence and is_row(bare):
            rows.append(bare)
            continue
        yield from _table(rows, width)
        rows = []
        if bare[:3] in _FENCES and (not fence or bare[:3] == fence):
            fence = "" if fence else bare[:3]
            yield line, True
        else:
            yield line, bool(fence)
    yield from _table(rows, width)


def code_blocks(text: str) -> list[str]:
    """The blocks of code of a message, without their fences."""
    blocks: list[list[str]] = []
    fence = ""
    for line in text.split("\n"):
        mark = line.strip()[:3]
        if mark in _FENCES and (not fence or mark == fence):
            fence = "" if fence else mark
            if fence:
                blocks.append([])
        elif fence:
            blocks[-1].append(line)
    return ["\n".join(block) for block in blocks if block]


def _table(rows: Sequence[str], width: int | None) -> Iterator[tuple[str, bool]]:
    """The rows with their columns in line; as they were written where that is too wide."""
    filled = [cells(row) for row in rows if not is_ruler(row)]
    columns = max(map(len, filled), default=0)
    if not columns:
        return
    widths = [max(cell_len(row[at]) if at < len(row) else 0 for row in filled) for at in range(columns)]
    if width is not None and sum(widths) + 3 * (columns - 1) > width:
        yield from ((row, False) for row in rows)
        return
    for row in rows:
        if is_ruler(row):
            yield "-+-".join("-" * cell for cell in widths), True
        else:
            row_cells = [*cells(row), *[""] * columns][:columns]
            yield " | ".join(map(padded, row_cells, widths)).rstrip(), True
