"""Markdown for a few lines on a screen: prose runs on, code and tables keep their lines."""

from __future__ import annotations

from collections.abc import Iterator

_FENCES = ("```", "~~~")
_TAB = 4


def readable(text: str) -> str:
    r"""The text with prose on one line and each line of code or row of a table on its own, without fences and rulers.

    >>> print(readable("For 1 kg:\n\n| step | water |\n|---|---|\n| mix | 680 g |\n\nThen\nwait."))
    For 1 kg:
    step | water
    mix | 680 g
    Then wait.
    """
    if "|" not in text and not any(fence in text for fence in _FENCES):
        return " ".join(text.split())
    return "\n".join(_lines(text))


def _lines(text: str) -> Iterator[str]:
    prose: list[str] = []
    fence = ""
    for line in text.splitlines():
        bare = line.strip()
        if bare[:3] in _FENCES and (not fence or bare[:3] == fence):
            yield from _run_on(prose)
            fence = "" if fence else bare[:3]
        elif fence:
            if bare:
                yield line.expandtabs(_TAB).rstrip()
        elif is_row(bare):
            yield from _run_on(prose)
            if not is_ruler(bare):
                yield " | ".join(cells(bare))
        else:
            prose += bare.split()
    yield from _run_on(prose)


def is_row(line: str) -> bool:
    """Whether a stripped line is a row of a Markdown table."""
    return len(line) > 2 and line.startswith("|") and line.endswith("|")


def is_ruler(row: str) -> bool:
    """Whether a row is the line between the head of a table and its body."""
    return not row.strip("|-: \t") and "-" in row


def cells(row: str) -> list[str]:
    """What stands in a row of a table."""
    return [" ".join(cell.split()) for cell in row.strip("|").split("|")]


def _run_on(prose: list[str]) -> Iterator[str]:
    if prose:
        yield " ".join(prose)
        prose.clear()
