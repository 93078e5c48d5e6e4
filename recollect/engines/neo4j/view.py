"""One view of a namespace: a transaction that reads. What it has read of a record once, it does not read again.

Neo4j has no snapshots: a statement sees what others have committed by then. So records that were asked for by id, and
where the search index stands, are kept as they were first read.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Literal, TypeVar

import neo4j

from recollect.engines.neo4j import counts, edges, find, read, texts
from recollect.engines.neo4j.generations import TODO, TODO_SHOWN
from recollect.engines.neo4j.source import Marks, PartitionSource, Seen
from recollect.engines.neo4j.tasks import task_of
from recollect.engines.neo4j.writing import Generation
from recollect.index.candidates import candidates, sharing
from recollect.index.corpus import IndexCache
from recollect.index.snapshot import Snapshot
from recollect.index.vocabulary import IndexVocabulary
from recollect.index.words import known
from recollect.record import Chunk, Edge, Message, Namespace, NodeId, Thread, to_microseconds
from recollect.store.change import IndexDamaged, Record, Task
from recollect.store.passages import CandidateQuery, Features, Partition, PassageText, QueryTerms
from recollect.store.results import Counts, End, IndexInfo, Lost, Page, R, Revision, Span, Where

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

T = TypeVar("T")


class Neo4jView:
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
        self._tx, self._ns, self._index, self._seen, self._clock = tx, namespace, index, seen, clock
        self._number = _NOWHERE if state["number"] is None else int(state["number"])
        self._live, self._building = Generation.of(state["live"]), Generation.of(state["building"])
        self._space = self._live.space if self._live else _NOWHERE
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._snapshots: dict[int, Snapshot] = {}
        self._compounds: dict[tuple[str, int], list[str]] = {}
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
        return edges.edges(self._tx, self._ns, of, types, way, limit)

    def counts(self, of: Sequence[NodeId] | None = None) -> Counts:
        """What is in the namespace."""
        chosen = None if of is None else tuple(of)
        return self._once(
            (Counts, chosen), lambda: counts.counts(self._tx, self._ns, self._space, chosen, self._clock())
        )

    def tasks(self, state: Literal["due", "leased", "dead"], limit: int = 100) -> list[tuple[Task, str]]:
        """Tasks with the reason of their last failure."""
        now = to_microseconds(self._clock())
        found = [r["task"] for r in self._tx.run(_TASKS[state], ns=self._ns, now=now, limit=limit)]
        return [(task_of(task), task.get("why") or "") for task in found]

    # --- the index -------------------------------------------------------------------------------------------------
    def index(self) -> IndexInfo:
        """Which generation search reads, and what is being built."""
        live, building = self._live, self._building
        todo = self._tx.run(TODO, space=building.space, limit=TODO_SHOWN) if building else ()
        return IndexInfo(
            generation=live.number if live else 0,
            embedder=live.embedder if live else None,
            quality=self._tx.run(HAS_QUALITY, space=self._space).single(strict=True)["found"],
            building=building.number if building else None,
            building_embedder=building.embedder if building else None,
            built=building.built if building else None,
            todo=tuple(r["id"] for r in todo),
        )

    def known(self, partition: Partition, terms: QueryTerms) -> Sequence[bool] | None:
        """Which words passages hold."""
        self._demand_index()
        return known(self._snapshot(partition), terms)

    def candidates(self, query: CandidateQuery) -> Features:
        """The passages that may answer."""
        self._demand_index()
        said = partial(self._snapshot, Partition.SAID)
        return candidates(self._snapshot(query.partition), self._source(query.partition), query, said)

    def sharing(
        self, partition: Partition, terms: Sequence[str], most: int, *, kinds: Sequence[str] = (), inside: bool = False
    ) -> list[int]:
        """Numbers of the passages that share the rarest and most of these terms."""
        return sharing(self._snapshot(partition), terms, kinds, most, inside=inside)

    def flagged(self, flag: int) -> list[int]:
        """Numbers of the passages with a flag."""
        self._demand_index()
        return [number for partition in Partition for number in self._snapshot(partition).flagged(flag)]

    def passages(self, numbers: Sequence[int], *, tokens: bool = False) -> list[PassageText]:
        """Texts by number."""
        return texts.passage_texts(self._tx, self._ns, self._space, numbers, tokens) if len(numbers) else []

    def documents_of(self, passages: Sequence[int]) -> dict[int, tuple[NodeId, str]]:
        """Ids and sources of documents, by their passages."""
        return texts.documents_of(self._tx, self._ns, self._space, passages) if len(passages) else {}

    def unembedded(self, limit: int) -> list[PassageText]:
        """Said passages without quality vectors, newest first."""
        return self.passages(texts.unembedded(self._tx, self._space, limit))

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

    def vocabulary(self) -> IndexVocabulary:
        """The words that the index holds."""
        return IndexVocabulary(
            lambda: self._snapshot(Partition.SAID),
            lambda: self._snapshot(Partition.TITLE),
            self.passages,
            self._compounds,
        )

    # --- inside ----------------------------------------------------------------------------------------------------
    def _source(self, partition: int) -> PartitionSource:
        generation = self._live.number if self._live else 0
        return PartitionSource(self._tx, self._ns, generation, self._space, int(partition), self._seen, self._marks)

    def _demand_index(self) -> None:
        if self._live is None and self._tx.run(HAS_MESSAGES, ns=self._ns).single(strict=True)["found"]:
            raise IndexDamaged("The search index is not built yet.", hint="Build it: recollect reindex")

    def _snapshot(self, partition: int) -> Snapshot:
        """Of a partition, kept for the life of the view, so that it stays still."""
        if partition not in self._snapshots:
            self._snapshots[partition] = self._index.snapshot(self._number, int(partition), self._source(partition))
        return self._snapshots[partition]

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

    def _once(self, key: Hashable, read_it: Callable[[], T]) -> T:
        if key not in self._kept:
            self._keep(key, read_it())
        kept: T = self._kept[key]
        return kept

    def _keep_first(self, key: Hashable, value: object) -> None:
        if key not in self._kept:
            self._keep(key, value)

    def _keep(self, key: Hashable, value: object) -> None:
        self._kept[key] = value
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
