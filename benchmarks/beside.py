"""What a search costs beside a worker: python -m benchmarks.beside [MESSAGES] [--seconds N].

The same searches of one memory, alone and while `recollect worker` consolidates it and makes its quality vectors in a
process of its own, in turns, so that what else the machine does meets both.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import recollect
from benchmarks.generator import write_openai
from benchmarks.machine import machine
from benchmarks.queries import Query, queries
from benchmarks.report import machine_line
from benchmarks.tables import table
from recollect.memory import Memory

_TURNS = 4  # alone and beside the worker
_WARMING, _STARTING = 20, 2.0  # searches, and seconds until a worker has begun


def main(arguments: list[str]) -> int:
    """Prints the table and the machine."""
    options = _options(arguments)
    with TemporaryDirectory(prefix="recollect-beside-") as folder:
        export, store = Path(folder) / "export.jsonl", Path(folder) / "memory.db"
        write_openai(export, options.messages)
        with recollect.open(store, background=False) as memory:
            memory.import_file(export)
            alone, beside = measured(memory, store, options.seconds)
    rows = [_row("alone", alone), _row("beside a worker", beside)]
    print(table(["searches", "count", "p50", "p95"], rows))
    print(f"The median is {np.median(beside) / np.median(alone):.2f} times that of searches alone.")
    print(machine_line(machine()))
    return 0


def measured(memory: Memory, store: Path, seconds: float) -> tuple[list[float], list[float]]:
    """Seconds of searches alone, and beside a worker."""
    asked = cycle(queries(280))
    for _ in range(_WARMING):
        memory.search(next(asked).text)
    alone, beside = list[float](), list[float]()
    for _ in range(_TURNS):
        alone += _searches(memory, asked, seconds / _TURNS)
        with _worker(store) as worker:
            beside += _searches(memory, asked, seconds / _TURNS)
            if worker.poll() is not None:
                raise RuntimeError("The worker was done before the searches. Use more messages.")
    return alone, beside


@contextmanager
def _worker(store: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "recollect", "--store", str(store), "worker"]
    environment = os.environ | {"RECOLLECT_BACKGROUND": "0"}
    worker = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(_STARTING)
        yield worker
    finally:
        worker.terminate()
        worker.wait()


def _searches(memory: Memory, asked: Iterator[Query], seconds: float) -> list[float]:
    taken, until = list[float](), time.perf_counter() + seconds
    while (began := time.perf_counter()) < until:
        memory.search(next(asked).text)
        taken.append(time.perf_counter() - began)
    return taken


def _row(name: str, taken: list[float]) -> list[str]:
    p50, p95 = 1000 * np.percentile(taken, (50, 95))
    return [name, f"{len(taken):,}", f"{p50:.0f} ms", f"{p95:.0f} ms"]


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.beside", description="Measures searches beside a worker.")
    parser.add_argument("messages", nargs="?", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60.0, help="of searches alone, and as long beside the worker")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
