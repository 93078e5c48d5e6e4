"""A JSON file as the conversations in it, whether they stand in an array, under a key, one a line or alone.

`glimpse` judges by the file's first bytes, also where they end in the middle of the first conversation; `items` then
reads the whole in bounded memory, and `JsonReader` makes an importer of a format of JSON values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache, partial
from typing import Any

from recollect.errors import ImportProblem
from recollect.importers.base import (
    Draft,
    DraftConversation,
    DraftDocument,
    DraftNotes,
    Entry,
    JsonFormat,
    Piece,
    Problems,
)
from recollect.importers.reading.json import NO_LIST, document, elements, lines

WRAPPER = "conversations"
OWN_DUMP = "recollect_dump"  # the first line of what Recollect itself exports: its own importer's, never ours

_HEAD, _LONG_HEAD = 1 << 16, 1 << 21  # the long one where the first conversation does not end within the short one
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{},]|"', re.DOTALL)
_OPEN = re.compile(r'"(?:[^"\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+', re.DOTALL)  # a string up to where it is cut
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


@dataclass(frozen=True, slots=True)
class _Sight:
    """The first bytes of a file as JSON: the value that they begin, or those of its lines that are whole."""

    first: Any
    rows: tuple[Any, ...]
    one_line: bool


def glimpse(entry: Entry, fits: Callable[[Any], bool]) -> Head | None:
    """What the first bytes show, or None where they are not JSON or hold nothing that `fits`.

    64 KB are looked at, and 2 MB where those are not enough. Never raises: what cannot be opened is none of ours.
    """
    for size in (_HEAD, _LONG_HEAD) if entry.size > _HEAD else (_HEAD,):
        sight = _sight(entry, size)
        if sight is None:
            return None
        head = _head(sight, fits)
        if any(isinstance(value, dict) and OWN_DUMP in value for value in head.values):
            return None
        if any(fits(value) for value in head.values):
            return head
    return None


def items(entry: Entry, fits: Callable[[Any], bool], problems: Problems) -> Iterator[Item]:
    """The values of a file one by one, whether they fit or not; what cannot be read goes into `problems`.

    `fits` only tells a list of conversations from a conversation that is a list.
    """
    head = glimpse(entry, fits)
    if head is None:
        sight = _sight(entry, _HEAD)
        head = _head(sight, fits) if sight else Head(Layout.LINES, ())
    try:
        yield from _items(entry, head.layout, problems)
    except (ImportProblem, OSError) as problem:
        problems.lost(entry.place, str(problem))


def _items(entry: Entry, layout: Layout, problems: Problems) -> Iterator[Item]:
    if layout is Layout.ALONE:
        with entry.open() as stream:
            yield Item(entry.place, document(stream))
    elif layout is Layout.LINES:
        with entry.open() as stream:
            for line in lines(stream):
                if line.error:
                    problems.lost(f"{entry.place} line {line.number}", str(line.error))
                else:
                    yield Item(f"{entry.place} line {line.number}", line.value)
    else:
        yield from list_items(entry, problems)


def list_items(entry: Entry, problems: Problems) -> Iterator[Item]:
    """The elements of a file that is a list, or an object with a list of conversations; itself where it is neither."""
    with entry.open() as stream:
        for element in elements(stream, keys=(WRAPPER,)):
            if element.error == NO_LIST:
                break
            if element.error:
                problems.lost(f"{entry.place} #{element.index}", str(element.error))
            else:
                yield Item(f"{entry.place} #{element.index}", element.value)
        else:
            return
    with entry.open() as stream:
        yield Item(entry.place, document(stream))


@lru_cache(maxsize=2)  # all formats look at a file, one after another
def _sight(entry: Entry, size: int) -> _Sight | None:
    try:
        text = entry.peek(size).decode("utf-8", "replace").lstrip("\ufeff\0 \t\r\n")
    except (ImportProblem, OSError, EOFError, ValueError):
        return None
    if not text.startswith(("{", "[")):
        return None
    rows = text.split("\n")  # not splitlines: JSON strings may hold other line ends
    if text.startswith("["):
        value = _completed(text)
        whole = tuple(v for row in rows[:2] if row.startswith("[") and isinstance(v := _parsed(row), list))
        return _Sight(value, whole if len(whole) > 1 else (), len(rows) == 1) if isinstance(value, list) else None
    objects = tuple(v for row in rows if row.startswith("{") and isinstance(v := _parsed(row), dict))
    value = objects[0] if objects else _completed(text)
    return _Sight(value, objects, len(rows) == 1) if isinstance(value, dict) else None


def _head(sight: _Sight, fits: Callable[[Any], bool]) -> Head:
    value = sight.first
    if isinstance(value, list):
        if len(sight.rows) > 1:
            return Head(Layout.LINES, sight.rows)
        return Head(Layout.ALONE, (value,)) if fits(value) else Head(Layout.ARRAY, tuple(value))
    inner = value.get(WRAPPER)
    if isinstance(inner, list) and not fits(value):
        return Head(Layout.WRAPPED, tuple(inner))
    if sight.rows:
        return Head(Layout.LINES, sight.rows)
    return Head(Layout.LINES if sight.one_line else Layout.ALONE, (value,))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _completed(text: str) -> Any:
    """The value of a JSON text that may be cut anywhere, with all that stands before the cut; None if it is no JSON.

    First the open string and brackets are closed; where that gives no JSON (cut in a key, a number, a literal), the
    text is taken up to the last comma or bracket. So it is where it goes deeper than any chat does.
    """
    stack, safe, safe_stack, whole = "", 0, "", text
    for token in _TOKEN.finditer(text):
        mark = token.group()
        if mark == '"':
            if (opened := _OPEN.match(text, token.start())) is not None:
                whole = opened.string[: opened.end()] + '"'
            break
        if mark == ",":
            safe, safe_stack = token.start(), stack
        elif mark in _CLOSER:
            if len(stack) > _DEEPEST:
                return _parsed(text[:safe] + safe_stack)
            stack = _CLOSER[mark] + stack
            safe, safe_stack = token.end(), stack
        elif mark in "]}":
            stack = stack[1:]
            safe, safe_stack = token.end(), stack
        if not stack:
            break
    value = _parsed(whole + stack)
    return _parsed(text[:safe] + safe_stack) if value is None else value


class JsonReader:
    """An importer of a format that says of a value whether it fits, and what conversation it is."""

    def __init__(self, format: JsonFormat) -> None:
        self._format = format
        self.name, self.label = format.name, format.label
        self.recognised, self.about = format.recognised, format.about

    def recognises(self, entry: Entry) -> bool:
        """Whether the beginning of the file holds a value that fits."""
        return glimpse(entry, self._format.fits) is not None

    def pieces(self, entries: Sequence[Entry], problems: Problems) -> Iterator[Piece]:
        """One for each value, in the order of the files."""
        for entry in entries:
            for item in items(entry, self._format.fits, problems):
                yield Piece(item.place, partial(self._drafts, item, problems))

    def _drafts(self, item: Item, problems: Problems) -> Iterator[Draft]:
        told = DraftNotes()
        made = self._format.draft(item.value, told)
        drafts = [made] if isinstance(made, DraftConversation | DraftDocument) else list(made or ())
        if not drafts:
            problems.note("entries without messages")
        title = next((draft.title for draft in drafts), "")
        place = f'{item.place} "{title[:60]}"' if title else item.place
        for reason in told.partly:
            problems.partial(place, reason)
        for note in told.notes:
            problems.note(note)
        for draft in drafts:
            yield replace(draft, source=draft.source or self.name, place=draft.place or place)
