"""The embedded engine: one SQLite file, several processes at once. A façade over the modules beside it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Literal

import apsw

from recollect.engines import plans
from recollect.engines.sqlite import find, indexing, read, write
from recollect.engines.sqlite.connection import Database
from recollect.engines.sqlite.file import index_folder, size_on_disk, store_file
from recollect.engines.sqlite.schema import NEWEST
from recollect.engines.sqlite.source import SQLiteSource
from recollect.errors import StoreDamaged
from recollect.index.candidates import candidates, sharing
from recollect.index.corpus import IndexCache
from recollect.index.snapshot import Snapshot
from recollect.index.vocabulary import IndexVocabulary
from recollect.index.words import known
from recollect.record import Edge, Message, Namespace, NodeId, Thread, utc_now
from recollect.store.change import Change, Fenced, IndexDamaged, Lease, Record, Task
from recollect.store.passages import CandidateQuery, EmbedderId, Features, Int, Partition, PassageText, QueryTerms
from recollect.store.results import (
    Counts,
    End,
    Erased,
    IndexInfo,
    Invariant,
    Lost,
    Page,
    R,
    Revision,
    Span,
    StoreInfo,
    Violation,
    Where,
)

_NOWHERE = -1  # the number of a namespace that holds nothing yet


class SQLiteView:
    """Implements `recollect.store.base.View`."""

    def __init__(
        self, connection: apsw.Connection, ns: int | None, index: IndexCache, clock: Callable[[], datetime]
    ) -> None:
        self._connection, self._index, self._clock = connection, index, clock
        self._ns = _NOWHERE if ns is None else ns
        self._live = indexing.in_use(connection, self._ns).get("live")
        self._snapshots: dict[int, Snapshot] = {}
        self._phrases: dict[str, Int] = {}
        self._compounds: dict[tuple[str, int], list[str]] = {}

    @property
    def stamp(self) -> Hashable:
        """The connection, and SQLite's count of what others have committed since that was opened. No reader writes."""
        found: int = self._connection.execute("PRAGMA data_version").get
        return weakref.ref(self._connection), found

    # --- the record ------------------------------------------------------------------------------------------------
    def get(self, kind: type[R], ids: Sequence[NodeId]) -> list[R]:
        """Those that are there, in the order asked for."""
        return read.get(self._connection, self._ns, kind, ids)

    def find(self, kind: type[R], where: Where, *, after: str | None = None, limit: int = 100) -> Page[R]:
        """A page of records."""
        return find.find(self._connection, self._ns, kind, where, after, limit)

    def revisions(self, ids: Sequence[NodeId]) -> dict[NodeId, Revision]:
        """Of those that are there."""
        return read.revisions(self._connection, self._ns, ids)

    def kinds(self, ids: Sequence[NodeId]) -> dict[NodeId, type[Record]]:
        """What they stand for."""
        return read.kinds(self._connection, self._ns, ids)

    def thread(self, id: NodeId) -> Thread | None:
        """A conversation with everything in it."""
        return read.thread(self._connection, self._ns, id)

    def end(self, id: NodeId) -> End | None:
        """The growing end of a conversation."""
        return read.end(self._connection, self._ns, id)

    def above(self, id: NodeId, most: int) -> list[Message]:
        """What stands above a message, its parent first."""
        return read.above(self._connection, self._ns, id, most)

    def around(self, spans: Sequence[Span]) -> list[Message]:
        """The messages at these positions."""
        return read.around(self._connection, self._ns, spans)

    def sizes(self, ids: Sequence[NodeId]) -> dict[NodeId, tuple[int, int]]:
        """Numbers of messages: not deleted, and all."""
        return read.sizes(self._connection, self._ns, ids)

    def origins(self, numbers: Sequence[int]) -> dict[int, tuple[NodeId, str]]:
        """The ids and the sources of conversations by number."""
        return read.origins(self._connection, self._ns, numbers)

    def named(self, text: str, limit: int = 5) -> list[NodeId]:
        """Ids and source ids that are this, or ids that end so."""
        return read.named(self._connection, self._ns, text, limit)

    def edges(
        self,
        of: Sequence[NodeId] | None,
        types: Collection[str] = (),
        way: Literal["out", "in"] = "out",
        limit: int = 10_000,
    ) -> list[Edge]:
        """The edges of a frontier, or all written ones."""
        return read.edges(self._connection, self._ns, of, types, way, limit)

    def counts(self, of: Sequence[NodeId] | None = None) -> Counts:
        """What is in the namespace."""
        return find.counts(self._connection, self._ns, of, self._clock())

    def tasks(self, state: Literal["due", "leased", "dead"], limit: int = 100) -> list[tuple[Task, str]]:
        """Tasks with the reason of their last failure."""
        return write.listed(self._connection, self._ns, state, limit, self._clock())

    # --- the index -------------------------------------------------------------------------------------------------
    def index(self) -> IndexInfo:
        """Which generation search reads, and what is being built."""
        return indexing.info(self._connection, self._ns)

    def known(self, partition: Partition, terms: QueryTerms) -> Sequence[bool] | None:
        """Which words passages hold."""
        with _readable():
            return known(self._snapshot(partition), terms)

    def candidates(self, query: CandidateQuery) -> Features:
        """The passages that may answer."""
        with _readable():
            said = partial(self._snapshot, Partition.SAID)
            return candidates(self._snapshot(query.partition), self._source(query.partition), query, said)

    def sharing(
        self, partition: Partition, terms: Sequence[str], most: int, *, kinds: Sequence[str] = (), inside: bool = False
    ) -> list[int]:
        """Numbers of the passages that share the rarest and most of these terms."""
        with _readable():
            return sharing(self._snapshot(partition), terms, kinds, most, inside=inside)

    def flagged(self, flag: int) -> list[int]:
        """Numbers of the passages with a flag."""
        with _readable():
            return [number for partition in Partition for number in self._snapshot(partition).flagged(flag)]

    def passages(self, numbers: Sequence[int], *, tokens: bool = False) -> list[PassageText]:
        """Texts by number."""
        return read.passage_texts(self._connection, self._ns, numbers, tokens)

    def documents_of(self, passages: Sequence[int]) -> dict[int, tuple[NodeId, str]]:
        """Ids and sources of documents, by their passages."""
        return read.documents_of(self._connection, self._ns, passages)

    def unembedded(self, limit: int) -> list[PassageText]:
        """Said passages without quality vectors, newest first."""
        return self.passages(read.unembedded(self._connection, self._ns, limit))

    def scan(self, words: Sequence[str], limit: int) -> list[Message]:
        """A slow search in the record itself."""
        return read.scan(self._connection, self._ns, words, limit)

    def speakers(self) -> list[str]:
        """The names of people who speak."""
        return read.speakers(self._connection, self._ns)

    def years(self) -> list[int]:
        """The years in which something was said."""
        return read.years(self._connection, self._ns)

    def vocabulary(self) -> IndexVocabulary:
        """The words that the index holds."""
        return IndexVocabulary(
            lambda: self._snapshot(Partition.SAID),
            lambda: self._snapshot(Partition.TITLE),
            self.passages,
            self._compounds,
        )

    def _source(self, partition: int) -> SQLiteSource:
        return SQLiteSource(self._connection, self._ns, self._live, int(partition), self._phrases)

    def _snapshot(self, partition: int) -> Snapshot:
        """Of a partition, kept for the life of the view, so that it stays still."""
        if partition not in self._snapshots:
            if self._live is None and indexing.is_unindexed(self._connection, self._ns):
                raise IndexDamaged("The search index is not built yet.", hint="Build it: recollect reindex")
            with _readable():
                self._snapshots[partition] = self._index.snapshot(self._ns, int(partition), self._source(partition))
        return self._snapshots[partition]


@contextmanager
def _readable() -> Iterator[None]:
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
        from recollect.engines.sqlite import indexing

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
