"""What was read in a view, kept for as long as nothing is written: what is asked often in a session is read once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from recollect.store.base import View

T = TypeVar("T")

_MOST = 64  # readings


class Kept:
    """The last reading of each name, of one space. What is kept is handed out again as it is: nobody may change it.
    Thread-safe.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, tuple[Hashable, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, view: View, name: Hashable, read: Callable[[], T]) -> T:
        """What a view says under a name: as it was read before, if nothing was written since."""
        stamp = view.stamp
        with self._lock:
            before = self._kept.pop(name, None)
            if before is not None and before[0] == stamp:
                self._kept[name] = before
                found: T = before[1]
                return found
        fresh = read()
        with self._lock:
            self._kept[name] = stamp, fresh
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)
        return fresh
