"""The embedded engine: one SQLite file, several processes at once. A façade over the modules beside it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from recollect.engines.sqlite import generations, tasks, write
from recollect.engines.sqlite.connection import Database
from recollect.engines.sqlite.migrations import NEWEST
from recollect.engines.sqlite.place import index_folder, size_on_disk, store_file
from recollect.errors import InvalidInput, StoreDamaged
from recollect.record import Namespace, NodeId, utc_now
from recollect.store.change import Change, Fenced, Lease
from recollect.store.passages import EmbedderId
from recollect.store.results import Erased, Invariant, Lost, StoreInfo, Violation

if TYPE_CHECKING:
    from recollect.engines.sqlite.view import SQLiteView
    from recollect.index.corpus import IndexCache

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
        from recollect.engines.sqlite import erase, maintain, sweep

        with self.database.writing() as connection:
            connection.execute(sweep.DROP, (namespace,))
            was_there = connection.changes() > 0
            if was_there:
                connection.execute(erase.TO_SCRUB)
        while True:
            with self.database.writing() as connection:
                ns = sweep.dropped(connection)
                if ns is None:
                    break
                self.index.forget(ns)
                sweep.sweep_namespace(connection, ns)
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
        from recollect.index.corpus import IndexCache

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
        from recollect.engines.sqlite.view import SQLiteView

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
            return tasks.claim(connection, ns, worker, kinds, most, lease, self._clock())

    def keep(self, lease: Lease, answer: bytes) -> None:
        """Keeps what was generated before it is applied."""
        with self._database.writing() as connection:
            tasks.keep(connection, write.made_namespace(connection, self.namespace), lease, answer)

    def renew(self, leases: Sequence[Lease], length: timedelta) -> list[Lease]:
        """Holds tasks for longer."""
        with self._database.writing() as connection:
            ns = write.namespace_number(connection, self.namespace)
            return [] if ns is None else tasks.renew(connection, ns, leases, length, self._clock())

    def revive(self, ids: Collection[NodeId] | None = None) -> int:
        """Makes dead tasks due at once."""
        with self._database.writing() as connection:
            ns = write.namespace_number(connection, self.namespace)
            return 0 if ns is None else tasks.revive(connection, ns, ids)

    def release(self, lease: Lease, why: str, again: datetime | None) -> None:
        """Gives a task back, to be claimed at a time or never."""
        with self._database.writing() as connection:
            tasks.release(connection, write.made_namespace(connection, self.namespace), lease, why, again)

    # --- upkeep ----------------------------------------------------------------------------------------------------
    def erase(self, ids: Sequence[NodeId]) -> Erased:
        """Removes the words of what has these ids from every table, index and file."""
        from recollect.engines.sqlite import erase, maintain

        with self._database.writing() as connection:
            ns = write.made_namespace(connection, self.namespace)
            erased = erase.erase(connection, ns, ids)
        self._store.index.forget(ns)
        maintain.clean(self._database)
        return erased

    def purge(self) -> None:
        """Removes the words of what died."""
        from recollect.engines.sqlite import erase, maintain

        with self._database.writing() as connection:
            ns = write.made_namespace(connection, self.namespace)
            erase.purge(connection, ns)
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
            if step == "publish":
                return generations.publish(connection, ns, embedder, number)
            if step == "drop":
                return generations.drop(connection, ns)
            if embedder is None:
                raise InvalidInput("A generation begins with the embedder that makes its vectors.")
            return generations.begin(connection, ns, embedder)

    def _mend_words(self) -> None:
        """A generation that is begun because the full-text table is damaged needs a whole one."""
        from recollect.engines.sqlite import words

        with self._database.reading() as connection:
            if not words.damage(connection):
                return
        with self._database.writing() as connection:
            words.make_anew(connection)

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
