"""Editing a JSON file of another program: only what is ours changes, a copy of the rest is kept, and it is shown."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import unified_diff
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput, StoreError

_INDENT = re.compile(r"\n([ \t]+)\"")


@dataclass(frozen=True, slots=True)
class Edit:
    """What is to be written to a file, and what stands there (None: there is no file)."""

    path: Path
    before: str | None
    after: str

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.before is None or json.loads(self.before or "{}") != json.loads(self.after)

    def diff(self) -> Iterator[str]:
        """The lines that go and come, with some around them."""
        old, new = (self.before or "").splitlines(), self.after.splitlines()
        for number, line in enumerate(unified_diff(old, new, lineterm="", n=2)):
            if number > 1:  # the names of the two files
                yield line

    def write(self, now: datetime) -> Path | None:
        """Writes it, whole or not at all, where a link leads to; returns the copy of what stood there.

        Raises StoreError.
        """
        target = Path(os.path.realpath(self.path))
        partial = target.with_name(f".{target.name}.{os.getpid()}.part")
        copy = target.with_name(f"{target.name}.before-recollect-{now:%Y%m%d-%H%M%S}")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            mode = target.stat().st_mode & 0o777 if self.before is not None else 0o600
            if self.before is not None:
                _put(copy, self.before, mode)
            _put(partial, self.after, mode)
            partial.replace(target)
        except OSError as problem:
            partial.unlink(missing_ok=True)
            raise StoreError(f"{self.path} could not be written: {problem.strerror or problem}.") from problem
        return copy if self.before is not None else None


def edit_of(path: Path, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> Edit:
    """The edit that a change of the object in a JSON file comes to. Raises InvalidInput for what is no such file."""
    before, values = values_in(path)
    found = _INDENT.search(before or "")
    changed = json.dumps(change(values), indent=found[1] if found else 2, ensure_ascii=False)
    return Edit(path, before, changed + "\n")


def values_in(path: Path) -> tuple[str | None, dict[str, Any]]:
    """The text of a JSON file (None: there is none) and the object in it. Raises InvalidInput."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return None, {}
    except (OSError, UnicodeDecodeError) as problem:
        raise InvalidInput(f"{path} cannot be read: {problem}.") from problem
    try:
        values = json.loads(text) if text.strip() else {}
    except ValueError as problem:
        raise InvalidInput(f"{path} is not JSON: {problem}.", hint="Mend it first; nothing was changed.") from problem
    if not isinstance(values, dict):
        raise InvalidInput(f"{path} holds no JSON object.", hint="Nothing was changed.")
    return text, values


def _put(path: Path, text: str, mode: int) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
