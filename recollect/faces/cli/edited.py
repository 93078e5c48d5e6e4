"""Editing an object in a JSON file of another program: the rest of the file stays as it is, to the letter."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput
from recollect.faces.mcp.setup import jsonc
from recollect.faces.mcp.setup.files import text_of

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Edit:
    """What is to be written to a file, and what stands there (None: there is no file)."""

    path: Path
    before: str | None
    after: str
    lines: tuple[str, ...]  # that go and come; others are not shown, as there may be secrets in them

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.lines)


_GONE = object()


def edit_of(path: Path, change: Callable[[Values], Values]) -> Edit:
    """The edit that changes members of a file's object. Raises InvalidInput for what is no such file."""
    before, values = values_in(path)
    changed = change(values)
    lines = tuple(_difference(values, changed))
    if not lines:
        return Edit(path, before, before or "", ())
    text = (before or "").replace("\r\n", "\n")
    after = text
    for where, value in _edits(values, changed):
        after = jsonc.drop(after, where) if value is _GONE else jsonc.put(after, where, value)
    if jsonc.read(after) != changed:
        raise InvalidInput(f"{path} is built in a way that cannot be changed safely.")
    return Edit(path, before, after.replace("\n", "\r\n") if before and "\r\n" in before else after, lines)


def values_in(path: Path) -> tuple[str | None, Values]:
    """The text of a JSON file (None: there is none) and the object in it. Raises InvalidInput."""
    try:
        text = text_of(path)
    except InvalidInput as problem:
        raise InvalidInput(f"{path} cannot be read as UTF-8.", hint="Nothing was changed.") from problem
    try:
        values = jsonc.read(text or "")
    except InvalidInput as problem:
        raise InvalidInput(
            f"{path} is not JSON: {problem.message}", hint="Mend it first; nothing was changed."
        ) from problem
    if not isinstance(values, Mapping):
        raise InvalidInput(f"{path} holds no JSON object.", hint="Nothing was changed.")
    return text, values


def _edits(before: Values, after: Values, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Which members get which values, as deep as they differ: what stands beside them is not written again."""
    for name in before.keys() - after.keys():
        yield (*path, name), _GONE
    for name, value in after.items():
        there = before.get(name, _GONE)
        if isinstance(there, Mapping) and isinstance(value, Mapping):
            yield from _edits(there, value, (*path, name))
        elif there is _GONE or there != value:
            yield (*path, name), value


def _difference(before: Values, after: Values) -> list[str]:
    """Both are laid out alike, so that a file on one line is not one difference; {} is a file without a line."""
    old, new = (_shown(values).splitlines() if values else [] for values in (before, after))
    lines = unified_diff(old, new, lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def _shown(values: Values) -> str:
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"
