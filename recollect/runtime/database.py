"""Small files of SQLite that belong to a user rather than to a memory: what is spent, what is not recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

_BUSY_MILLISECONDS = 10_000


@contextmanager
def own_database(path: Path) -> Iterator[apsw.Connection]:
    """A connection to a file that only its user can read, made where it is missing; closed at the end.

    Waits ten seconds for other processes. Raises OSError and apsw.Error.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.touch(mode=0o600)
    db = apsw.Connection(str(path))
    try:
        db.set_busy_timeout(_BUSY_MILLISECONDS)
        yield db
    finally:
        db.close()
