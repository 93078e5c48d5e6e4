"""Small disks of a test's own, to be filled up."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs a small disk of its own: root"
)


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """An empty disk of this size, at a new folder."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path, *, leave: int = 0) -> Path:
    """Fills a disk up, but for so many bytes (none where that is less than nothing); returns the file that does."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        free = os.statvfs(disk)
        for _ in range(free.f_bavail * free.f_frsize - max(0, leave) >> 12):
            file.write(bytes(1 << 12))
    return filler
