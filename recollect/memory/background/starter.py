"""When a handle leaves a worker behind: some seconds after it has written, and when it is closed."""

from __future__ import annotations

import logging
import threading

from recollect.errors import RecollectError
from recollect.memory.settings import load_settings
from recollect.runtime.files import Place

_AFTER = 5.0  # seconds after the first write, and between two starts

_log = logging.getLogger("recollect.background")


class Starter:
    """Of one handle. `wanted` None: as the settings say. Nothing that goes wrong here reaches who writes."""

    def __init__(self, place: Place, *, embedder: str, durable: bool, wanted: bool | None = None) -> None:
        self._place, self._embedder, self._durable, self._wanted = place, embedder, durable, wanted
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._written = False

    def wrote(self) -> None:
        """Something was written: there is work."""
        if self._wanted is False:
            return
        with self._lock:
            self._written = True
            if self._timer is None:
                self._timer = threading.Timer(_AFTER, self._start)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """The handle is closed; what was written since the last start is work for somebody else."""
        with self._lock:
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        self._start()

    def _start(self) -> None:
        with self._lock:
            written, self._written, self._timer = self._written, False, None
        if not written:
            return
        try:
            if self._wanted is None:
                self._wanted = load_settings().background
            if self._wanted:
                from recollect.memory.background.process import start

                start(self._place, embedder=self._embedder, durable=self._durable)
        except (RecollectError, OSError, RuntimeError) as problem:  # RuntimeError: Python is ending, or has no home
            _log.info("No background worker: %s", problem)
