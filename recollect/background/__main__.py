"""The process: works on the store that its environment names until nothing is due, and leaves no trace but its work."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import NoReturn

from recollect.background.lock import Lock, Taken, lock_file
from recollect.errors import RecollectError
from recollect.place import Place
from recollect.settings import Places, Settings, load_settings, own_places

NICENESS = 10

_STILL = 1.0  # seconds before it touches anything: what is thrown away at once is gone by then
_LINGER = 5.0  # seconds that it stays when nothing is due
_WORTH_WAITING = 600.0  # seconds to the next attempt at something that failed
_LOG_BYTES = 256 << 10

_log = logging.getLogger("recollect.background")


def main() -> int:
    """Works, if nobody else does."""
    os.nice(NICENESS)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda number, frame: stop.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        where = own_places()
        settings = load_settings(where=where)
        if stop.wait(_STILL):
            return 0
        still_there = _watched(settings.store)
        if not still_there():
            return 0
        _log_to(where.state / "worker.log")
        with suppress(Taken):
            _work(settings, where, stop, still_there)
    except RecollectError as problem:
        _log.warning("%s", problem)
        return 1
    except Exception:
        _log.exception("The worker has failed")
        return 1
    return 0


def _work(settings: Settings, where: Places, stop: threading.Event, still_there: Callable[[], bool]) -> None:
    """Until nothing is due. Looks once more when the lock is free: who wrote while it was held has started nobody."""
    path = lock_file(settings.store, where.state)
    path.parent.mkdir(mode=0o700, parents=not isinstance(settings.store, Path), exist_ok=True)
    again = True
    while again and still_there() and not stop.is_set():
        from recollect.background.shift import opened

        with opened(settings, where, stop, still_there) as shift:
            with Lock(path):
                _log.info("Working on %s", settings.store)
                done = shift.run(lambda idle: _is_over(idle, still_there, shift.next_attempt()))
                _log.info("%s", done)
            if not still_there():
                _vanish(path)
            again = not stop.is_set() and shift.is_due_now()


def _is_over(idle: float, still_there: Callable[[], bool], next_attempt: float | None) -> bool:
    if not still_there():
        return True
    return idle > _LINGER and (next_attempt is None or next_attempt > _WORTH_WAITING)


def _watched(place: Place) -> Callable[[], bool]:
    """Tells whether the store is still the one that it was. Of a server there is nothing to be seen."""
    if not isinstance(place, Path):
        return lambda: True
    began = _identity(place)
    return lambda: began is not None and _identity(place) == began


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _vanish(path: Path) -> NoReturn:
    """The store was removed or replaced: nothing more is touched. SQLite would, in closing, remove files by their names
    that are another store's by now.
    """
    with suppress(OSError):
        if not path.with_name(path.name.removesuffix("-worker")).exists():
            path.unlink()
    logging.shutdown()
    os._exit(0)


def _log_to(path: Path) -> None:
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler = RotatingFileHandler(path, maxBytes=_LOG_BYTES, backupCount=1, encoding="utf-8")
        handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(message)s"))
        logger = logging.getLogger("recollect")
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logging.Formatter.converter = time.gmtime


if __name__ == "__main__":
    sys.exit(main())
