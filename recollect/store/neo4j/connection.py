"""The way to a Neo4j server: one driver, managed transactions, short waits, and errors in our own words."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, LiteralString, TypeVar

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
    TransientError,
)

from recollect.errors import InvalidInput, StoreBusy, StoreError
from recollect.place import read_address

#: Vectors beside full text, dynamic labels and OPTIONAL CALL: what the statements here need.
OLDEST_SERVER = (5, 26)

COMPONENTS = "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions[0] AS version"

_CONNECT_SECONDS = 2.5  # nobody waits longer to hear that the server is down
_RETRY_SECONDS = 8.0  # for dead locks and restarts, within one call
_PATIENCE = 2.0  # seconds of waiting for a lock before somebody is told
_LONGEST_WRITE = 600.0
_ATTEMPTS = 5

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
        self._driver = self._connect(auth)
        try:
            with self._said():
                self._driver.verify_connectivity()  # at once, where a query would be tried again and again
                self.version = self._version()
        except BaseException:
            self._driver.close()
            raise

    def read(self, work: Work[T]) -> T:
        """One transaction that reads."""
        with self._said(), self._session(neo4j.READ_ACCESS) as session:
            return session.execute_read(work)

    def write(self, work: Work[T], lock: Work[Any] | None = None) -> T:
        """One transaction that writes: committed and durable at the end, or as if it had never been.

        `lock` is run first; while it waits for others, `on_wait` is told. Both may run more than once.
        """

        @neo4j.unit_of_work(timeout=max(self._wait, _LONGEST_WRITE))
        def whole(tx: neo4j.ManagedTransaction) -> T:
            if lock is not None:
                with self._told():
                    lock(tx)
            return work(tx)

        with self._writing, self._said():
            return self._insisting(whole)

    def run(self, statement: LiteralString, **values: Any) -> None:
        """A statement that opens its own transactions (schema, IN TRANSACTIONS)."""
        with self._said(), self._session(neo4j.WRITE_ACCESS) as session:
            session.run(statement, values).consume()

    def close(self) -> None:
        """Closes all connections."""
        self._closed = True
        self._driver.close()

    # --- inside ----------------------------------------------------------------------------------------------------
    def _connect(self, auth: tuple[str, str] | None) -> neo4j.Driver:
        try:
            return neo4j.GraphDatabase.driver(
                self._host,
                auth=auth,
                connection_timeout=_CONNECT_SECONDS,
                connection_acquisition_timeout=2 * _CONNECT_SECONDS,
                max_transaction_retry_time=_RETRY_SECONDS,
                notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
                telemetry_disabled=True,
                user_agent="recollect",
            )
        except (ConfigurationError, ValueError) as problem:
            raise InvalidInput(f"{self._host!r} is no address of a Neo4j server: {problem}.") from problem

    def _version(self) -> tuple[int, ...]:
        found = self._driver.execute_query(COMPONENTS, database_=self._database, routing_=neo4j.RoutingControl.READ)
        told = str(found.records[0]["version"])
        version = tuple(int(part) for part in told.split("-")[0].split(".")[:2] if part.isdigit())
        if version < OLDEST_SERVER:
            raise StoreError(
                f"{self.location} is Neo4j {told}; Recollect needs {'.'.join(map(str, OLDEST_SERVER))} or newer.",
                hint="Update the server, or choose another with --store.",
            )
        return version

    def _session(self, access: str) -> neo4j.Session:
        if self._closed:
            raise StoreError("This memory is closed.", hint="Open it again with recollect.open().")
        return self._driver.session(
            database=self._database, default_access_mode=access, bookmark_manager=self._bookmarks, fetch_size=5000
        )

    def _insisting(self, work: Work[T]) -> T:
        for attempt in range(_ATTEMPTS):
            try:
                with self._session(neo4j.WRITE_ACCESS) as session:
                    return session.execute_write(work)
            except ResultFailedError as problem:  # the driver's race: what lies behind it may well be tried again
                cause = problem.__cause__
                again = isinstance(cause, Neo4jError | DriverError) and cause.is_retryable()
                if not again or attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(0.05 * 2**attempt)
        raise AssertionError("unreachable")

    @contextmanager
    def _told(self) -> Iterator[None]:
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

    @contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except (DriverError, Neo4jError) as problem:
            raise self._in_our_words(problem) from problem

    def _in_our_words(self, problem: DriverError | Neo4jError) -> StoreError:
        where = self.location
        code = (problem.code or "") if isinstance(problem, Neo4jError) else ""
        if isinstance(problem, IncompleteCommit):
            return StoreError(
                f"{where} went away while it was writing.", hint="Do it again: what is there is not written twice."
            )
        if isinstance(problem, ServiceUnavailable):
            return StoreError(
                f"{where} does not answer: {_first_line(problem)}",
                hint="Is Neo4j running, and is the address right? What was acknowledged is safe.",
            )
        if isinstance(problem, AuthError):
            return StoreError(
                f"{where} refuses the user or the password.",
                hint="They come from the address, else from NEO4J_USER and NEO4J_PASSWORD.",
            )
        if "AuthenticationRateLimit" in code:
            return StoreError(f"{where} has seen too many wrong passwords.", hint="It answers again in some seconds.")
        if "CredentialsExpired" in code:
            return StoreError(
                f"{where} wants its first password changed.",
                hint="In Neo4j Browser or cypher-shell: ALTER CURRENT USER SET PASSWORD FROM 'old' TO 'new'",
            )
        if "DatabaseNotFound" in code:
            return StoreError(f"{where} has no database {self._database!r}.", hint="Its name is the address's path.")
        if "ReadOnly" in code or "NotALeader" in code or "AccessMode" in code:
            return StoreError(
                f"{where} can only be read.",
                hint="In a cluster use neo4j:// instead of bolt://, which finds the leader.",
            )
        if "LockAcquisitionTimeout" in code or "TransactionTimedOut" in code or "Deadlock" in code:
            return StoreBusy(f"Others have been writing to {where} for too long.", hint="Try again later.")
        if "MemoryPoolOutOfMemory" in code or "OutOfMemory" in code:
            return StoreError(
                f"{where} has not enough memory for this.", hint="Give it more, or write smaller batches."
            )
        kind = "could not do it" if isinstance(problem, ClientError | DatabaseError | TransientError) else "failed"
        return StoreError(f"{where} {kind}: {_first_line(problem)}")

    def __del__(self) -> None:
        with suppress(Exception):  # at the interpreter's end nothing is certain
            if not self._closed:
                self.close()


def _first_line(problem: BaseException) -> str:
    return str(problem).splitlines()[0][:300] if str(problem) else type(problem).__name__
