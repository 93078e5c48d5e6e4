"""The way to a Neo4j server: one driver, short waits, writes that are tried again, and errors in our own words."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, LiteralString, TypeVar, cast

import neo4j
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    DatabaseError,
    DriverError,
    IncompleteCommit,
    Neo4jError,
    ResultFailedError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from recollect.errors import InvalidInput, RecollectError, StoreBusy, StoreError, StoreUnusable
from recollect.runtime.files import read_address

#: Vectors beside full text, dynamic labels and OPTIONAL CALL: what the statements here need.
OLDEST_SERVER = (5, 26)

COMPONENTS = "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions[0] AS version"

_CONNECT_SECONDS = 2.5  # to each address of a name
_ANSWER_SECONDS = 3.5  # to all of them, and for the first words: nobody waits longer to hear that nobody is there
_RETRY_SECONDS = 2.0  # the driver tries again after 1 s and 3 s: who waits for a lock does so for longer, see below
_PATIENCE = 2.0  # seconds of waiting for a lock before somebody is told
_LONGEST_WRITE = 600.0
_LONGEST_READ = 3600.0  # a view that an export reads from stays open as long
_PAUSE = 0.2
_FAREWELL = 10.0  # seconds that closing leaves other threads to finish the statement they are in

# What the driver logs is told as errors; where nobody listens, Python would print it beside them.
logging.getLogger("neo4j").addHandler(logging.NullHandler())

T = TypeVar("T")
Work = Callable[[neo4j.ManagedTransaction], T]


class Server:
    """A Neo4j server or cluster. The database is the path of the address: neo4j://host:7687/name.

    `auth` is (user, password); else they are taken from the address, else nobody is asked. `wait` and `on_wait` are as
    for every engine: seconds that a write waits for another one, and who is told when that takes long.
    """

    def __init__(
        self,
        address: str,
        auth: tuple[str, str] | None = None,
        *,
        wait: float = 120.0,
        on_wait: Callable[[], None] | None = None,
    ) -> None:
        at = read_address(address)
        self._host, self._database, self.location = at.server, at.database, str(at)
        if auth is None and at.user:
            auth = (at.user, at.password or "")
        self._wait, self._on_wait = wait, on_wait
        self._writing = threading.RLock()  # one writer a process: the driver has a race after dead locks (NEO4J 5)
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager()
        self._closed = False
        self._users = list[int]()  # the threads that are using a session, once for each
        self._changed = threading.Condition()
        self._driver = self._connect(auth)
        try:
            with self._said():
                self._driver.verify_connectivity()  # at once, where a query would be tried again and again
                self.version = self._version()
        except BaseException:
            self._driver.close()
            raise

    def read(self, work: Work[T]) -> T:
        """One short transaction that reads. The work may run more than once."""
        with self._said(), self._session(neo4j.READ_ACCESS) as session:
            return session.execute_read(work)

    @contextmanager
    def reading(self, first: LiteralString, **values: Any) -> Iterator[tuple[neo4j.Transaction, neo4j.Record]]:
        """One transaction that reads, for as long as the block lasts, with the only record of its first statement.

        Errors of the server within the block are told in our words.
        """
        with self._said(), self._session(neo4j.READ_ACCESS) as session:
            tx, record = self._begun(session, first, values)
            try:
                yield cast(neo4j.Transaction, _UntilClosed(tx, self)), record
            finally:
                with suppress(DriverError, Neo4jError):  # nothing was written: what matters was told already
                    tx.close()

    def write(self, work: Work[T]) -> T:
        """One transaction that writes: committed and durable at the end, or as if it had never been.

        The work may run more than once.
        """
        limited = neo4j.unit_of_work(timeout=max(self._wait, _LONGEST_WRITE))(work)
        with self._writing, self._said():
            return self._insisting(limited)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While the block waits for the lock of others, `on_wait` is told."""
        if self._on_wait is None:
            yield
            return
        timer = threading.Timer(_PATIENCE, self._on_wait)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def run(self, statement: LiteralString, **values: Any) -> None:
        """A statement that opens its own transactions (schema, IN TRANSACTIONS)."""
        with self._said(), self._session(neo4j.WRITE_ACCESS) as session:
            session.run(statement, values).consume()

    def close(self) -> None:
        """Closes all connections. Threads that are reading are told so at their next statement.

        A connection must not be closed under a thread that waits for an answer on it: it could wait for ever.
        """
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: set(self._users) <= {threading.get_ident()}, _FAREWELL)
        with suppress(Exception):  # whoever is still reading is told below
            self._driver.close()

    def require_open(self) -> None:
        """Raises StoreError once the server is closed."""
        if self._closed:
            raise _closed()

    # --- inside ----------------------------------------------------------------------------------------------------
    def _connect(self, auth: tuple[str, str] | None) -> neo4j.Driver:
        try:
            return neo4j.GraphDatabase.driver(
                self._host,
                auth=auth,
                connection_timeout=_CONNECT_SECONDS,
                connection_acquisition_timeout=_ANSWER_SECONDS,
                max_transaction_retry_time=_RETRY_SECONDS,
                notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
                telemetry_disabled=True,
                user_agent="recollect",
            )
        except (ConfigurationError, ValueError) as problem:
            raise InvalidInput(f"{self._host!r} is not the address of a Neo4j server: {problem}.") from problem

    def _version(self) -> tuple[int, ...]:
        found = self._driver.execute_query(COMPONENTS, database_=self._database, routing_=neo4j.RoutingControl.READ)
        return read_version(str(found.records[0]["version"]), self.location)

    @contextmanager
    def _session(self, access: str) -> Iterator[neo4j.Session]:
        thread = threading.get_ident()
        with self._changed:
            self.require_open()
            self._users.append(thread)
        try:
            with self._driver.session(
                database=self._database, default_access_mode=access, bookmark_manager=self._bookmarks, fetch_size=5000
            ) as session:
                yield session
        finally:
            with self._changed:
                self._users.remove(thread)
                self._changed.notify_all()

    def _begun(
        self, session: neo4j.Session, first: LiteralString, values: dict[str, Any]
    ) -> tuple[neo4j.Transaction, neo4j.Record]:
        """Begins, again if need be: connections of the pool may have died meanwhile."""
        limit = time.monotonic() + _RETRY_SECONDS
        while True:
            try:
                tx = session.begin_transaction(timeout=_LONGEST_READ)
                return tx, tx.run(first, values).single(strict=True)
            except (ServiceUnavailable, SessionExpired, TransientError):
                if time.monotonic() > limit:
                    raise
                time.sleep(_PAUSE)

    def _insisting(self, work: Work[T]) -> T:
        limit = time.monotonic() + self._wait
        while True:
            try:
                with self._session(neo4j.WRITE_ACCESS) as session:
                    return session.execute_write(work)
            except (ResultFailedError, TransientError) as problem:
                if not _is_of_locks(problem) or time.monotonic() > limit:
                    raise
                time.sleep(_PAUSE)

    @contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except RecollectError:
            raise
        except Exception as problem:
            if self._closed:  # by another thread, and then anything may be told
                raise _closed() from problem
            if not isinstance(problem, DriverError | Neo4jError):
                raise
            raise self._in_our_words(problem) from problem

    def _in_our_words(self, problem: DriverError | Neo4jError) -> StoreError:
        where = self.location
        code = (problem.code or "") if isinstance(problem, Neo4jError) else ""
        if isinstance(problem, IncompleteCommit):
            return StoreError(
                f"{where} disconnected at the very end of a write, which may or may not have been saved.",
                hint="If it was an import, run it again; otherwise check before you write it again.",
            )
        if isinstance(problem, ServiceUnavailable | SessionExpired):
            return StoreError(
                f"{where} does not answer: {_first_line(problem)}.",
                hint="Is Neo4j running, and is the address right? Everything saved so far is safe.",
            )
        if isinstance(problem, AuthError):
            return StoreError(
                f"{where} rejected the user name or the password.",
                hint="They come from the address, or from NEO4J_USER and NEO4J_PASSWORD.",
            )
        if "AuthenticationRateLimit" in code:
            return StoreError(
                f"{where} has locked the user after too many wrong passwords.", hint="Try again in a few seconds."
            )
        if "CredentialsExpired" in code:
            return StoreError(
                f"{where} requires you to change the initial password.",
                hint="In Neo4j Browser or cypher-shell: ALTER CURRENT USER SET PASSWORD FROM 'old' TO 'new'",
            )
        if "DatabaseNotFound" in code:
            return StoreError(
                f"{where} has no database {self._database!r}.", hint="The database name is the path of the address."
            )
        if "Security.Forbidden" in code:
            return StoreUnusable(
                f"{where} does not allow this user to do that.",
                hint="Recollect needs to read, write and create indexes; for searching, reading is enough.",
            )
        if "ReadOnly" in code or "NotALeader" in code or "AccessMode" in code:
            passes = "NotALeader" in code  # the driver may find the leader the next time
            return (StoreError if passes else StoreUnusable)(
                f"{where} is read-only.",
                hint="In a cluster, use neo4j:// instead of bolt://: it finds the leader.",
            )
        if "LockAcquisitionTimeout" in code or "TransactionTimedOut" in code or "Deadlock" in code:
            return StoreBusy(
                f"{where} is busy: other processes have been writing to it for too long.", hint="Try again later."
            )
        if "ConstraintValidationFailed" in code:
            return StoreError(
                f"{where} already has something in this place: {_first_line(problem)}.",
                hint="Messages never move, and each position of a conversation holds one message.",
            )
        if "DatabaseUnavailable" in code:
            return StoreError(f"{where} is starting or stopping.", hint="Try again in a few seconds.")
        if "MemoryPoolOutOfMemory" in code or "OutOfMemory" in code:
            return StoreError(
                f"{where} does not have enough memory for this.", hint="Give it more, or write smaller batches."
            )
        kind = "could not do it" if isinstance(problem, ClientError | DatabaseError | TransientError) else "failed"
        return StoreError(f"{where} {kind}: {_first_line(problem)}.")

    def __del__(self) -> None:
        try:
            if not self._closed:
                self.close()
        except Exception:  # at the interpreter's end nothing is certain, not even `suppress`
            pass


class _UntilClosed:
    """A transaction that runs statements until its server is closed by another thread."""

    def __init__(self, tx: neo4j.Transaction, server: Server) -> None:
        self._tx, self._server = tx, server

    def run(self, query: LiteralString, parameters: dict[str, Any] | None = None, **values: Any) -> neo4j.Result:
        self._server.require_open()
        return self._tx.run(query, parameters, **values)


def _closed() -> StoreError:
    return StoreUnusable("This memory is closed.", hint="Open it again with recollect.open().")


def read_version(told: str, where: str) -> tuple[int, ...]:
    """The first two numbers of a server's version. Raises StoreError for one that is too old."""
    version = tuple(int(part) for part in told.split("-")[0].split(".")[:2] if part.isdigit())
    if version < OLDEST_SERVER:
        raise StoreError(
            f"{where} is Neo4j {told}; Recollect needs {'.'.join(map(str, OLDEST_SERVER))} or newer.",
            hint="Update the server, or choose another with --store.",
        )
    return version


def _is_of_locks(problem: ResultFailedError | TransientError) -> bool:
    """Whether a write failed because of others who wrote: then it is tried again for as long as one may wait.

    After dead locks the driver may say that a result has failed; the reason lies behind it.
    """
    cause = problem.__cause__ if isinstance(problem, ResultFailedError) else problem
    code = (cause.code or "") if isinstance(cause, Neo4jError) else ""
    return "Deadlock" in code or "LockAcquisitionTimeout" in code or "LockClientStopped" in code


def _first_line(problem: BaseException) -> str:
    return (str(problem).splitlines() or [type(problem).__name__])[0][:300].rstrip(" .:")
