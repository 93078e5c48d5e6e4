"""The engine on a Neo4j server: many processes and machines at once. A façade over the modules beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, TypeVar

import neo4j

from recollect.engines.neo4j import erase, generations, maintain, passages, relations, tasks
from recollect.engines.neo4j.check import violations
from recollect.engines.neo4j.connection import Server
from recollect.engines.neo4j.put import Putting
from recollect.engines.neo4j.schema import VERSION, prepare, verify
from recollect.engines.neo4j.source import Seen
from recollect.engines.neo4j.view import STATE, Neo4jView
from recollect.engines.neo4j.writing import Writing
from recollect.errors import StoreError
from recollect.index.corpus import IndexCache
from recollect.record import Namespace, NodeId, utc_now
from recollect.store.change import Change, Fenced, Lease
from recollect.store.passages import EmbedderId
from recollect.store.results import Erased, Lost, StoreInfo, Violation

NAMESPACES = """
MATCH (n:Namespace) WHERE n.name IS NOT NULL
  AND (EXISTS { MATCH (x:Node) WHERE x.namespace = n.name AND x.id IS NOT NULL }
    OR EXISTS { MATCH (e:Edge) WHERE e.namespace = n.name AND e.target_id IS NOT NULL }
    OR EXISTS { MATCH (t:Task) WHERE t.namespace = n.name AND t.state IS NOT NULL })
RETURN n.name AS name
"""
VERSION_OF = "OPTIONAL MATCH (s:Schema {name: 'recollect'}) RETURN s.version AS version"
NUMBER = "OPTIONAL MATCH (n:Namespace {name: $ns}) RETURN n.number AS number"

_PAUSE = 0.3  # seconds

T = TypeVar("T")


class Neo4jStore:
    """Implements `recollect.store.base.Store` on a server. Raises StoreError within seconds where there is none."""

    def __init__(
        self,
        address: str,
        auth: tuple[str, str] | None = None,
        *,
        wait: float = 120.0,
        on_wait: Callable[[], None] | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.server = Server(address, auth, wait=wait, on_wait=on_wait)
        self.location = self.server.location
        self.clock = clock
        self.index = IndexCache(None, self.location)
        self.seen: Seen = {}
        try:
            prepare(self.server)
        except BaseException:
            self.server.close()
            raise

    def space(self, namespace: Namespace) -> Neo4jSpace:
        """A handle on one namespace."""
        return Neo4jSpace(self, namespace)

    def namespaces(self) -> list[Namespace]:
        """The namespaces that hold anything, sorted."""
        self._verify()
        return self.server.read(lambda tx: sorted(Namespace(r["name"]) for r in tx.run(NAMESPACES)))

    def drop(self, namespace: Namespace) -> bool:
        """Removes a namespace with its name, piece by piece."""
        return self.space(namespace).drop()

    def info(self) -> StoreInfo:
        """Engine and schema version. The size on disk is the server's secret."""
        self._verify()
        return StoreInfo("neo4j", VERSION, 0)

    def backup(self, target: Path, progress: Callable[[int, int], None] | None = None) -> None:
        """Raises StoreError: the server's own tool copies a database, and `recollect export` what a namespace holds."""
        raise StoreError(
            f"{self.location} cannot be backed up from here, only on the server.",
            hint="Use neo4j-admin database dump while it is stopped, or recollect export for each namespace.",
        )

    def close(self) -> None:
        """Closes all connections."""
        self.index.clear()
        self.server.close()

    def _verify(self) -> None:
        verify(self.server.read(lambda tx: tx.run(VERSION_OF).single(strict=True)["version"]), self.location)


class Neo4jSpace:
    """Implements `recollect.store.base.Space`."""

    remote = True

    def __init__(self, store: Neo4jStore, namespace: Namespace) -> None:
        self.namespace = namespace
        self._store, self._server, self._clock = store, store.server, store.clock

    def write(self, change: Change) -> None:
        """Writes all or nothing."""

        def work(writing: Writing) -> bool:
            putting = Putting(writing, change)
            putting.compare()
            for lease in change.leases:
                tasks.require(writing, lease)
                tasks.done(writing, lease)
            putting.run()
            relations.put_edges(writing, change.edges)
            relations.cut_edges(writing, change.cut)
            passages.apply(writing, change.index, putting.silenced, putting.retired)
            tasks.put(writing, change.tasks)
            return True

        if change.begins:
            self._writing(work)
        elif not self._writing_if_there(work, False) and change.leases:
            raise Fenced(change.leases[0])

    @contextmanager
    def view(self) -> Iterator[Neo4jView]:
        """A view to read in."""
        with self._server.reading(STATE, ns=self.namespace) as (tx, state):
            verify(state["version"], self._store.location)
            yield Neo4jView(tx, state, self.namespace, self._store.index, self._store.seen, self._clock)

    @contextmanager
    def salvaged(self) -> Iterator[tuple[Neo4jView, Lost]]:
        """A view without the records that cannot be read."""
        lost = Lost()
        with self._server.reading(STATE, ns=self.namespace) as (tx, state):
            verify(state["version"], self._store.location)
            yield Neo4jView(tx, state, self.namespace, self._store.index, self._store.seen, self._clock, lost), lost

    # --- tasks -----------------------------------------------------------------------------------------------------
    def claim(self, worker: str, kinds: Sequence[str], most: int, lease: timedelta) -> list[Lease]:
        """Due tasks, now held by this worker."""
        return self._writing_if_there(
            lambda writing: tasks.claim(writing, worker, kinds, most, lease, self._clock()), []
        )

    def keep(self, lease: Lease, answer: bytes) -> None:
        """Keeps what was generated before it is applied."""

        def work(writing: Writing) -> bool:
            tasks.require(writing, lease)
            tasks.keep(writing, lease, answer)
            return True

        self._held(work, lease)

    def renew(self, leases: Sequence[Lease], length: timedelta) -> list[Lease]:
        """Holds tasks for longer."""
        return self._writing_if_there(lambda writing: tasks.renew(writing, leases, length, self._clock()), [])

    def revive(self, ids: Collection[NodeId] | None = None) -> int:
        """Makes dead tasks due at once."""
        return self._writing_if_there(lambda writing: tasks.revive(writing, ids), 0)

    def release(self, lease: Lease, why: str, again: datetime | None) -> None:
        """Gives a task back, to be claimed at a time or never."""

        def work(writing: Writing) -> bool:
            tasks.require(writing, lease)
            tasks.release(writing, lease, why, again)
            return True

        self._held(work, lease)

    # --- upkeep ----------------------------------------------------------------------------------------------------
    def erase(self, ids: Sequence[NodeId]) -> Erased:
        """Removes the words of what has these ids, piece by piece; erase.py has the limits."""
        erased = erase.erase(self._writing, lambda work: self._writing_if_there(work, []), ids)
        with self._server.reading(NUMBER, ns=self.namespace) as (_, found):
            if found["number"] is not None:
                self._store.index.forget(found["number"])
        return erased

    def purge(self) -> None:
        """Removes the words of what died; erase.py has the limits."""
        self._writing_if_there(erase.purge, None)
        with self._server.reading(NUMBER, ns=self.namespace) as (_, found):
            if found["number"] is not None:
                self._store.index.forget(found["number"])

    def drop(self) -> bool:
        """Removes the namespace; whether it was there."""
        with self._server.reading(NUMBER, ns=self.namespace) as (_, found):
            number = found["number"]
        if number is None:
            return False
        while self._writing_if_there(maintain.drop, False):
            pass
        self._store.index.forget(number)
        return True

    def generation(
        self,
        step: Literal["begin", "publish", "drop"],
        embedder: EmbedderId | None = None,
        number: int | None = None,
    ) -> int:
        """Begins, publishes or drops a generation of the index."""
        return self._writing_if_there(lambda writing: generations.take(writing, step, embedder, number), 0)

    def maintain(self, budget: timedelta) -> bool:
        """Seals, compacts, sweeps, in short transactions; True while there is more."""
        limit = time.monotonic() + budget.total_seconds()
        while self._is_due() and self._writing_if_there(maintain.step, False):
            if time.monotonic() > limit:
                return True
        return False

    def _is_due(self) -> bool:
        return self._server.read(lambda tx: maintain.is_due(tx, self.namespace, self._store.location))

    def check(self) -> list[Violation]:
        """Verifies every invariant. What others are just writing may not be in sight yet: so it is looked twice."""
        found = self._check()
        if found:
            time.sleep(_PAUSE)
            again = self._check()
            found = [violation for violation in again if violation in found]
        return found

    def _check(self) -> list[Violation]:
        with self._server.reading(STATE, ns=self.namespace) as (tx, state):
            verify(state["version"], self._store.location)
            return violations(tx, self.namespace, state)

    # --- inside ----------------------------------------------------------------------------------------------------
    def _writing(self, work: Callable[[Writing], T]) -> T:
        """One transaction with the namespace locked, which is made at first use."""

        def whole(tx: neo4j.ManagedTransaction) -> T:
            with self._server.waiting():
                writing = Writing.begin(tx, self.namespace, self._store.location)
            assert writing is not None
            found = work(writing)
            writing.finish()
            return found

        return self._server.write(whole)

    def _writing_if_there(self, work: Callable[[Writing], T], nothing: T) -> T:
        """The same; `nothing` where nothing was ever written."""

        def whole(tx: neo4j.ManagedTransaction) -> T:
            with self._server.waiting():
                writing = Writing.begin(tx, self.namespace, self._store.location, create=False)
            if writing is None:
                return nothing
            found = work(writing)
            writing.finish()
            return found

        return self._server.write(whole)

    def _held(self, work: Callable[[Writing], bool], lease: Lease) -> None:
        if not self._writing_if_there(work, False):
            raise Fenced(lease)
