"""Threads that search: one search on all cores, and many of them by turns.

numpy and SQLite let other threads run while they work. So the blocks of a large snapshot are worked on side by side.
But of fifty searches each would wait for all others at each of its hundreds of steps; by turns, as many at a time as
there are cores, most are answered much sooner, and in all two to three times as many.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from recollect.processes import cores

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

T = TypeVar("T")
R = TypeVar("R")

_turns = threading.BoundedSemaphore(max(cores(), 2))
_held = threading.local()


@contextmanager
def turn() -> Iterator[None]:
    """Waits for a turn to search, and has it; a thread that has one already has no second one."""
    if getattr(_held, "is_held", False):
        yield
        return
    with _turns:
        _held.is_held = True
        try:
            yield
        finally:
            _held.is_held = False


def each(work: Callable[[T], R], items: Iterable[T], *, together: bool) -> list[R]:
    """What the work makes of each item, in order; `together` where it is worth the trouble of threads."""
    pool = _pool() if together else None
    return [work(item) for item in items] if pool is None else list(pool.map(work, items))


@cache
def _pool() -> ThreadPoolExecutor | None:
    from concurrent.futures import ThreadPoolExecutor

    many = min(cores(), 4)
    return ThreadPoolExecutor(many, thread_name_prefix="recollect-index") if many > 1 else None
