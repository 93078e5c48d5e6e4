"""Connections to one SQLite file: WAL, one writer at a time, a reader a thread, and errors in our own words."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from recollect.errors import StoreBusy, StoreError
from recollect.store.sqlite.migrations import is_foreign, migrate

#: Before this version a database in WAL mode could be damaged by two connections (the WAL-reset bug).
OLDEST_SQLITE = (3, 51, 3)

_PATIENCE = 2.0  # seconds of waiting before somebody is told


class Database:
    """One file, opened as often as threads need it.

    `wait` is for how many seconds a write waits for another process; `on_wait` is called once when that takes long.
    `durable=False` trades the last transactions before a power cut for speed (never the file's health).
    """

    def __init__(
        self, path: Path, *, wait: float = 120.0, on_wait: Callable[[], None] | None = None, durable: bool = True
    ) -> None:
        if tuple(map(int, apsw.sqlite_lib_version().split("."))) < OLDEST_SQLITE:
            raise StoreError(
                f"SQLite {apsw.sqlite_lib_version()} is too old to be safe.", hint="Update it: pip install -U apsw"
            )
        self.path = path
        self._wait, self._on_wait, self._durable = wait, on_wait, durable
        self._local = threading.local()
        self._open: list[apsw.Connection] = []
        self._guard = threading.Lock()
        self._writing = threading.RLock()
        self._closed = False
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(mode=0o600)  # conversations are nobody else's; the files that SQLite lays beside it follow
        except OSError as problem:
            raise StoreError(f"{path} cannot be made: {problem.strerror}.") from problem
        with self._said():
            migrate(self.connection())

    def connection(self) -> apsw.Connection:
        """The connection of this thread."""
        if self._closed:
            raise StoreError("This memory is closed.", hint="Open it again with recollect.open().")
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._connect()
            self._local.connection = connection
            with self._guard:
                self._open.append(connection)
        return connection

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """One consistent view of the file."""
        connection = self.connection()
        with self._said():
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """One transaction: committed and durable at the end, or as if it had never been."""
        connection = self.connection()
        with self._writing, self._said():
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def close(self) -> None:
        """Closes every thread's connection."""
        with self._guard:
            self._closed = True
            for connection in self._open:
                connection.close()
            self._open.clear()

    def _connect(self) -> apsw.Connection:
        with self._said():
            connection = apsw.Connection(str(self.path))
            connection.set_busy_handler(self._busy)
            if is_foreign(connection):
                raise self._no_store()
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'NORMAL'}")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA cache_size = -65536")
            connection.execute("PRAGMA temp_store = MEMORY")
            return connection

    def _busy(self, tries: int) -> bool:
        began = getattr(self._local, "busy_since", None)
        now = time.monotonic()
        if tries == 0 or began is None:
            self._local.busy_since, self._local.told = now, False
            began = now
        if now - began > self._wait:
            return False
        if now - began > _PATIENCE and not self._local.told and self._on_wait is not None:
            self._local.told = True
            self._on_wait()
        time.sleep(min(0.001 * 2 ** min(tries, 6), 0.05))
        return True

    def _no_store(self) -> StoreError:
        return StoreError(
            f"{self.path} is not a Recollect store.", hint="Choose another place with RECOLLECT_HOME or --store."
        )

    @contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except apsw.BusyError as problem:
            raise StoreBusy(
                f"Another process has been writing to {self.path} for {self._wait:.0f} s.", hint="Try again later."
            ) from problem
        except apsw.NotADBError as problem:
            raise self._no_store() from problem
        except apsw.CorruptError as problem:
            raise StoreError(
                f"{self.path} is damaged.", hint="recollect check says what; a copy is your last backup or export."
            ) from problem
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError) as problem:
            raise StoreError(f"{self.path} cannot be opened for writing: {problem}.") from problem
        except (apsw.FullError, apsw.IOError) as problem:
            raise StoreError(
                f"{self.path} could not be written: {problem}.", hint="Is the disk full? What was acknowledged is safe."
            ) from problem
