"""Ctrl-C for commands that go on until they are told to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


@contextmanager
def interrupted() -> Iterator[threading.Event]:
    """Set by the first Ctrl-C or SIGTERM: what is under way comes to its end. A second one ends everything at once."""
    told = threading.Event()

    def tell(number: int, frame: object) -> None:
        if told.is_set():
            raise KeyboardInterrupt
        told.set()

    before: dict[int, Any] = {}
    with suppress(ValueError):  # not in the main thread
        before = {number: signal.signal(number, tell) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
