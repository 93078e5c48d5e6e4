"""Editing an object in a JSON file of another program: the rest of the file stays as it is, to the letter."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import unified_diff
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput, StoreError
from recollect.faces.cli.setup import jsonc


def write_keeping(path: Path, before: str | None, after: str, now: datetime, *, hint: str = "") -> Path | None:
    """Writes the file whole, or not at all; returns where what was there before is kept. Raises StoreError."""
    target = path.resolve()  # settings are often links into a repository
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        kept = None
        mode = 0o600
        if before is not None:
            mode = target.stat().st_mode & 0o777
            if not mode & 0o222:  # a new file would take its place all the same
                raise PermissionError(errno.EACCES, "it is read-only")
            kept = _free(target.with_name(f"{target.name}.{now:%Y%m%d-%H%M%S}.bak"))
            _write(kept, before, mode)
        _write(target, after, mode)
    except OSError as problem:
        raise StoreError(f"{path} cannot be written: {problem.strerror or problem}.", hint=hint) from problem
    return kept


def text_of(path: Path) -> str | None:
    """The text of a file, its line ends as they are; None where there is none. Raises InvalidInput."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as problem:
        raise InvalidInput("It cannot be read as text.") from problem


def _free(path: Path) -> Path:
    """The path, or the first beside it that nothing stands at."""
    names = (path.with_name(f"{path.stem}-{number}.bak") for number in range(1, 1000))
    return path if not path.exists() else next(name for name in names if not name.exists())


def _write(path: Path, text: str, mode: int) -> None:
    made, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    partial = Path(name)
    try:
        with os.fdopen(made, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.chmod(mode)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SettingsEdit:
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


def edit_of(path: Path, change: Callable[[Values], Values]) -> SettingsEdit:
    """The edit that changes members of a file's object. Raises InvalidInput for what is no such file."""
    before, values = values_in(path)
    changed = change(values)
    lines = tuple(_difference(values, changed))
    if not lines:
        return SettingsEdit(path, before, before or "", ())
    as_lines = before is not None and before.count("\r\n") == before.count("\n") > 0  # of Windows, all of them
    after = (before or "").replace("\r\n", "\n") if as_lines else before or ""
    for where, value in _edits(values, changed):
        after = jsonc.drop(after, where) if value is _GONE else jsonc.put(after, where, value)
    if jsonc.read(after) != changed:
        raise InvalidInput(f"{path} is built in a way that cannot be changed safely.")
    return SettingsEdit(path, before, after.replace("\n", "\r\n") if as_lines else after, lines)


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


def _edits(before: Any, after: Any, path: tuple[jsonc.Name, ...] = ()) -> Iterator[tuple[tuple[jsonc.Name, ...], Any]]:
    """Which members get which values, as deep as they differ: what stands beside them is not written again."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from (((*path, name), _GONE) for name in before if name not in after)
        for name, value in after.items():
            if name in before:
                yield from _edits(before[name], value, (*path, name))
            else:
                yield (*path, name), value
    elif isinstance(before, list) and isinstance(after, list):
        yield from _edits_of_list(before, after, path)
    elif before != after:
        yield path, after


def _edits_of_list(
    before: list[Any], after: list[Any], path: tuple[jsonc.Name, ...]
) -> Iterator[tuple[tuple[jsonc.Name, ...], Any]]:
    """The same of a list: its items in their places, or else those that go, from the last on, and those that come."""
    if len(before) == len(after):
        for place, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _edits(old, new, (*path, place))
        return
    kept: list[int] = []
    for place, item in enumerate(before):
        if len(kept) < len(after) and item == after[len(kept)]:
            kept.append(place)
    yield from (((*path, place), _GONE) for place in reversed(range(len(before))) if place not in kept)
    yield from (((*path, place), after[place]) for place in range(len(kept), len(after)))


def _difference(before: Values, after: Values) -> list[str]:
    """Both are laid out alike, so that a file on one line is not one difference; {} is a file without a line."""
    old, new = (_shown(values).splitlines() if values else [] for values in (before, after))
    lines = unified_diff(old, new, lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def _shown(values: Values) -> str:
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"
