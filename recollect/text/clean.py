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
