"""Text that every store accepts: valid Unicode without NUL, titles on one line, metadata of plain JSON values."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from recollect.record import Metadata
from recollect.runtime.arguments import without_halves

TITLE_LENGTH = 300
_BEGINNING = 60  # characters of a title that is how a text begins

_DEEPEST = 64
_LARGEST = 2**63
_NUL = re.compile(r"(?<=\w)\0+(?=\w)")


def clean_text(text: str) -> str:
    """The text with U+FFFD for half a surrogate pair, and without NUL, which becomes a blank between two words: JSON
    carries both, UTF-8 and SQL do not.
    """
    return _NUL.sub(" ", without_halves(text)).replace("\0", "") if "\0" in text else without_halves(text)


def clean_title(title: str) -> str:
    """The title on one line, blanks collapsed, at most 300 characters (then ending in "…")."""
    line = " ".join(clean_text(title).split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"


def title_from(words: str) -> str:
    """The title of a conversation that has none: how it begins, up to the last blank within 60 characters."""
    line = " ".join(clean_text(words).split())
    if len(line) <= _BEGINNING:
        return line
    blank = line.rfind(" ", 0, _BEGINNING)
    return line[: blank if blank > 0 else _BEGINNING] + " …"  # Chinese has no blanks, nor has an address


def header_text(value: str) -> str:
    """The value of a header: clients send UTF-8, which servers read as Latin-1."""
    try:
        return value if value.isascii() else value.encode("latin-1").decode()
    except UnicodeError:
        return value


def as_text(value: object) -> str:
    """A text as it is, nothing as an empty one, anything else as JSON.

    >>> as_text({"where": "Cascais"}), as_text("as it is"), as_text(None)
    ('{"where": "Cascais"}', 'as it is', '')
    """
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return json.dumps(_plain(value, 0), ensure_ascii=False)


def clean_metadata(metadata: Metadata) -> dict[str, Any]:
    """The same metadata of JSON values only: cleaned texts, integers of 64 bits, finite numbers, lists and objects.

    What is larger, infinite or foreign becomes its text; what lies deeper than 64 levels becomes "…".
    """
    return {clean_text(str(key)): _plain(value, 1) for key, value in metadata.items()}


def _plain(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, int):
        return value if -_LARGEST <= value < _LARGEST else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth >= _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        return {clean_text(str(key)): _plain(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner, depth + 1) for inner in value]
    return clean_text(str(value))


# What models of one's own think before they answer, in the words of the answer itself.

_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)


def without_thought(text: str) -> str:
    """The text without the thought that it begins with; without one, the very same.

    >>> without_thought("<think>Rain in Porto, hm.</think>It rains.")
    'It rains.'
    """
    return _THOUGHT.sub("", text, count=1)


# The mark around text that Recollect itself hands out, and its removal: the memory must not feed on its own recall.

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
