"""An entry comes into the settings of a client: checked before it is written, with a copy of what was there."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import unified_diff
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput
from recollect.faces.cli.setup import jsonc, toml
from recollect.faces.cli.setup.clients import NAME, Client, Machine
from recollect.faces.cli.setup.edited import text_of, write_keeping
from recollect.faces.cli.setup.launch import Launch

_FORMATS = {"json": jsonc, "toml": toml}
_OURS = "RECOLLECT_"  # variables of an older entry that are not carried on


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """What comes into a file: the text before and after, the same where nothing changes."""

    client: Client
    path: Path
    before: str | None  # None: there is no file yet
    after: str
    shown: str = ""  # the entry alone

    @property
    def is_needed(self) -> bool:
        """Whether the file says something else yet."""
        return self.before != self.after

    @property
    def lines(self) -> list[str]:
        """The lines that go and come, with a sign before each. Others are not shown: there may be secrets in them. Of a
        file that is written on one line, the entry is shown.
        """
        old, new = (self.before or "").splitlines(), self.after.splitlines()
        if len(old) == 1:
            return [f"+{line}" for line in self.shown.splitlines()]
        return [line for line in unified_diff(old, new, lineterm="", n=0) if not line.startswith(("---", "+++", "@@"))]


def snippet(client: Client, launch: Launch) -> str:
    """What is to stand in a client's settings, alone."""
    text: str = _FORMATS[client.format].put("", (*client.keys, NAME), client.entry(launch))
    return text


def planned(client: Client, launch: Launch, machine: Machine) -> SettingsChange:
    """What would be written. Raises InvalidInput where the file cannot be read, or would not mean the same but for the
    entry.
    """
    path = client.settings(machine)
    format_, where = _FORMATS[client.format], (*client.keys, NAME)
    try:
        before = text_of(path)
        said = format_.read(before or "")
        entry = _merged(_at(said, where), client.entry(launch))
        if before is not None and _at(said, where) == entry:
            return SettingsChange(client, path, before, before)
        after = _put(format_, before or "", where, entry)
        is_sound = format_.read(after) == _with(said, where, entry)
    except InvalidInput as problem:
        raise _unfit(client, path, problem.message) from problem
    if not is_sound:
        raise _unfit(client, path, "It is built in a way that cannot be added to safely.")
    return SettingsChange(client, path, before, after, format_.put("", where, entry))


def is_set_up(client: Client, machine: Machine) -> bool:
    """Whether the settings of a client hold an entry of ours."""
    try:
        said = _FORMATS[client.format].read(text_of(client.settings(machine)) or "")
    except InvalidInput:
        return False
    return _at(said, (*client.keys, NAME)) is not None


def write(change: SettingsChange, now: datetime) -> Path | None:
    """Writes the file whole, or not at all; returns where what was there before is kept. Raises StoreError."""
    hint = f"To add it yourself: recollect mcp install {change.client.name} --print"
    return write_keeping(change.path, change.before, change.after, now, hint=hint)


def _put(format_: Any, text: str, where: Sequence[str], entry: Mapping[str, Any]) -> str:
    """The text with the entry, its line ends as they are."""
    if "\r\n" not in text or text.count("\n") != text.count("\r\n"):
        put: str = format_.put(text, where, entry)
        return put
    return _put(format_, text.replace("\r\n", "\n"), where, entry).replace("\n", "\r\n")


def _merged(there: Any, ours: Mapping[str, Any]) -> dict[str, Any]:
    """Our entry, with what a user has added to the one that is there."""
    if not isinstance(there, Mapping):
        return dict(ours)
    merged = {**there, **ours}
    for key in ("env", "environment"):
        kept = {name: value for name, value in there.get(key, {}).items() if not name.startswith(_OURS)}
        if kept or key in ours:
            merged[key] = {**kept, **ours.get(key, {})}
        else:
            merged.pop(key, None)
    return merged


def _at(said: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if not isinstance(said, Mapping):
            return None
        said = said.get(name)
    return said


def _with(said: Any, path: tuple[str, ...], value: Mapping[str, Any]) -> Any:
    """The same as Python has it, to compare with what the text says afterwards."""
    whole = copy.deepcopy(said)
    inner = whole
    for name in path[:-1]:
        inner = inner.setdefault(name, {})
    inner[path[-1]] = dict(value)
    return whole


def _unfit(client: Client, path: Path, why: str) -> InvalidInput:
    return InvalidInput(
        f"{path} was left as it is. {why}", hint=f"To add it yourself: recollect mcp install {client.name} --print"
    )
