"""Connections to one SQLite file: WAL, one writer at a time, readers that are lent connections, errors in our words.

Connections are lent for a transaction and come back, whatever thread asks and ends: a thousand threads need no more of
them than read at the same time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import apsw
import orjson

from recollect.engines.sqlite import file
from recollect.engines.sqlite.file import has_log, immutable_uri, prepare, read_only_uri, without_index_uri
from recollect.engines.sqlite.schema import NEWEST, is_foreign, migrate, require, version
from recollect.errors import RecollectError, StoreError, StoreUnusable


def fold(*texts: Any) -> str:
    """A text for comparing, whatever the case: its only argument."""
    return str(texts[0]).casefold()


def words_held(*values: Any) -> int:
    """How many words a text holds: its arguments are the text and a JSON list of folded words."""
    text, words = values
    folded = fold(text)
    return sum(word in folded for word in orjson.loads(words))


def add_functions(connection: apsw.Connection) -> None:
    """Makes them known by their names."""
    connection.create_scalar_function("fold", fold, 1, deterministic=True)
    connection.create_scalar_function("words_held", words_held, 2, deterministic=True)


#: Before this version a database in WAL mode could be damaged by two connections (the WAL-reset bug).
OLDEST_SQLITE = (3, 51, 3)

_PATIENCE = 2.0  # seconds of waiting before somebody is told
_IDLE = 8  # connections that are kept for the next reader
_MOST = 48  # that are lent at once; further threads wait
_LOOKING = 10.0  # seconds that an error may wait for the file to be checked
_STEPS = 10_000  # of SQLite, after which the time is looked at
_CLOSING = 10.0  # seconds for what is under way when the store is closed
_TO_READ = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI

JOURNAL = "PRAGMA journal_mode = WAL"
SYNCHRONOUS = {True: "PRAGMA synchronous = FULL", False: "PRAGMA synchronous = NORMAL"}
FOREIGN_KEYS = "PRAGMA foreign_keys = ON"
SECURE_DELETE = "PRAGMA secure_delete = ON"  # what is deleted is overwritten
IN_MEMORY = "PRAGMA temp_store = MEMORY"
ON_DISK = "PRAGMA temp_store = FILE"
LOG_LIMIT = "PRAGMA journal_size_limit = 67108864"
READER_CACHE = "PRAGMA cache_size = -8192"
WRITER_CACHE = "PRAGMA cache_size = -65536"
CHECKPOINT_AFTER = "PRAGMA wal_autocheckpoint = 2000"
FIRST_DAMAGE = "PRAGMA integrity_check(1)"
CAN_READ = "SELECT count(*) FROM sqlite_schema"


class Room:
    """What the connections of this process to one file have to know of each other.

    A disk may have no room for what SQLite lays beside a file in order to read its log. It can be read all the same:
    SQLite then keeps in memory what does not fit. But connections of one process share it, so that none can write that
    is opened while such a one is open, not even when there is room again.
    """

    def __init__(self) -> None:
        self.opening = threading.Lock()  #: Held while one is opened, and while `readers` is changed.
        self.readers = 0  #: How many read without what does not fit.


_rooms = WeakValueDictionary[Path, Room]()
_looking = threading.Lock()


def room_of(path: Path) -> Room:
    """The one of a file, whoever asks."""
    with _looking:
        return _rooms.setdefault(path.resolve(), Room())


class Database:
    """One file, opened as often as threads need it.

    `wait` is for how many seconds a write waits for another process; `on_wait` is called once when that takes long.
    `durable=False` trades the last transactions before a power cut for speed (never the file's health).
    """

    def __init__(
        self,
        path: Path,
        *,
        wait: float = 120.0,
        on_wait: Callable[[], None] | None = None,
        durable: bool = True,
        create: bool = True,
    ) -> None:
        if tuple(map(int, apsw.sqlite_lib_version().split("."))) < OLDEST_SQLITE:
            raise StoreError(
                f"SQLite {apsw.sqlite_lib_version()} is too old to be safe.", hint="Update it: pip install -U apsw"
            )
        self.path = path
        self._wait, self._on_wait, self._durable = wait, on_wait, durable
        self._changed = threading.Condition()
        self._idle: list[apsw.Connection] = []
        self._lent: dict[int, tuple[apsw.Connection | None, int]] = {}  # by a number: the connection, and the thread
        self._room, self._without_room = room_of(path), set[int]()  # of these: those that read on a full disk
        self._lending = 0
        self._asking = list[object]()  # who waits for one, in order
        self._writing = threading.Lock()
        self._writer: apsw.Connection | None = None
        self._closed = False
        self._immutable = False
        self.read_only = not prepare(path, create=create)
        #: Whether an older version's store was brought to this one's form when it was opened.
        self.migrated = False
        try:
            with self.told():
                self._open_first()
        except apsw.SQLError as problem:  # tables are missing, or of another form
            self.close()
            raise file.damaged(path) from problem
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """One consistent view of the file."""
        with self.told(), self.lent() as connection:
            connection.execute("BEGIN")
            try:
                self._require(connection)
                yield connection
            finally:
                _end(connection)

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """One transaction: committed and durable at the end, or as if it had never been."""
        with self.told(), self.alone() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._require(connection)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                _end(connection)
                raise

    @contextmanager
    def alone(self) -> Iterator[apsw.Connection]:
        """The connection that writes, for one thread of this process at a time, in no transaction."""
        if self.read_only:
            raise file.read_only(self.path)
        if not self._writing.acquire(timeout=self._wait):
            raise file.busy(self.path, self._wait)
        try:
            if self._closed:
                raise file.closed()
            if self._writer is None:
                self._writer = self._connect_writer()
                self._writer.execute(WRITER_CACHE)
                self._writer.execute(CHECKPOINT_AFTER)
            yield self._writer
        finally:
            self._writing.release()

    @contextmanager
    def lent(self) -> Iterator[apsw.Connection]:
        """A connection in no transaction."""
        number, connection = self._lend()
        try:
            yield connection
        finally:
            self._take_back(number, connection)

    @contextmanager
    def impatient(self, connection: apsw.Connection) -> Iterator[None]:
        """A connection waits for nobody."""
        connection.set_busy_handler(None)
        try:
            yield
        finally:
            connection.set_busy_handler(self._patience())

    @contextmanager
    def told(self) -> Iterator[None]:
        """Says in our words what SQLite complains of."""
        try:
            yield
        except apsw.Error as problem:
            if self._closed:
                raise file.closed() from problem
            said = file.told(problem, self.path, self._wait)
            if said is None and self._is_damaged():
                said = file.damaged(self.path)
            if said is None:
                raise
            raise said from problem
        except UnicodeDecodeError as problem:  # flipped bytes in a text
            raise file.damaged(self.path) from problem
        except file.MISREAD as problem:
            if isinstance(problem, RecollectError) or not self._is_damaged():
                raise
            raise file.damaged(self.path) from problem

    def close(self) -> None:
        """Closes all connections. What is being written ends first; what others read fails with StoreError."""
        with self._changed:
            self._closed = True
            idle, self._idle = self._idle, []
            self._changed.notify_all()
        for connection in idle:
            connection.close()
        if self._writing.acquire(timeout=_CLOSING):
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            self._writing.release()
        self._close_lent()

    def _is_damaged(self) -> bool:
        """Whether SQLite finds the file damaged. A file that takes longer to read than we look counts as whole."""
        until = time.monotonic() + _LOOKING
        with self.lent() as connection:
            connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
            try:
                return bool(connection.execute(FIRST_DAMAGE).get != "ok")
            except apsw.InterruptError:
                return False
            except (apsw.Error, UnicodeDecodeError):
                return True
            finally:
                connection.set_progress_handler(None)

    # --- lending ---------------------------------------------------------------------------------------------------
    def _lend(self) -> tuple[int, apsw.Connection]:
        thread = threading.get_ident()
        until = time.monotonic() + self._wait
        with self._changed:
            self._wait_for_one(thread, until)
            if self._closed:
                raise file.closed()
            self._lending += 1
            number = self._lending
            connection = self._idle.pop() if self._idle else None
            self._lent[number] = (connection, thread)
        if connection is None:
            try:
                connection = self._connect_reader(number)
                connection.execute(READER_CACHE)
            except BaseException:
                with self._changed:
                    self._lent.pop(number, None)
                    self._changed.notify_all()
                self._end_without_room(number)
                raise
            with self._changed:
                self._lent[number] = (connection, thread)
        return number, connection

    def _wait_for_one(self, thread: int, until: float) -> None:
        """Waits until one may be lent, in the order in which threads ask: who asks again at once would else be faster
        than those who wait.
        """
        # A thread that has one already gets a second: it would else wait for itself.
        if thread in {t for _, t in self._lent.values()}:
            return
        place = object()
        self._asking.append(place)
        try:
            while not self._closed and (len(self._lent) >= _MOST or self._asking[0] is not place):
                if not self._changed.wait(max(0.0, until - time.monotonic())) and time.monotonic() >= until:
                    raise file.busy(self.path, self._wait)
        finally:
            self._asking.remove(place)
            self._changed.notify_all()

    def _take_back(self, number: int, connection: apsw.Connection) -> None:
        with self._changed:
            self._lent.pop(number, None)
            passing = self._immutable or number in self._without_room
            keep = not self._closed and not passing and len(self._idle) < _IDLE
            if keep:
                self._idle.append(connection)
            self._changed.notify_all()
        if not keep:
            connection.close()
            self._end_without_room(number)

    def _close_lent(self) -> None:
        """Stops what other threads read; their next statement, or this one, finds the connection closed."""
        until = time.monotonic() + _CLOSING
        own = threading.get_ident()
        while time.monotonic() < until:
            with self._changed:
                others = [c for c, thread in self._lent.values() if thread != own]
            if not others:
                return
            for connection in others:
                if connection is None:
                    continue
                try:
                    connection.interrupt()
                    connection.close()
                except apsw.Error:  # a statement is under way: it ends now
                    continue
                with self._changed:
                    self._lent = {n: lent for n, lent in self._lent.items() if lent[0] is not connection}
            time.sleep(0.001)

    # --- opening ---------------------------------------------------------------------------------------------------
    def _open_first(self) -> None:
        with self.lent() as connection:
            if is_foreign(connection):
                raise file.no_store(self.path)
            if self.read_only:
                found = version(connection)
                require(connection, found)
                if found < NEWEST:
                    raise StoreError(
                        f"{self.path} was written by an older Recollect and has to be upgraded, but it is read-only.",
                        hint="Copy it to a writable place, and open it there.",
                    )
                return
            if self._without_room and version(connection) < NEWEST:
                raise file.full(self.path)
            self.migrated = migrate(connection)

    def _connect(self) -> apsw.Connection:
        if self.read_only:
            return self._connect_read_only()
        connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)  # one that was removed stays so
        try:
            connection.set_busy_handler(self._patience())
            if is_foreign(connection):  # before a pragma writes to it
                raise file.no_store(self.path)
            add_functions(connection)
            for pragma in (JOURNAL, SYNCHRONOUS[self._durable], FOREIGN_KEYS, SECURE_DELETE, IN_MEMORY, LOG_LIMIT):
                connection.execute(pragma)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect_reader(self, number: int) -> apsw.Connection:
        """One that reads, also where the disk is full: it is given up after use then."""
        with self._opening():
            connection = self._connect_with_room()
            if connection is None:
                connection = self._connect_without_room()
                self._room.readers += 1
                self._without_room.add(number)
            return connection

    def _connect_writer(self) -> apsw.Connection:
        with self._opening():
            connection = self._connect_with_room()
        if connection is None:
            raise file.full(self.path)
        return connection

    @contextmanager
    def _opening(self) -> Iterator[None]:
        """One at a time; who waits too long for somebody who waits for another process waits for that, too."""
        if not self._room.opening.acquire(timeout=self._wait):
            raise file.busy(self.path, self._wait)
        try:
            yield
        finally:
            self._room.opening.release()

    def _connect_with_room(self) -> apsw.Connection | None:
        """None where the disk is full, or was so for a reader that is still open."""
        if self._room.readers:
            return None
        try:
            return self._connect()
        except apsw.IOError as problem:
            if file.has_no_room(problem):
                return None
            raise

    def _connect_without_room(self) -> apsw.Connection:
        return self._prepared(apsw.Connection(without_index_uri(self.path), flags=_TO_READ))

    def _end_without_room(self, number: int) -> None:
        if number in self._without_room:
            with self._room.opening:
                self._without_room.remove(number)
                self._room.readers -= 1

    def _connect_read_only(self) -> apsw.Connection:
        connection = apsw.Connection(read_only_uri(self.path), flags=_TO_READ)
        try:
            return self._prepared(connection)
        except (apsw.CantOpenError, apsw.ReadOnlyError) as problem:  # WAL wants to lay its index beside the file
            if has_log(self.path):
                raise StoreError(
                    f"{self.path} was not closed properly, and its log cannot be read on a read-only disk.",
                    hint="Copy it together with its -wal file to a writable place, and open it there.",
                ) from problem
        connection = apsw.Connection(immutable_uri(self.path), flags=_TO_READ)
        self._immutable = True
        add_functions(connection)
        return connection

    def _prepared(self, connection: apsw.Connection) -> apsw.Connection:
        """One that reads and does not write; closed where it cannot."""
        try:
            connection.set_busy_handler(self._patience())
            connection.execute(CAN_READ)
            connection.execute(IN_MEMORY)
            add_functions(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _require(self, connection: apsw.Connection) -> None:
        found = version(connection)
        if found != NEWEST:
            require(connection, found)
            raise StoreUnusable(f"{self.path} was replaced by an older store.", hint="Open it again.")

    def _patience(self) -> Callable[[int], bool]:
        """What a connection does while another one is in its way. The state is the connection's own."""
        began, told = 0.0, False

        def wait(tries: int) -> bool:
            nonlocal began, told
            now = time.monotonic()
            if tries == 0:
                began, told = now, False
            if self._closed or now - began > self._wait:
                return False
            if now - began > _PATIENCE and not told and self._on_wait is not None:
                told = True
                self._on_wait()
            time.sleep(min(0.001 * 2 ** min(tries, 6), 0.05))
            return True

        return wait


def _end(connection: apsw.Connection) -> None:
    """Leaves a transaction without a trace; it may have ended, or its connection been closed."""
    try:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    except (apsw.ConnectionClosedError, apsw.InterruptError):
        return
