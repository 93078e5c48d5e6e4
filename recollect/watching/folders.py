"""Which folders are followed: those where Claude Code and Codex of this machine write, or those that are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recollect.errors import InvalidInput, NotFound
from recollect.importers.found import session_folders


@dataclass(frozen=True, slots=True)
class Watched:
    """A folder that is followed, and what it is called."""

    label: str
    path: Path


def watched_folders(named: Sequence[str], home: Path, environment: Mapping[str, str]) -> list[Watched]:
    """The folders that are named or, where none is, those of the agents: also those that are not there yet, since an
    agent makes its folder when it is first used.

    Raises NotFound, InvalidInput for what is no folder.
    """
    if not named:
        return [Watched(label, folder) for label, folder in session_folders(home, environment)]
    folders = [Path(name).expanduser().absolute() for name in named]
    for folder in folders:
        if not folder.exists():
            raise NotFound(f"No such folder: {folder}.", hint="Name a folder with sessions or exports.")
        if not folder.is_dir():
            raise InvalidInput(f"{folder} is a file.", hint=f"Name its folder, or import it: recollect import {folder}")
    return [Watched(folder.name, folder) for folder in dict.fromkeys(folders)]
