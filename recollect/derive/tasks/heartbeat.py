"""Leases that are held for as long as their work goes on, however long a model takes to answer."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from types import TracebackType

from recollect.errors import StoreError
from recollect.store import Lease, Space

_log = logging.getLogger("recollect.worker")


class Heartbeat:
    """Renews leases from a thread of its own, until its `with` ends. Killed with its process, it renews no more, and
    others take the tasks over.
    """

    def __init__(self, length: timedelta) -> None:
        self._length = length
        self._held: dict[int, tuple[Space, Sequence[Lease]]] = {}
        self._lock, self._end = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None
        self._last = 0

    def __enter__(self) -> Heartbeat:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        if self._thread is not None:
            self._thread.join()

    @contextmanager
    def holding(self, space: Space, leases: Sequence[Lease]) -> Iterator[None]:
        """Renews these leases for as long as the block runs. What was lost meanwhile is found out when it is used."""
        with self._lock:
            self._last += 1
            own = self._last
            self._held[own] = (space, leases)
            if self._thread is None:
                self._thread = threading.Thread(target=self._beat, name="recollect-leases", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(own, None)

    def _beat(self) -> None:
        while not self._end.wait(self._length.total_seconds() / 3):
            with self._lock:
                held = list(self._held.values())
            for space, leases in held:
                try:
                    space.renew(leases, self._length)
                except StoreError as problem:
                    _log.warning("Leases could not be renewed: %s", problem.message)
