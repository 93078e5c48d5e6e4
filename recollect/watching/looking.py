"""What lies in a watched folder, and what has changed there since it was imported."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recollect.importers.reading.archive import is_ignored

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
