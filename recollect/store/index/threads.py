"""Threads that search: one search on all cores, and many of them by turns.

numpy and SQLite let other threads run while they work. So the blocks of a large snapshot are worked on side by side.
But of fifty searches each would wait for all others at each of its hundreds of steps; by turns, as many at a time as
there are cores, most are answered much sooner, and in all two to three times as many.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from recollect.processes import cores

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

T = TypeVar("T")
R = TypeVar("R")


class Turns:
    """So many turns, had in the order in which threads ask for them.

    Whoever is done hands the turn to the thread that has waited longest. With a semaphore a thread that asks again at
    once is faster than those that it wakes: of fifty a few would have all turns.
    """

    def __init__(self, many: int) -> None:
        self._free, self._lock = many, threading.Lock()
        self._waiting = deque[threading.Event]()
        self._held = threading.local()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Waits for a turn, and has it; a thread that has one already has no second one."""
        if getattr(self._held, "is_held", False):
            yield
            return
        self._take()
        self._held.is_held = True
        try:
            yield
        finally:
            self._held.is_held = False
            self._give()

    def _take(self) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            mine = threading.Event()
            self._waiting.append(mine)
        try:
            mine.wait()
        except BaseException:  # Ctrl-C
            with self._lock:
                is_ours = mine.is_set()
                if not is_ours:
                    self._waiting.remove(mine)
            if is_ours:
                self._give()
            raise

    def _give(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1


def turn(*, waits: bool = False) -> AbstractContextManager[None]:
    """Waits for a turn to search, and has it; who `waits` for a server meanwhile needs none.

    It comes before the view: who waited for a turn with a connection in hand would keep it from all others, those who
    write among them, and could wait for somebody who waits for it.
    """
    return nullcontext() if waits else _turns.turn()


def each(work: Callable[[T], R], items: Iterable[T], *, together: bool) -> list[R]:
    """What the work makes of each item, in order; `together` where it is worth the trouble of threads."""
    pool = _pool() if together else None
    return [work(item) for item in items] if pool is None else list(pool.map(work, items))


@cache
def _pool() -> ThreadPoolExecutor | None:
    from concurrent.futures import ThreadPoolExecutor

    many = min(cores(), 4)
    return ThreadPoolExecutor(many, thread_name_prefix="recollect-index") if many > 1 else None


def _begin() -> None:
    """All turns are free, and there are no threads: so it is in a forked child, which has none of its parent's."""
    global _turns
    _turns = Turns(max(cores(), 2))
    _pool.cache_clear()


_turns: Turns
_begin()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_begin)
