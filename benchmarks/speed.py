"""Speed by engine and size: import, import again, append, warm search, cold search, bytes on disk.

Each size has a fresh file, or a namespace of its own on the server; the smallest is measured once more beside all the
others, for nobody shall pay for what lies in other namespaces.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.engines import NEO4J, Engine
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

    engine: str
    messages: int
    beside: int  # messages in other namespaces of the same store
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


def measure(sizes: tuple[int, ...], engines: Sequence[Engine], say: Say) -> list[Speed]:
    """All sizes, one after the other, each on every engine."""
    measured = []
    with TemporaryDirectory(prefix="recollect-bench-") as scratch:
        for size in sizes:
            for engine in engines:
                say(f"{engine.name}: speed at {size:,} messages")
                folder = Path(scratch) / f"{engine.name}-{size}"
                folder.mkdir()
                beside = sum(sizes[: sizes.index(size)]) if engine.name == NEO4J else 0
                measured.append(_measure_size(engine, size, beside, folder))
        for engine in engines:
            beside = sum(sizes) if engine.name == NEO4J else sizes[-1]
            say(f"{engine.name}: speed at {sizes[0]:,} messages beside {beside:,}")
            measured.append(_measure_size(engine, sizes[0], beside, Path(scratch) / f"{engine.name}-{sizes[-1]}"))
    return measured


def _measure_size(engine: Engine, size: int, beside: int, folder: Path) -> Speed:
    export, store = folder / "export.jsonl", (engine.place(folder), f"bench/{size}-beside-{beside}")
    write_openai(export, size)
    empty = engine.bytes_on_disk(folder)
    first = worker("import", store, export)
    again = worker("import", store, export)
    if first["messages"] < size or again["new"]:
        raise RuntimeError(f"Of {size} messages {first['messages']} are in; a second import added {again['new']}.")
    searched = worker("search", store, _SEARCHES)
    peak = searched.pop("peak_bytes")
    cold = cold_search(store, folder)
    appended = worker("append", store, _APPENDS)
    return Speed(
        engine=engine.name,
        messages=size,
        beside=beside,
        export_bytes=export.stat().st_size,
        import_rate=size / first["seconds"],
        import_peak_bytes=first["peak_bytes"],
        reimport_rate=size / again["seconds"],
        append={name: value for name, value in appended.items() if name != "peak_bytes"},
        search=searched,
        search_peak_bytes=peak,
        cold_seconds=cold,
        store_bytes=engine.bytes_on_disk(folder) - empty,
    )


def worker(what: str, store: tuple[str, str], detail: Path | int) -> dict[str, Any]:
    """What `benchmarks.worker` measures in a process of its own. Raises RuntimeError where it fails."""
    command = [sys.executable, "-m", "benchmarks.worker", what, *store, str(detail)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"benchmarks.worker {what} failed:\n{done.stderr[-2000:]}")
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def cold_search(store: tuple[str, str], folder: Path) -> float | None:
    """Seconds from starting `recollect search` to its end, the median of some; None where the command is not there."""
    command = Path(sys.executable).with_name("recollect")
    if not command.exists():
        return None
    place, namespace = store
    environment = os.environ | {
        "RECOLLECT_HOME": str(folder),
        "RECOLLECT_STORE": place,
        "RECOLLECT_NAMESPACE": namespace,
    }
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
