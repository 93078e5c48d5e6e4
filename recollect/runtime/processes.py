"""What a process may know of its machine: whether others are still there, and how many cores it may use."""

from __future__ import annotations

import os


def has_ended(process: int) -> bool:
    """Whether no process has this number any more. Where that cannot be told, one has."""
    if os.name != "posix":
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False
    return False


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
