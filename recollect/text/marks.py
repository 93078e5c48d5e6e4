"""The mark around text that Recollect itself hands out, and its removal: the memory must not feed on its own recall."""

from __future__ import annotations

import re

#: What an opening mark begins with; attributes and ">" follow: `<recollect-context namespace="acme">`.
OPEN = "<recollect-context"
CLOSE = "</recollect-context>"

_MARK = re.compile(rf"{re.escape(OPEN)}(?:\s[^<>]*)?>|{re.escape(CLOSE)}")
_UNFIT = re.compile(r'[<>"\s]')  # for the value of an attribute
_MARGIN = 200  # characters within which a mark's line must show its edge
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")


def marked(text: str, **attributes: str) -> str:
    r"""The text as something that Recollect hands out: between marks that `cut_recall` finds. Marks that stand in the
    text itself are written so that they are none.

    >>> marked("Ana has the key.", tool="get_message_by_id")
    '<recollect-context tool="get_message_by_id">\nAna has the key.\n</recollect-context>'
    """
    inner = defused(text)
    named = "".join(f' {name}="{_UNFIT.sub(" ", value)}"' for name, value in attributes.items())
    return f"{OPEN}{named}>\n{inner}\n{CLOSE}"


def defused(text: str) -> str:
    """The text with its marks written so that they are none; without any, the very same."""
    return text.replace(OPEN, f"&lt;{OPEN[1:]}").replace(CLOSE, f"&lt;{CLOSE[1:]}")


def cut_recall(text: str) -> str:
    """The text without the blocks that carry Recollect's mark; the very same text where there are none.

    A block that is never closed ends with its paragraph, and counts only where its mark starts a line: elsewhere
    somebody is writing about the mark. Blocks may lie within each other.
    """
    if OPEN not in text:
        return text
    kept: list[str] = []
    after = 0
    for start, end in _blocks(text):
        if start < after:
            continue
        before = text[after:start]
        after = end
        if _starts_line(text, start) or _ends_line(text, end):
            before = before.rstrip()
            after = _past_white(text, end)
            kept += [before, "\n\n"] if before or kept else []
        else:
            kept.append(before)
    if not after:
        return text
    rest = text[after:]
    return ("".join(kept) + rest) if rest else "".join(kept).rstrip("\n")


def _blocks(text: str) -> list[tuple[int, int]]:
    """Start and end of each block, by their starts: what lies within another follows it."""
    blocks: list[tuple[int, int]] = []
    opened: list[re.Match[str]] = []
    for mark in _MARK.finditer(text):
        if mark.group() != CLOSE:
            opened.append(mark)
        elif opened:
            blocks.append((opened.pop().start(), mark.end()))
    return sorted(blocks + _unclosed(text, opened))


def _unclosed(text: str, opened: list[re.Match[str]]) -> list[tuple[int, int]]:
    """From each mark at the start of a line to the end of its paragraph."""
    blocks: list[tuple[int, int]] = []
    end = 0
    for mark in opened:
        if mark.start() >= end and _starts_line(text, mark.start()):
            blank = _BLANK_LINE.search(text, mark.end())
            end = blank.start() if blank else len(text)
            blocks.append((mark.start(), end))
    return blocks


def _starts_line(text: str, position: int) -> bool:
    return not text[max(0, position - _MARGIN) : position].rpartition("\n")[2].strip()


def _ends_line(text: str, position: int) -> bool:
    return not text[position : position + _MARGIN].partition("\n")[0].strip()


def _past_white(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position
