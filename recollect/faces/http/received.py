"""Room for files that are sent: beside the data, for the folder of temporary files may be too small.

Each upload has a folder of its own, named after the process that reads it. What a server that was killed has left
behind goes when the next one starts.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

from recollect.errors import ImportProblem
from recollect.runtime.processes import has_ended

_FOLDER = "uploads"
_SPARE = 200_000_000  # bytes that stay free on the disk


def new_folder(data: Path) -> Path:
    """A folder that only its owner can read."""
    base = data / _FOLDER
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Path(mkdtemp(prefix=f"{os.getpid()}-", dir=base))


def check_room(data: Path, length: int) -> None:
    """Raises ImportProblem where so many bytes would leave too little free."""
    there = next(folder for folder in (data, *data.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    if length + _SPARE > free:
        raise ImportProblem(
            f"There is no room for {length / 1e9:.1f} GB at {data}: {free / 1e9:.1f} GB are free.",
            hint="To read it where it lies: recollect import PATH",
        )


def sweep(data: Path) -> None:
    """Removes what servers that are no more have left behind; another one may be running."""
    with suppress(OSError):
        for folder in _left_behind(data / _FOLDER):
            shutil.rmtree(folder, ignore_errors=True)


def _left_behind(base: Path) -> Iterator[Path]:
    for folder in base.iterdir():
        process = folder.name.partition("-")[0]
        if not process.isdigit() or int(process) == os.getpid() or has_ended(int(process)):
            yield folder
