"""A JSON file as the conversations in it, whether they stand in an array, under a key, one a line or alone.

`glimpse` judges by the file's first bytes, also where they end in the middle of the first conversation; `items` then
reads the whole in bounded memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from recollect.errors import ImportProblem
from recollect.importers.base import Entry, Problems
from recollect.importers.json_stream import document, elements, lines

WRAPPER = "conversations"
OWN_DUMP = "recollect_dump"  # the first line of what Recollect itself exports: its own importer's, never ours

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]|"', re.DOTALL)
_CLOSER = {"[": "]", "{": "}"}
_DEEPEST = 200  # levels; no chat format comes near


class Layout(Enum):
    """How the conversations lie in the file."""

    ARRAY = "array"
    WRAPPED = "wrapped"  # {"conversations": [...]}
    LINES = "lines"  # one a line, or one in all on one line
    ALONE = "alone"  # one, over several lines


@dataclass(frozen=True, slots=True)
class Head:
    """The layout of a file and the first values in it; the last may be cut short."""

    layout: Layout
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """One value of the file, and its place for people."""

    place: str
    value: Any


def glimpse(entry: Entry, fits: Callable[[Any], bool]) -> Head | None:
    """What the first 64 KB show, or None where they are not JSON or hold nothing that `fits`.

    Never raises: a file that cannot be opened is none of ours.
    """
    try:
        text = entry.peek().decode("utf-8", "replace").lstrip("\ufeff\0 \t\r\n")
    except (ImportProblem, OSError, EOFError, ValueError):
        return None
    head = _head(text, fits)
    if head is None or any(isinstance(value, dict) and OWN_DUMP in value for value in head.values):
        return None
    return head if any(fits(value) for value in head.values) else None


def items(entry: Entry, head: Head, problems: Problems) -> Iterator[Item]:
    """The values of a file one by one; what cannot be read goes into `problems` with its place."""
    try:
        with entry.open() as stream:
            if head.layout is Layout.ALONE:
                yield Item(entry.place, document(stream))
            elif head.layout is Layout.LINES:
                for line in lines(stream):
                    if line.error:
                        problems.lost(f"{entry.place} line {line.number}", str(line.error))
                    else:
                        yield Item(f"{entry.place} line {line.number}", line.value)
            else:
                for element in elements(stream, keys=(WRAPPER,)):
                    if element.error:
                        problems.lost(f"{entry.place} #{element.index}", str(element.error))
                    else:
                        yield Item(f"{entry.place} #{element.index}", element.value)
    except ImportProblem as problem:
        problems.lost(entry.place, str(problem))


def _head(text: str, fits: Callable[[Any], bool]) -> Head | None:
    if text.startswith("["):
        value = _mended(text)
        return Head(Layout.ARRAY, tuple(value)) if isinstance(value, list) else None
    if not text.startswith("{"):
        return None
    rows = text.split("\n")  # not splitlines: JSON strings may hold other line ends
    whole_rows = [value for row in rows if row.startswith("{") and isinstance(value := _parsed(row), dict)]
    if whole_rows:
        return _wrapped(whole_rows[0], fits) or Head(Layout.LINES, tuple(whole_rows))
    value = _mended(text)
    if not isinstance(value, dict):
        return None
    return _wrapped(value, fits) or Head(Layout.ALONE if len(rows) > 1 else Layout.LINES, (value,))


def _wrapped(value: dict[str, Any], fits: Callable[[Any], bool]) -> Head | None:
    inner = value.get(WRAPPER)
    return Head(Layout.WRAPPED, tuple(inner)) if isinstance(inner, list) and not fits(value) else None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _mended(text: str) -> Any:
    """The value of a JSON text that may be cut anywhere, with all that stands before the cut; None if it is no JSON.

    First the open string and brackets are closed; where that gives no JSON (cut in a key, a number, a literal), the
    text is taken up to the last comma or bracket.
    """
    stack, safe, safe_stack, in_string = "", 0, "", False
    for token in _TOKEN.finditer(text):
        mark = token.group()
        in_string = mark == '"'
        if in_string:
            break
        if mark == ",":
            safe, safe_stack = token.start(), stack
        elif mark in _CLOSER:
            stack = _CLOSER[mark] + stack
            if len(stack) > _DEEPEST:
                return None
            safe, safe_stack = token.end(), stack
        elif mark in "]}":
            stack = stack[1:]
            safe, safe_stack = token.end(), stack
        if not stack:
            break
    whole = re.sub(r"\\(?:u[0-9a-fA-F]{0,3})?$", "", text) + '"' if in_string else text
    value = _parsed(whole + stack)
    return _parsed(text[:safe] + safe_stack) if value is None else value
