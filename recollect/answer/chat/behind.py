"""Writing behind the answer: the reader has it at once, and whoever needs what was written waits for it first [2]."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock
from weakref import WeakSet

from recollect.record import NodeId


class TurnWriters:
    """What writes behind the answers of all handles on one store. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._each: WeakSet[TurnWriter] = WeakSet()

    def behind(self) -> TurnWriter:
        """For one more handle."""
        with self._lock:
            self._each.add(made := TurnWriter())
        return made

    def wait(self) -> None:
        """Waits until all that was given is written or has failed."""
        with self._lock:
            each = list(self._each)
        for behind in each:
            behind.wait()


class TurnWriter:
    """Writes one after the other. Thread-safe. A process that is killed loses a turn that is not written yet, whole."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._waiting: list[tuple[NodeId, Future[None]]] = []

    def write(self, conversation_id: NodeId, work: Callable[[], None]) -> None:
        """Has it done as soon as may be, after all that was given before."""
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(1, "recollect-turn")
            done = [one for one in self._waiting if one[1].done() and one[1].exception() is None]
            self._waiting = [one for one in self._waiting if one not in done]
            self._waiting.append((conversation_id, self._pool.submit(work)))

    def settle(self, conversation_id: NodeId | None = None) -> None:
        """Waits until what was given for a conversation, or for all, is written. Raises what went wrong with it."""
        with self._lock:
            waiting = [one for one in self._waiting if conversation_id in (None, one[0])]
        wait([future for _, future in waiting])
        with self._lock:
            self._waiting = [one for one in self._waiting if one not in waiting]
        for _, future in waiting:
            future.result()

    def wait(self) -> None:
        """Waits until all that was given is written or has failed. What went wrong is left for `settle` to raise."""
        with self._lock:
            waiting = [future for _, future in self._waiting]
        wait(waiting)

    def close(self) -> None:
        """Waits for everything. Raises what went wrong."""
        try:
            self.settle()
        finally:
            if self._pool is not None:
                self._pool.shutdown()
                self._pool = None
