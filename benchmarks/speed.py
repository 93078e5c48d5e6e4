"""Speed by size: import, import again, append, warm search, cold search, bytes on disk; each size in a fresh folder."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.generator import write_openai
from benchmarks.queries import queries

SIZES = (1_000, 10_000, 100_000)
QUICK_SIZES = (1_000, 10_000)

_SEARCHES, _APPENDS, _COLD_STARTS = 280, 220, 5
_ROOT = Path(__file__).resolve().parent.parent

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Speed:
    """What was measured at one size. Rates are messages a second, times milliseconds unless named otherwise."""

    messages: int
    export_bytes: int
    import_rate: float
    import_peak_bytes: int
    reimport_rate: float
    append: dict[str, float]
    search: dict[str, Any]
    search_peak_bytes: int
    cold_seconds: float | None  # None where there is no command line to start
    store_bytes: int

    def to_json(self) -> dict[str, object]:
        """As in the results file."""
        return {name: _rounded(getattr(self, name)) for name in self.__dataclass_fields__}


def measure(sizes: tuple[int, ...], say: Say) -> list[Speed]:
    """All sizes, one after the other."""
    measured = []
    for size in sizes:
        say(f"speed at {size:,} messages")
        with TemporaryDirectory(prefix="recollect-bench-") as folder:
            measured.append(_measure_size(size, Path(folder)))
    return measured


def _measure_size(size: int, folder: Path) -> Speed:
    export, store = folder / "export.jsonl", folder / "memory.db"
    write_openai(export, size)
    first = _worker("import", store, export)
    again = _worker("import", store, export)
    if first["messages"] < size or again["new"]:
        raise RuntimeError(f"Of {size} messages {first['messages']} are in; a second import added {again['new']}.")
    stored = sum(file.stat().st_size for file in folder.glob(f"{store.name}*"))
    searched = _worker("search", store, _SEARCHES)
    peak = searched.pop("peak_bytes")
    cold = _cold_search(folder)
    appended = _worker("append", store, _APPENDS)
    return Speed(
        messages=size,
        export_bytes=export.stat().st_size,
        import_rate=size / first["seconds"],
        import_peak_bytes=first["peak_bytes"],
        reimport_rate=size / again["seconds"],
        append={name: value for name, value in appended.items() if name != "peak_bytes"},
        search=searched,
        search_peak_bytes=peak,
        cold_seconds=cold,
        store_bytes=stored,
    )


def _worker(what: str, store: Path, detail: Path | int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.worker", what, str(store), str(detail)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"benchmarks.worker {what} failed:\n{done.stderr[-2000:]}")
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def _cold_search(folder: Path) -> float | None:
    """Seconds from starting `recollect search` to its end, the median of some; None where the command is not there."""
    command = Path(sys.executable).with_name("recollect")
    if not command.exists():
        return None
    environment = os.environ | {"RECOLLECT_HOME": str(folder)}
    seconds = []
    for query in queries(_COLD_STARTS + 1):
        began = time.perf_counter()
        done = subprocess.run(
            [command, "search", "--json", query.text], env=environment, capture_output=True, text=True, check=False
        )
        seconds.append(time.perf_counter() - began)
        if "results" not in json.loads(done.stdout or "{}"):
            raise RuntimeError(f"recollect search failed:\n{done.stderr[-2000:]}")
    return statistics.median(seconds[1:])  # the first one compiles


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, dict):
        return {name: _rounded(inner) for name, inner in value.items()}
    return value
