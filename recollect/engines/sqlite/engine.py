"""The embedded engine: one SQLite file, several processes at once. A façade over the modules beside it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Literal

import apsw

from recollect.engines import plans
from recollect.engines.sqlite import find, indexing, write
from recollect.engines.sqlite.connection import Database
from recollect.engines.sqlite.file import index_folder, size_on_disk, store_file
from recollect.engines.sqlite.read import SQLiteRecords
from recollect.engines.sqlite.schema import NEWEST
from recollect.engines.sqlite.source import SQLiteSource
from recollect.engines.view import IndexedView
from recollect.errors import StoreDamaged
from recollect.index.corpus import IndexCache
from recollect.record import Namespace, NodeId, utc_now
from recollect.store.change import Change, Fenced, IndexDamaged, Lease, Task
from recollect.store.passages import EmbedderId, Int
from recollect.store.results import (
    Counts,
    Erased,
    IndexInfo,
    Invariant,
    Lost,
    Page,
    R,
    StoreInfo,
    Violation,
    Where,
)

_NOWHERE = -1  # the number of a namespace that holds nothing yet


class SQLiteView(SQLiteRecords, IndexedView):
    """Implements `recollect.store.base.View`."""

    def __init__(
        self, connection: apsw.Connection, ns: int | None, index: IndexCache, clock: Callable[[], datetime]
    ) -> None:
        number = _NOWHERE if ns is None else ns
        SQLiteRecords.__init__(self, connection, number)
        IndexedView.__init__(self, index, number)
        self._live = indexing.in_use(connection, number).get("live")
        self._clock, self._phrases = clock, dict[str, Int]()

    @property
    def stamp(self) -> Hashable:
        """The connection, and SQLite's count of what others have committed since that was opened. No reader writes."""
        found: int = self._connection.execute("PRAGMA data_version").get
        return weakref.ref(self._connection), found

    def find(self, kind: type[R], where: Where, *, after: str | None = None, limit: int = 100) -> Page[R]:
        """A page of records."""
        return find.find(self._connection, self._ns, kind, where, after, limit)

    def counts(self, of: Sequence[NodeId] | None = None) -> Counts:
        """What is in the namespace."""
        return find.counts(self._connection, self._ns, of, self._clock())

    def tasks(self, state: Literal["due", "leased", "dead"], limit: int = 100) -> list[tuple[Task, str]]:
        """Tasks with the reason of their last failure."""
        return write.listed(self._connection, self._ns, state, limit, self._clock())

    def index(self) -> IndexInfo:
        """Which generation search reads, and what is being built."""
        return indexing.info(self._connection, self._ns)

    def _source(self, partition: int) -> SQLiteSource:
        return SQLiteSource(self._connection, self._ns, self._live, int(partition), self._phrases)

    def _is_unindexed(self) -> bool:
        return self._live is None and indexing.is_unindexed(self._connection, self._ns)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Tables of the index that SQLite finds damaged are a damaged index: the record may be whole."""
        try:
            yield
        except apsw.CorruptError as problem:
            raise IndexDamaged(
                f"The search index is damaged ({problem}).", hint="Rebuild it: recollect reindex"
            ) from problem


NAMESPACES = """
SELECT name FROM namespace n WHERE name NOT LIKE ' %' AND (EXISTS (SELECT 1 FROM conversation WHERE ns = n.num)
    OR EXISTS (SELECT 1 FROM document WHERE ns = n.num) OR EXISTS (SELECT 1 FROM node WHERE ns = n.num)
    OR EXISTS (SELECT 1 FROM edge WHERE ns = n.num) OR EXISTS (SELECT 1 FROM task WHERE ns = n.num))
ORDER BY name
"""
IDENTITY = "SELECT identity FROM about"


class SQLiteStore:
    """Implements `recollect.store.base.Store` on one file, or on the memory in a folder."""

    def __init__(
        self,
        path: Path,
        *,
        wait: float = 120.0,
        on_wait: Callable[[], None] | None = None,
        durable: bool = True,
        create: bool = True,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.database = Database(store_file(path), wait=wait, on_wait=on_wait, durable=durable, create=create)
        self.location = str(self.database.path)
        self.clock = clock
        if self.database.migrated:
            from recollect.engines.sqlite import maintain

            maintain.clean(self.database)

    def space(self, namespace: Namespace) -> SQLiteSpace:
        """A handle on one namespace."""
        return SQLiteSpace(self, namespace)

    def namespaces(self) -> list[Namespace]:
        """The namespaces that hold anything, sorted."""
        with self.database.reading() as connection:
            return [row[0] for row in connection.execute(NAMESPACES)]

    def drop(self, namespace: Namespace) -> bool:
        """Removes a namespace with its name, and what is left of those whose removal was killed."""
        from recollect.engines.sqlite import maintain

        with self.database.writing() as connection:
            connection.execute(maintain.DROP, (namespace,))
            was_there = connection.changes() > 0
            if was_there:
                connection.execute(maintain.TO_SCRUB)
        while True:
            with self.database.writing() as connection:
                ns = connection.execute(maintain.DROPPED).get
                if ns is None:
                    break
                self.index.forget(ns)
                maintain.sweep_namespace(connection, ns)
        maintain.clean(self.database)
        return was_there

    def info(self) -> StoreInfo:
        """Engine, schema version, size with what lies beside the file."""
        with self.database.reading():
            return StoreInfo("sqlite", NEWEST, size_on_disk(self.database.path))

    def backup(self, target: Path, progress: Callable[[int, int], None] | None = None) -> None:
        """Writes a verified copy while the store is in use."""
        from recollect.engines.sqlite import backup

        backup.backup(self.database, target, progress)

    def close(self) -> None:
        """Closes all connections. Further calls raise StoreError."""
        self.database.close()
        if "index" in self.__dict__:
            self.index.clear()

    @cached_property
    def index(self) -> IndexCache:
        """What searches keep in memory, and in mapped files beside the store."""
        with self.database.reading() as connection:
            identity = str(connection.execute(IDENTITY).get)
        folder = None if self.database.read_only else index_folder(self.database.path)
        return IndexCache(folder, identity)


class SQLiteSpace:
    """Implements `recollect.store.base.Space`."""

    remote = False

    def __init__(self, store: SQLiteStore, namespace: Namespace) -> None:
        self.namespace = namespace
        self._store, self._database, self._clock = store, store.database, store.clock

    def write(self, change: Change) -> None:
        """Writes all or nothing."""
        with self._database.writing() as connection:
            make = write.made_namespace if change.begins else write.namespace_number
            ns = make(connection, self.namespace)
            if ns is not None:
                write.write_change(connection, ns, change)
            elif change.leases:
                raise Fenced(change.leases[0])

    @contextmanager
    def view(self) -> Iterator[SQLiteView]:
        """A snapshot to read in."""
        index = self._store.index
        with self._database.reading() as connection:
            ns = write.namespace_number(connection, self.namespace)
            yield SQLiteView(connection, ns, index, self._clock)

    @contextmanager
    def salvaged(self) -> Iterator[tuple[SQLiteView, Lost]]:
        """A view of what can be read, in a store that lasts as long."""
        from recollect.engines.sqlite import salvage

        with (
            salvage.salvaged(self._database.path) as (path, lost),
            closing(SQLiteStore(path, durable=False)) as store,
            store.space(self.namespace).view() as view,
        ):
            yield view, lost.get(self.namespace, Lost())

    # --- tasks -----------------------------------------------------------------------------------------------------
    def claim(self, worker: str, kinds: Sequence[str], most: int, lease: timedelta) -> list[Lease]:
        """Due tasks, now held by this worker."""
        with self._database.writing() as connection:
            ns = write.namespace_number(connection, self.namespace)
            if ns is None:
                return []
            return write.claim(connection, ns, worker, kinds, most, lease, self._clock())

    def keep(self, lease: Lease, answer: bytes) -> None:
        """Keeps what was generated before it is applied."""
        with self._database.writing() as connection:
            write.keep(connection, write.made_namespace(connection, self.namespace), lease, answer)

    def renew(self, leases: Sequence[Lease], length: timedelta) -> list[Lease]:
        """Holds tasks for longer."""
        with self._database.writing() as connection:
            ns = write.namespace_number(connection, self.namespace)
            return [] if ns is None else write.renew(connection, ns, leases, length, self._clock())

    def revive(self, ids: Collection[NodeId] | None = None) -> int:
        """Makes dead tasks due at once."""
        with self._database.writing() as connection:
            ns = write.namespace_number(connection, self.namespace)
            return 0 if ns is None else write.revive(connection, ns, ids)

    def release(self, lease: Lease, why: str, again: datetime | None) -> None:
        """Gives a task back, to be claimed at a time or never."""
        with self._database.writing() as connection:
            write.release(connection, write.made_namespace(connection, self.namespace), lease, why, again)

    # --- upkeep ----------------------------------------------------------------------------------------------------
    def erase(self, ids: Sequence[NodeId]) -> Erased:
        """Removes the words of what has these ids from every table, index and file."""
        from recollect.engines.sqlite import maintain

        with self._database.writing() as connection:
            ns = write.made_namespace(connection, self.namespace)
            erased = maintain.erase(connection, ns, ids)
        self._store.index.forget(ns)
        maintain.clean(self._database)
        return erased

    def purge(self) -> None:
        """Removes the words of what died."""
        from recollect.engines.sqlite import maintain

        with self._database.writing() as connection:
            ns = write.made_namespace(connection, self.namespace)
            maintain.purge(connection, ns)
        self._store.index.forget(ns)
        maintain.clean(self._database)

    def generation(
        self,
        step: Literal["begin", "publish", "drop"],
        embedder: EmbedderId | None = None,
        number: int | None = None,
    ) -> int:
        """Begins, publishes or drops a generation of the index."""
        if step == "begin":
            self._mend_words()
        with self._database.writing() as connection:
            ns = write.namespace_number(connection, self.namespace)
            if ns is None:
                return 0
            return plans.take_step(indexing.SQLiteIndexWriter(connection, ns), step, embedder, number)

    def _mend_words(self) -> None:
        """A generation that is begun because the full-text table is damaged needs a whole one."""
        with self._database.reading() as connection:
            if not indexing.words_damage(connection):
                return
        with self._database.writing() as connection:
            indexing.make_words_anew(connection)

    def maintain(self, budget: timedelta) -> bool:
        """Seals, compacts, sweeps, in short transactions; True while there is more."""
        from recollect.engines.sqlite import maintain

        return maintain.maintain(self._database, self.namespace, budget, self._store.index)

    def check(self) -> list[Violation]:
        """Verifies every invariant."""
        from recollect.engines.sqlite import check

        try:
            with self._database.reading() as connection:
                return check.violations(connection, write.namespace_number(connection, self.namespace))
        except StoreDamaged as problem:  # not even its name can be read
            return [Violation(Invariant.FILE_IS_WHOLE, problem.message)]
