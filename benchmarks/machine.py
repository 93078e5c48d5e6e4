"""The machine that a figure was measured on, and the clock and memory of this process."""

from __future__ import annotations

import os
import platform
import resource
import sys
from importlib.metadata import version
from pathlib import Path

_PACKAGES = ("recollect", "apsw", "numpy", "onnxruntime", "tokenizers")


def machine() -> dict[str, str | int]:
    """Cores, processor, system, versions."""
    packages = {name: version(name) for name in _PACKAGES}
    return {"cores": _cores(), "processor": _processor(), "system": platform.platform(terse=True),
            "python": platform.python_version(), **packages}  # fmt: skip


def peak_memory() -> int:
    """The most memory that this process has held, in bytes.

    Linux's own counter, where there is one: `ru_maxrss` of a child begins with what its parent held.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held if sys.platform == "darwin" else held * 1024


def own_memory() -> int:
    """Bytes that this process holds by itself now: without pages of mapped files, which the system can drop."""
    rollup = Path("/proc/self/smaps_rollup")
    if rollup.exists():
        for line in rollup.read_text().splitlines():
            if line.startswith("Anonymous:"):
                return int(line.split()[1]) * 1024
    return peak_memory()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
