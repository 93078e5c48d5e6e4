"""What keeping is worth: what is asked often in a session, read anew and from what is kept. python -m benchmarks.kept

On the sample archive, consolidated; processor time of a call at the median.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypeVar

import recollect
from benchmarks.machine import machine
from benchmarks.report import machine_line
from benchmarks.tables import table
from recollect.sample import write_archive
from recollect.store import View
from recollect.store.kept import Kept

_CALLS = 50
T = TypeVar("T")


class Forgetful(Kept):
    """Keeps nothing."""

    def of(self, view: View, name: Hashable, read: Callable[[], T]) -> T:
        """Reads it."""
        return read()


def main() -> None:
    """Measures and prints."""
    with TemporaryDirectory(prefix="recollect-kept-") as folder:
        archive, store = Path(folder) / "archive", Path(folder) / "memory.db"
        archive.mkdir()
        with recollect.open(store, background=False) as memory:
            for path in write_archive(archive):
                memory.import_file(path)
            memory.upkeep.consolidate()
            newest = memory.conversations(limit=1)[0].conversation.id
            calls: dict[str, Callable[[], object]] = {
                "entities()": memory.entities,
                "prepare_context(), of a conversation": lambda: memory.prepare_context("Which database?", newest),
            }
            rows = []
            for name, call in calls.items():
                memory.handle.kept = Kept()
                kept = _spent(call)
                memory.handle.kept = Forgetful()
                rows.append([name, f"{_spent(call):.1f} ms", f"{kept:.1f} ms"])
    print(table(["call", "read anew", "kept"], rows))
    print(machine_line(machine()))


def _spent(call: Callable[[], object]) -> float:
    """Milliseconds of processor time at the median."""
    call()
    spent = []
    for _ in range(_CALLS):
        began = time.process_time()
        call()
        spent.append(1000 * (time.process_time() - began))
    return median(spent)


if __name__ == "__main__":
    main()
