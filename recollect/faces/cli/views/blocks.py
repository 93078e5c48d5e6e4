"""Messages as they were meant: tables with their columns in line, code that is not wrapped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recollect.faces.cli.terminal.wrapping import cell_len, padded
from recollect.search.results.readable import cells, is_row, is_ruler
from recollect.text import markdown


def lines_of(text: str, width: int | None) -> Iterator[tuple[str, bool]]:
    """The lines of a message, tables aligned, each with whether it is code or a table and must not be wrapped."""
    rows: list[str] = []
    for _, line, is_code in markdown.lines_of(text):
        bare = line.strip()
        if not is_code and is_row(bare):
            rows.append(bare)
            continue
        yield from _table(rows, width)
        rows = []
        yield line, is_code
    yield from _table(rows, width)


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
