"""Several threads, several processes, and a kill in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from recollect.compat.hierarchical import HierarchicalMemory
from tests.paths import ROOT

WRITER = """
import sys
from recollect import HierarchicalMemory
folder, first, step, count = sys.argv[1], *map(int, sys.argv[2:])
with HierarchicalMemory("agent", folder) as memory:
    for number in range(first, first + step * count, step):
        memory.store_fact(f"The dose is {1000 + number} mg", "Rex dose", temporal_metadata={"temporal_index": number})
        print(number, flush=True)
"""


def write(folder: Path, first: int, step: int, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(first), str(step), str(count)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )


def assert_one_chain(memory: HierarchicalMemory, count: int) -> None:
    data = memory.export_graph()
    index = {node["node_id"]: node["metadata"]["temporal_index"] for node in data["nodes"]}
    assert sorted(index.values()) == list(range(1, count + 1))
    for kind in ("TRANSITIONED_TO", "SUPERSEDES"):
        steps = [(index[e["source_id"]], index[e["target_id"]]) for e in data["edges"] if e["relationship"] == kind]
        assert sorted(steps) == [(i + 1, i) for i in range(1, count)]
    assert [node["state"] for node in data["nodes"]].count("live") == 1
    assert memory._space.check() == []


def test_threads_build_one_chain(tmp_path: Path) -> None:
    with HierarchicalMemory("agent", tmp_path) as memory, ThreadPoolExecutor(4) as threads:

        def store(number: int) -> str:
            return memory.store_fact(
                f"The dose is {1000 + number} mg", "Rex dose", temporal_metadata={"temporal_index": number}
            )

        list(threads.map(store, range(1, 25)))
        assert_one_chain(memory, 24)


def test_two_processes_build_one_chain(tmp_path: Path) -> None:
    writers = [write(tmp_path, first, 2, 12) for first in (1, 2)]
    for writer in writers:
        writer.communicate(timeout=120)
        assert writer.returncode == 0
    with HierarchicalMemory("agent", tmp_path) as memory:
        assert_one_chain(memory, 24)


def test_a_kill_loses_nothing_that_was_stored_and_leaves_nothing_half_done(tmp_path: Path) -> None:
    writer = write(tmp_path, 1, 1, 10_000)
    assert writer.stdout is not None
    told = 0
    for line in writer.stdout:
        told = int(line)
        if told == 15:
            break
    os.kill(writer.pid, signal.SIGKILL)
    rest = writer.stdout.read().split()
    writer.wait(timeout=30)
    told = int(rest[-1]) if rest else told
    with HierarchicalMemory("agent", tmp_path) as memory:
        count = memory.execute_aggregation("count_total")["count"]
        assert count in (told, told + 1)
        assert_one_chain(memory, count)
