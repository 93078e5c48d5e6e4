"""Room for files that are sent: beside the data, for the folder of temporary files may be too small.

Each upload has a folder of its own, named after the process that reads it. What a server that was killed has left
behind goes when the next one starts.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from recollect.errors import ImportProblem, RecollectError
from recollect.runtime.processes import has_ended

if TYPE_CHECKING:
    from recollect.ingest.importing import ImportReport

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
            f"There is no room for {length / 1e9:.1f} GB on the server: {free / 1e9:.1f} GB are free.",
            hint="To read it where it lies: recollect import PATH",
        )


def could_not_be_kept(problem: OSError) -> ImportProblem:
    """What is said of a file that could not be written."""
    return ImportProblem(f"The server could not keep the file: {problem.strerror}.")


def under_sent_names(folder: Path, work: Callable[[], ImportReport]) -> ImportReport:
    """What an import of files in a folder reports or raises, with the names under which these were sent."""

    def shown(text: str) -> str:
        return text.replace(f"{folder}{os.sep}", "")

    try:
        report = work()
    except RecollectError as problem:
        problem.message, problem.hint = shown(problem.message), shown(problem.hint)
        raise
    report.sources = [replace(source, container=shown(source.container)) for source in report.sources]
    report.problems = [replace(problem, place=shown(problem.place)) for problem in report.problems]
    report.skipped = [shown(place) for place in report.skipped]
    return report


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
