"""What the benchmarks of a server begin with: a memory of made-up messages, and `recollect serve` over it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import recollect
from benchmarks.generator import write_openai


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers: where, and the number of its process."""

    address: str
    pid: int

    @property
    def port(self) -> int:
        """The last part of its address."""
        return int(self.address.rpartition(":")[2])


def made(folder: Path, messages: int) -> Path:
    """A memory of so many messages in a folder."""
    export, store = folder / "export.jsonl", folder / "memory.db"
    write_openai(export, messages)
    with recollect.open(store, durable=False, background=False) as memory:
        memory.import_file(export)
    return store


@contextmanager
def served(store: Path, home: Path, **environment: str) -> Iterator[Server]:
    """`recollect serve` over a memory, for as long as the `with` lasts, with a home and settings of its own."""
    settings = {"RECOLLECT_HOME": str(home), "RECOLLECT_BACKGROUND": "0", **environment}
    with started(["recollect", "serve", "--port", "0", "--json", "--store", str(store)], **settings) as server:
        yield server


@contextmanager
def started(module: list[str], **environment: str) -> Iterator[Server]:
    """A Python module in a process of its own, for as long as the `with` lasts. It first prints a JSON document with
    its `address`. Raises RuntimeError where it ends before.
    """
    command = [sys.executable, "-m", *module]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}) as process:
        assert process.stdout is not None
        told = ""
        try:
            while not told.rstrip().endswith("}"):
                line = process.stdout.readline()
                if not line:
                    raise RuntimeError(f"{' '.join(module)} did not start")
                told += line
            yield Server(json.loads(told)["address"], process.pid)
        finally:
            process.terminate()
            process.wait(30)
