"""Which files in which folders are followed, and which states of them are imported."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput, NotFound
from recollect.importers.found import session_folders
from recollect.importers.reading.archive import is_ignored
from recollect.runtime.files import Place

_MOST = 200_000  # files of a folder; somebody who watches a whole disk has meant something else


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells two states of a file apart."""

    size: int
    written: int  # nanoseconds
    number: int  # of the inode


def look(folder: Path) -> dict[Path, Stamp]:
    """The regular files below a folder; empty where it is not there (yet). Links are not followed."""
    found: dict[Path, Stamp] = {}
    for entry in _files(folder):
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        found[Path(entry.path)] = Stamp(status.st_size, status.st_mtime_ns, status.st_ino)
        if len(found) == _MOST:
            break
    return found


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    waiting = [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                inside = [entry for entry in entries if not is_ignored(entry.name)]
        except OSError:
            continue
        for entry in inside:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            elif entry.is_file(follow_symlinks=False):
                yield entry


class ImportedFiles:
    """The states of files as they were imported into one namespace of one store."""

    def __init__(self, folder: Path, store: Place, namespace: str) -> None:
        digest = hashlib.blake2b(f"{store}\0{namespace}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        self._path, self._store = folder / f"watched-{digest}.json", store
        self._files = self._read()
        self._new: dict[str, Stamp] = {}
        self._gone: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._files)

    def knows(self, file: Path, stamp: Stamp) -> bool:
        """Whether the file is in as it is now."""
        return self._files.get(str(file)) == stamp

    def take(self, files: Mapping[Path, Stamp]) -> None:
        """These are in."""
        taken = {str(file): stamp for file, stamp in files.items()}
        self._files |= taken
        self._new |= taken

    def drop(self, folder: Path, there: Iterable[Path]) -> None:
        """Forgets the files of a folder that are no longer there."""
        names, within = {str(file) for file in there}, f"{folder}{os.sep}"
        gone = {name for name in self._files if name not in names and name.startswith(within)}
        self._gone |= gone
        for name in gone:
            del self._files[name]

    def clear(self) -> None:
        """The memory holds nothing: nothing is known."""
        self._files.clear()
        self._new.clear()

    def save(self) -> None:
        """Writes what is new, beside what another run may have written meanwhile."""
        if not self._new and not self._gone:
            return
        files = {name: stamp for name, stamp in self._read().items() if name not in self._gone} | self._new
        rows = {name: [stamp.size, stamp.written, stamp.number] for name, stamp in files.items()}
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            partial = self._path.with_suffix(".part")
            partial.touch(mode=0o600)
            partial.write_text(json.dumps({"store": self._identity(), "files": rows}), encoding="utf-8")
            partial.replace(self._path)
            self._new.clear()
            self._gone.clear()

    def _read(self) -> dict[str, Stamp]:
        """What was kept, if it was for the store as it is: one that was restored or made anew is another."""
        found: Any = None
        with suppress(OSError, ValueError):
            found = json.loads(self._path.read_text(encoding="utf-8"))
        if not isinstance(found, dict) or found.get("store") != self._identity():
            return {}
        with suppress(TypeError, ValueError, AttributeError):
            return {str(name): Stamp(*map(int, row)) for name, row in found["files"].items()}
        return {}

    def _identity(self) -> list[int]:
        if not isinstance(self._store, Path):
            return []
        try:
            status = self._store.stat()
        except OSError:
            return [0]
        return [status.st_dev, status.st_ino]


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


#: Days that Claude Code keeps a session from its last line on, unless its settings say otherwise.
_PERIOD = 30
_SOON = timedelta(days=7)


def not_in(folder: Path, kept: ImportedFiles, last_import: datetime | None) -> dict[Path, Stamp]:
    """The files of a folder that have changed since they were last read: by an import, by `watch` or by a hook."""
    before = last_import.timestamp() * 1e9 if last_import else 0.0
    return {
        file: stamp for file, stamp in look(folder).items() if stamp.written > before and not kept.knows(file, stamp)
    }


def expiring(projects: Path, files: Mapping[Path, Stamp], now: datetime) -> int:
    """How many of these sessions Claude Code deletes within a week."""
    limit = (now - timedelta(days=_days(projects.parent / "settings.json")) + _SOON).timestamp() * 1e9
    return sum(
        stamp.written < limit and file.suffix == ".jsonl" and not file.name.startswith("agent-")
        for file, stamp in files.items()
    )


def _days(settings: Path) -> int:
    with suppress(OSError, ValueError, AttributeError):
        days = json.loads(settings.read_text(encoding="utf-8")).get("cleanupPeriodDays")
        if isinstance(days, int) and 0 <= days < 100_000:
            return days
    return _PERIOD
