"""The process: works on the store that its environment names until nothing is due, and leaves no trace but its work."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from traceback import format_tb
from typing import TYPE_CHECKING

from recollect.errors import RecollectError
from recollect.memory.background.process import Lock, Taken, lock_file, rung
from recollect.memory.settings import Places, Settings, load_settings, own_places
from recollect.runtime.files import Place

if TYPE_CHECKING:
    from recollect.memory import Memory

NICENESS = 10

_STILL = 1.0  # seconds before it touches anything: what is thrown away at once is gone by then
_LOOK = 0.5  # seconds between two looks whether the store is still there
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
    except Exception as bug:  # its message may quote what was said
        _log.error("The worker has failed: %s\n%s", type(bug).__name__, "".join(format_tb(bug.__traceback__)))
        return 1
    return 0


def _work(settings: Settings, where: Places, stop: threading.Event, still_there: Callable[[], bool]) -> None:
    """Until nothing is due. Who wrote while the lock was held has started nobody, but has rung."""
    path = lock_file(settings.store, where.state)
    if not isinstance(settings.store, Path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    threading.Thread(target=_watch, args=(path, still_there), daemon=True).start()
    heard, again = 0, True

    def is_over(idle: float, next_attempt: float | None) -> bool:
        nonlocal heard
        now = rung(path)
        waits = next_attempt is not None and next_attempt < _WORTH_WAITING
        if idle > _LINGER and not waits and now == heard:
            return True
        heard = now
        return False

    while again and still_there() and not stop.is_set():
        with Lock(path), _opened(settings, where) as memory:
            _log.info("Working on %s", settings.store)
            _log.info("%s", memory.upkeep.work(stop=stop, is_over=is_over))
            _end_unless(still_there, path)
        again = heard != rung(path)


@contextmanager
def _opened(settings: Settings, where: Places) -> Iterator[Memory]:
    """The store as it is: where it has gone meanwhile, it is not made anew."""
    from recollect.engines import open_store
    from recollect.memory import Handle, Memory
    from recollect.models.embedding.choose import LazyEmbedder
    from recollect.models.embedding.encoder import MiniLM
    from recollect.models.language.budget import metered
    from recollect.models.language.choose import open_model

    model = open_model(settings.background_model, prices=where.prices, check=False)
    durable = settings.durable and model is not None  # what is derived can be derived again; answers are paid for
    store = open_store(settings.store, durable=durable, create=False)
    if model is not None:
        names = {"store": store.location, "namespace": settings.namespace}
        model = metered(model, where.data, settings.limits, prices=where.prices, **names)
    embedder = LazyEmbedder(settings.embedder)
    with Memory(Handle(store, embedder, settings.namespace, model=model, quality=lambda: MiniLM(threads=1))) as memory:
        yield memory


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


def _watch(path: Path, still_there: Callable[[], bool]) -> None:
    while True:
        time.sleep(_LOOK)
        _end_unless(still_there, path)


def _end_unless(still_there: Callable[[], bool], path: Path) -> None:
    """Where the store was removed or replaced, the process ends here and touches nothing: SQLite would, in closing,
    remove files by their names, which are another store's by now.
    """
    if still_there():
        return
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
