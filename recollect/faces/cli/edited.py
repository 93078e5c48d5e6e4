"""Editing an object in a JSON file of another program: the rest of the file stays as it is, to the letter."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
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


def edit_of(path: Path, key: str, change: Callable[[Values], Values]) -> Edit:
    """The edit that changes one member of a file's object. Raises InvalidInput for what is no such file."""
    before, values = values_in(path)
    changed = change(values)
    lines = tuple(_difference(values, changed))
    if not lines:
        return Edit(path, before, before or "", ())
    text = (before or "").replace("\r\n", "\n")
    after = jsonc.put(text, [key], changed[key]) if isinstance(changed.get(key), Mapping) else _shown(changed)
    if jsonc.read(after) != changed:
        raise InvalidInput(f"{path} is built in a way that cannot be changed safely.")
    return Edit(path, before, after.replace("\n", "\r\n") if before and "\r\n" in before else after, lines)


def values_in(path: Path) -> tuple[str | None, Values]:
    """The text of a JSON file (None: there is none) and the object in it. Raises InvalidInput."""
    text = text_of(path)
    try:
        values = jsonc.read((text or "").removeprefix("\ufeff"))
    except InvalidInput as problem:
        raise InvalidInput(
            f"{path} is not JSON: {problem.message}", hint="Mend it first; nothing was changed."
        ) from problem
    if not isinstance(values, Mapping):
        raise InvalidInput(f"{path} holds no JSON object.", hint="Nothing was changed.")
    return text, values


def _difference(before: Values, after: Values) -> list[str]:
    """Both are laid out alike, so that a file on one line is not one difference; {} is a file without a line."""
    old, new = (_shown(values).splitlines() if values else [] for values in (before, after))
    lines = unified_diff(old, new, lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def _shown(values: Values) -> str:
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"
