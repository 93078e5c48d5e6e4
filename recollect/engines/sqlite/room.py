"""A disk that has no room for what SQLite lays beside a file in order to read its log.

It can be read all the same: SQLite then keeps in memory what does not fit. But connections of one process share it, so
that none can write that is opened while such a one is open, not even when there is room again.
"""

from __future__ import annotations

import threading
from pathlib import Path
from weakref import WeakValueDictionary


class Room:
    """What the connections of this process to one file have to know of each other."""

    def __init__(self) -> None:
        self.opening = threading.Lock()  #: Held while one is opened, and while `readers` is changed.
        self.readers = 0  #: How many read without what does not fit.


_rooms = WeakValueDictionary[Path, Room]()
_looking = threading.Lock()


def room_of(path: Path) -> Room:
    """The one of a file, whoever asks."""
    with _looking:
        return _rooms.setdefault(path.resolve(), Room())
