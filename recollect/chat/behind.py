"""Writing behind the answer: the reader has it at once, and whoever needs what was written waits for it first [2]."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock

from recollect.record import NodeId


class Behind:
    """Writes one after the other. Thread-safe. A process that is killed loses a turn that is not written yet, whole."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._waiting: dict[NodeId, Future[None]] = {}

    def write(self, conversation_id: NodeId, work: Callable[[], None]) -> None:
        """Has it done as soon as may be, after all that was given before."""
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(1, "recollect-turn")
            self._waiting[conversation_id] = self._pool.submit(work)

    def settle(self, conversation_id: NodeId | None = None) -> None:
        """Waits until what was given for a conversation, or for all, is written. Raises what went wrong with it."""
        with self._lock:
            if conversation_id is None:
                waiting = list(self._waiting.items())
            else:
                known = self._waiting.get(conversation_id)
                waiting = [(conversation_id, known)] if known is not None else []
        try:
            for _, future in waiting:
                future.result()
        finally:
            with self._lock:
                for own, future in waiting:
                    if self._waiting.get(own) is future:
                        del self._waiting[own]

    def wait(self) -> None:
        """Waits until all that was given is written or has failed. What went wrong is left for `settle` to raise."""
        with self._lock:
            waiting = list(self._waiting.values())
        wait(waiting)

    def close(self) -> None:
        """Waits for everything. Raises what went wrong."""
        try:
            self.settle()
        finally:
            if self._pool is not None:
                self._pool.shutdown()
                self._pool = None
