"""The engine on a Neo4j server: many processes and machines at once. A façade over the modules beside it."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, TypeVar

import neo4j

from recollect.engines import plans
from recollect.engines.neo4j import find, indexing, maintain, read
from recollect.engines.neo4j import put as relations
from recollect.engines.neo4j import writing as tasks
from recollect.engines.neo4j.check import violations
from recollect.engines.neo4j.connection import Server
from recollect.engines.neo4j.indexing import TODO, TODO_SHOWN
from recollect.engines.neo4j.put import Putting
from recollect.engines.neo4j.schema import VERSION, prepare, verify
from recollect.engines.neo4j.source import Marks, Neo4jSource, Seen
from recollect.engines.neo4j.writing import Writing, generation_of, task_of
from recollect.engines.view import IndexedView
from recollect.errors import StoreError
from recollect.index.corpus import IndexCache
from recollect.record import Chunk, Edge, Message, Namespace, NodeId, Thread, to_microseconds, utc_now
from recollect.store.change import Change, Fenced, IndexDamaged, Lease, Record, Task
from recollect.store.passages import EmbedderId, Partition, PassageText
from recollect.store.results import (
    Counts,
    End,
    Erased,
    IndexInfo,
    Lost,
    Page,
    R,
    Revision,
    Span,
    StoreInfo,
    Violation,
    Where,
)

STATE = """
OPTIONAL MATCH (s:Schema {name: 'recollect'})
OPTIONAL MATCH (n:Namespace {name: $ns})
OPTIONAL MATCH (live:Generation {space: n.live})
OPTIONAL MATCH (building:Generation {space: n.building})
RETURN s.version AS version, n.number AS number, n.writes AS writes,
    properties(live) AS live, properties(building) AS building
"""
HAS_QUALITY = "RETURN EXISTS { MATCH (q:Quality) WHERE q.space = $space AND q.number > 0 } AS found"
HAS_MESSAGES = """
RETURN EXISTS { MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id IS NOT NULL AND m.position >= 0
    AND NOT m.deleted } AS found
"""
SPEAKERS = "MATCH (s:Speaker) WHERE s.space = $space AND s.key IS NOT NULL RETURN s.name AS name ORDER BY name"
DUE_TASKS = """
MATCH (t:Task) WHERE t.namespace = $ns AND t.state IN ['due', 'leased'] AND (t.state = 'due' OR t.ready <= $now)
RETURN properties(t) AS task ORDER BY t.ready, t.number LIMIT $limit
"""
LEASED_TASKS = """
MATCH (t:Task) WHERE t.namespace = $ns AND t.state = 'leased' AND t.ready > $now
RETURN properties(t) AS task ORDER BY t.number LIMIT $limit
"""
DEAD_TASKS = """
MATCH (t:Task) WHERE t.namespace = $ns AND t.state = 'dead' RETURN properties(t) AS task ORDER BY t.number LIMIT $limit
"""

_TASKS = {"due": DUE_TASKS, "leased": LEASED_TASKS, "dead": DEAD_TASKS}
_NOWHERE = -1  # the number, and the space, of what holds nothing yet
_KEPT = 10_000  # records


class Neo4jView(IndexedView):
    """Implements `recollect.store.base.View`."""

    def __init__(
        self,
        tx: neo4j.Transaction,
        state: neo4j.Record,
        namespace: Namespace,
        index: IndexCache,
        seen: Seen,
        clock: Callable[[], datetime],
        lost: Lost | None = None,
    ) -> None:
        """Where damaged records are to be left out, `lost` counts them."""
        self._lost = lost
        self._tx, self._ns, self._seen, self._clock = tx, namespace, seen, clock
        super().__init__(index, _NOWHERE if state["number"] is None else int(state["number"]))
        self._live, self._building = generation_of(state["live"]), generation_of(state["building"])
        self._space = self._live.key if self._live else _NOWHERE
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._marks = Marks(tx, self._space)
        self._writes: int | None = state["writes"]

    @property
    def stamp(self) -> Hashable:
        """How often the namespace was written to when the view was opened."""
        return self._writes

    # --- the record ------------------------------------------------------------------------------------------------
    def get(self, kind: type[R], ids: Sequence[NodeId]) -> list[R]:
        """Those that are there, in the order asked for."""
        if kind is Chunk:
            return read.get(self._tx, self._ns, kind, ids, self._lost)
        missing = [node_id for node_id in dict.fromkeys(ids) if (kind, node_id) not in self._kept]
        found: dict[NodeId, Any] = {record.id: record for record in self._read(kind, missing)}
        fresh = {node_id: found.get(node_id) for node_id in missing}
        records = {node_id: fresh[node_id] if node_id in fresh else self._kept[kind, node_id] for node_id in ids}
        for node_id, record in fresh.items():
            self._keep((kind, node_id), record)
        return [record for node_id in ids if (record := records[node_id]) is not None]

    def find(self, kind: type[R], where: Where, *, after: str | None = None, limit: int = 100) -> Page[R]:
        """A page of records."""
        return find.find(self._tx, self._ns, kind, where, after, limit, self._lost)

    def revisions(self, ids: Sequence[NodeId]) -> dict[NodeId, Revision]:
        """Of those that are there."""
        missing = [node_id for node_id in dict.fromkeys(ids) if (Revision, node_id) not in self._kept]
        found = read.revisions(self._tx, self._ns, missing) if missing else {}
        fresh = {node_id: found.get(node_id) for node_id in missing}
        known: dict[NodeId, Revision | None] = {
            node_id: fresh[node_id] if node_id in fresh else self._kept[Revision, node_id] for node_id in ids
        }
        for node_id, revision in fresh.items():
            self._keep((Revision, node_id), revision)
        return {node_id: revision for node_id, revision in known.items() if revision is not None}

    def kinds(self, ids: Sequence[NodeId]) -> dict[NodeId, type[Record]]:
        """What they stand for."""
        return read.kinds(self._tx, self._ns, ids)

    def thread(self, id: NodeId) -> Thread | None:
        """A conversation with everything in it."""
        found = read.thread(self._tx, self._ns, id, self._lost)
        if found is None:
            return None
        self._keep_first((Revision, id), found[1])
        return found[0]

    def end(self, id: NodeId) -> End | None:
        """The growing end of a conversation."""
        if (End, id) not in self._kept:
            found = read.end(self._tx, self._ns, id)
            self._keep((End, id), found[0] if found else None)
            self._keep_first((Revision, id), found[1] if found else None)
        end: End | None = self._kept[End, id]
        return end

    def above(self, id: NodeId, most: int) -> list[Message]:
        """What stands above a message, its parent first."""
        return read.above(self._tx, self._ns, id, most)

    def around(self, spans: Sequence[Span]) -> list[Message]:
        """The messages at these positions."""
        return read.around(self._tx, self._ns, spans)

    def sizes(self, ids: Sequence[NodeId]) -> dict[NodeId, tuple[int, int]]:
        """Numbers of messages: living, and all."""
        return read.sizes(self._tx, self._ns, ids)

    def origins(self, numbers: Sequence[int]) -> dict[int, tuple[NodeId, str]]:
        """The ids and the sources of conversations by number."""
        return read.origins(self._tx, self._ns, numbers)

    def named(self, text: str, limit: int = 5) -> list[NodeId]:
        """Ids and source ids that are this, or ids that end so."""
        return read.named(self._tx, self._ns, text, limit)

    def edges(
        self,
        of: Sequence[NodeId] | None,
        types: Collection[str] = (),
        way: Literal["out", "in"] = "out",
        limit: int = 10_000,
    ) -> list[Edge]:
        """The edges of a frontier, or all written ones."""
        return read.edges(self._tx, self._ns, of, types, way, limit)

    def counts(self, of: Sequence[NodeId] | None = None) -> Counts:
        """What is in the namespace."""
        chosen = None if of is None else tuple(of)
        if (Counts, chosen) not in self._kept:
            self._keep((Counts, chosen), find.counts(self._tx, self._ns, self._space, chosen, self._clock()))
        found: Counts = self._kept[Counts, chosen]
        return found

    def tasks(self, state: Literal["due", "leased", "dead"], limit: int = 100) -> list[tuple[Task, str]]:
        """Tasks with the reason of their last failure."""
        now = to_microseconds(self._clock())
        found = [r["task"] for r in self._tx.run(_TASKS[state], ns=self._ns, now=now, limit=limit)]
        return [(task_of(task), task.get("why") or "") for task in found]

    # --- the index -------------------------------------------------------------------------------------------------
    def index(self) -> IndexInfo:
        """Which generation search reads, and what is being built."""
        live, building = self._live, self._building
        todo = self._tx.run(TODO, space=building.key, limit=TODO_SHOWN) if building else ()
        return IndexInfo(
            generation=live.number if live else 0,
            embedder=live.embedder if live else None,
            quality=self._tx.run(HAS_QUALITY, space=self._space).single(strict=True)["found"],
            building=building.number if building else None,
            building_embedder=building.embedder if building else None,
            built=building.built if building else None,
            todo=tuple(r["id"] for r in todo),
        )

    def passages(self, numbers: Sequence[int], *, tokens: bool = False) -> list[PassageText]:
        """Texts by number."""
        return read.passage_texts(self._tx, self._ns, self._space, numbers, tokens) if len(numbers) else []

    def documents_of(self, passages: Sequence[int]) -> dict[int, tuple[NodeId, str]]:
        """Ids and sources of documents, by their passages."""
        return read.documents_of(self._tx, self._ns, self._space, passages) if len(passages) else {}

    def unembedded(self, limit: int) -> list[PassageText]:
        """Said passages without quality vectors, newest first."""
        return self.passages(read.unembedded(self._tx, self._space, limit))

    def scan(self, words: Sequence[str], limit: int) -> list[Message]:
        """A slow search in the record itself."""
        return read.scan(self._tx, self._ns, words, limit)

    def speakers(self) -> list[str]:
        """The names of people who speak."""
        return [r["name"] for r in self._tx.run(SPEAKERS, space=self._space)]

    def years(self) -> list[int]:
        """The years in which something was said; none while the index is damaged, which `candidates` tells."""
        try:
            return self._snapshot(Partition.SAID).years()
        except IndexDamaged:
            return []

    # --- inside ----------------------------------------------------------------------------------------------------
    def _source(self, partition: int) -> Neo4jSource:
        generation = self._live.number if self._live else 0
        return Neo4jSource(self._tx, self._ns, generation, self._space, int(partition), self._seen, self._marks)

    def _is_unindexed(self) -> bool:
        return self._live is None and bool(self._tx.run(HAS_MESSAGES, ns=self._ns).single(strict=True)["found"])

    def _read(self, kind: type[Any], ids: Sequence[NodeId]) -> list[Any]:
        """Records by id; with messages the revisions of their conversations, so that plans are compared with these."""
        if not ids:
            return []
        if kind is not Message:
            return read.get(self._tx, self._ns, kind, ids, self._lost)
        messages, revisions = read.messages(self._tx, self._ns, ids)
        for owner, revision in revisions.items():
            self._keep_first((Revision, owner), revision)
        return messages

    def _keep_first(self, key: Hashable, value: object) -> None:
        if key not in self._kept:
            self._keep(key, value)

    def _keep(self, key: Hashable, value: object) -> None:
        self._kept[key] = value
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)


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
            put = putting.put
            plans.write_index(indexing.Neo4jIndexWriter(writing), change.index, put.silenced, put.retired)
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
        """Removes the words of what has these ids, piece by piece; maintain.py has the limits."""
        erased = maintain.erase(self._writing, lambda work: self._writing_if_there(work, []), ids)
        with self._server.reading(NUMBER, ns=self.namespace) as (_, found):
            if found["number"] is not None:
                self._store.index.forget(found["number"])
        return erased

    def purge(self) -> None:
        """Removes the words of what died; maintain.py has the limits."""
        self._writing_if_there(maintain.purge, None)
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
        return self._writing_if_there(
            lambda writing: plans.take_step(indexing.Neo4jIndexWriter(writing), step, embedder, number), 0
        )

    def maintain(self, budget: timedelta) -> bool:
        """Seals, compacts, sweeps, in short transactions; True while there is more."""
        until = time.monotonic() + budget.total_seconds()
        return plans.goes_on(until, lambda: self._is_due() and self._writing_if_there(maintain.step, False))

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
