"""Writing behind the answer: the reader has it at once, and whoever needs what was written waits for it first [2]."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from threading import Lock, local
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

#: What this process is writing behind answers, with the store and the namespace that it goes to.
_under_way: dict[Future[None], tuple[str, str]] = {}
_thread = local()  # in those that write behind answers it `writes`
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_under_way.clear)  # the parent's threads write, and are not in the child


def wait_for(location: str, namespace: str | None = None) -> None:
    """Waits until all that this process was given to write behind answers in a namespace of a store, or in all of them,
    is written or has failed. What went wrong is left for `settle` to raise. Whatever does the writing does not wait.
    """
    if not _under_way or hasattr(_thread, "writes"):
        return
    location = _real(location)
    for future, (store, name) in list(_under_way.items()):
        if store == location and namespace in (None, name):
            future.exception()


class TurnWriter:
    """Writes into a namespace, one after the other. Thread-safe. A process that is killed loses a turn that is not
    written yet, whole.
    """

    def __init__(self, location: str, namespace: str) -> None:
        self._place = _real(location), namespace
        self._lock = Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._waiting: list[tuple[str, Future[None]]] = []

    def write(self, conversation_id: str, work: Callable[[], None]) -> None:
        """Has it done as soon as may be, after all that was given before."""
        from concurrent.futures import ThreadPoolExecutor

        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(1, "recollect-turn", lambda: setattr(_thread, "writes", True))
            done = [one for one in self._waiting if one[1].done() and one[1].exception() is None]
            self._waiting = [one for one in self._waiting if one not in done]
            future = self._pool.submit(work)
            self._waiting.append((conversation_id, future))
            _under_way[future] = self._place
            future.add_done_callback(_under_way.pop)

    def settle(self, conversation_id: str | None = None) -> None:
        """Waits until what was given for a conversation, or for all, is written. Raises what went wrong with it."""
        with self._lock:
            waiting = [one for one in self._waiting if conversation_id in (None, one[0])]
        for _, future in waiting:
            future.exception()
        with self._lock:
            self._waiting = [one for one in self._waiting if one not in waiting]
        for _, future in waiting:
            future.result()

    def close(self) -> None:
        """Waits for everything. Raises what went wrong."""
        try:
            self.settle()
        finally:
            if self._pool is not None:
                self._pool.shutdown()
                self._pool = None


def _real(location: str) -> str:
    """One name for a file, whatever links lead to it."""
    return str(Path(location).resolve()) if Path(location).is_absolute() else location
