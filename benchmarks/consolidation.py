"""What consolidating costs without a model: `python -m benchmarks.consolidation [MESSAGES ...]`.

Messages a second of the sample archive and of generated ones, and what one more message takes when much or little is
there. Wall-clock and processor time, since machines are shared; quality vectors are left out.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import recollect
from benchmarks.generator import write_openai
from benchmarks.machine import machine
from benchmarks.tables import table
from recollect.memory import Memory
from recollect.sample import write_archive

SIZES = (10_000,)
_APPENDED = 40


def main(arguments: Sequence[str]) -> int:
    """Prints the table and the machine."""
    sizes = [int(argument) for argument in arguments] or list(SIZES)
    rows = [_row("sample", None)]
    rows += [_row(f"{size:,} generated", size) for size in sizes]
    print(
        table(["archive", "messages", "messages/s", "per processor second", "one more: median", "with processor"], rows)
    )
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    return 0


def _row(name: str, size: int | None) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with recollect.open(place / "memory.db", background=False) as memory:
            memory.import_file(*_archive(place, size))
            wall, cpu = time.perf_counter(), time.process_time()
            done = memory.upkeep.consolidate()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            walls, cpus = _appended(memory)
    return [
        name,
        f"{done.messages:,}",
        f"{done.messages / wall:,.0f}",
        f"{done.messages / cpu:,.0f}",
        f"{1000 * median(walls):.1f} ms",
        f"{1000 * median(cpus):.1f} ms",
    ]


def _archive(folder: Path, size: int | None) -> list[Path]:
    if size is None:
        return write_archive(folder / "archive")
    write_openai(folder / "export.jsonl", size)
    return [folder / "export.jsonl"]


def _appended(memory: Memory) -> tuple[list[float], list[float]]:
    """Consolidating one message more, again and again, in a conversation that grows."""
    walls, cpus = [], []
    for number in range(_APPENDED):
        memory.store_message(f"The {number}th walk with Luna took {number} minutes.", conversation_id="walks")
        wall, cpu = time.perf_counter(), time.process_time()
        memory.upkeep.consolidate()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return walls, cpus


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
