"""Whether other processes of this machine are still there."""

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
