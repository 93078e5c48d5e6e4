"""Many searches at once, by turns: as many as there are cores compute, the others wait.

numpy and SQLite let other threads run at each of their hundreds of steps, and of fifty searches each would then wait
for all others at each of them. By turns most are answered much sooner, and in all two to three times as many.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from recollect.processes import cores

_LEAST = 2

_turns = threading.BoundedSemaphore(max(cores(), _LEAST))
_held = threading.local()


@contextmanager
def turn() -> Iterator[None]:
    """Waits for a turn, and has it; a thread that has one already has no second one."""
    if getattr(_held, "is_held", False):
        yield
        return
    with _turns:
        _held.is_held = True
        try:
            yield
        finally:
            _held.is_held = False
