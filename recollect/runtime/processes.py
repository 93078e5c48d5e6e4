"""What a process may know of its machine: whether others are still there, and how many cores it may use."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext


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


# Threads that search, by turns.


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


def _begin() -> None:
    """All turns are free: so it is in a forked child, which has none of its parent's threads."""
    global _turns
    _turns = Turns(max(cores(), 2))


_turns: Turns
_begin()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_begin)
