"""One transaction that writes to a namespace: its node is locked first, so that writers follow each other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, LiteralString, TypeVar

import neo4j

from recollect.engines.neo4j.schema import VERSION, verify
from recollect.engines.plans import Generation
from recollect.errors import StoreError
from recollect.record import Namespace, NodeId, to_microseconds
from recollect.record.ids import from_microseconds
from recollect.store.change import Fenced, Lease, Task
from recollect.store.passages import EmbedderId

Transaction = neo4j.ManagedTransaction

# The lock is taken before anything is read that it guards: counting the write takes it.
LOCK = """
MATCH (s:Schema {name: 'recollect'}) MATCH (n:Namespace {name: $ns}) SET n.writes = coalesce(n.writes, 0) + 1
WITH s, n
OPTIONAL MATCH (live:Generation {space: n.live}) OPTIONAL MATCH (building:Generation {space: n.building})
RETURN s.version AS version, n.next AS next, n.generations AS generations,
    properties(live) AS live, properties(building) AS building,
    EXISTS { MATCH (e:Edge) WHERE e.namespace = $ns AND e.target_id IS NOT NULL } AS waiting
"""
ADD_NAMESPACE = """
MERGE (s:Schema {name: 'recollect'}) ON CREATE SET s.version = $version
MERGE (k:Counter {name: 'namespaces'}) SET k.value = coalesce(k.value, 0) + 1
WITH k.value AS number
MERGE (n:Namespace {name: $ns}) ON CREATE SET n.number = number, n.next = 1, n.generations = 0
"""
KNOW = """
UNWIND $rows AS id MATCH (n:Node {namespace: $ns, id: id})
RETURN n.id AS id, labels(n) AS labels, n.number AS number, n.conversation_id AS conversation_id,
    n.message_id AS message_id, n.parent_id AS parent_id, n.position AS position, n.revision AS revision,
    coalesce(n.deleted, false) AS deleted, coalesce(n.erased, false) AS erased,
    coalesce(n.state, 'live') IN ['live', 'superseded'] AS findable
"""
PARTITIONS = """
MATCH (x:Partition) WHERE x.space = $space AND x.partition IS NOT NULL
RETURN x.partition AS partition, x.last AS last, x.sealed AS sealed, x.epoch AS epoch, x.deaths AS deaths,
    x.quality AS quality, x.segment_rows AS segment_rows, x.tail_rows AS tail_rows, x.log AS log, x.vectors AS vectors
"""
FINISH = """
MATCH (n:Namespace {name: $ns}) SET n.next = $next
WITH n UNWIND $partitions AS r MERGE (x:Partition {space: r.space, partition: r.partition}) SET x += r.state
"""

ROWS = 4000  # a statement: it takes the whole batch of an import
T = TypeVar("T")


def generation_of(node: Any) -> Generation | None:
    """A generation from the properties of its node. What belongs to it carries its key, as `space`."""
    if node is None:
        return None
    embedder = EmbedderId.read(node["embedder"], node["size"])
    return Generation(node["number"], node["space"], embedder, node.get("built"))


@dataclass(slots=True)
class PartitionState:
    """Where a partition stands (see `recollect.index.source.IndexState`), and how much of everything there is, by
    which a reader tells whether it sees all of a write yet (see `recollect.engines.neo4j.source`).
    """

    last: int = 0
    sealed: int = 0
    epoch: int = 0
    deaths: int = 0
    quality: int = 0
    segment_rows: int = 0
    tail_rows: int = 0
    log: int = 0  # deaths that are still in the log
    vectors: int = 0  # quality vectors


@dataclass(frozen=True, slots=True)
class KnownNode:
    """What a write needs to know of a node that is there."""

    id: NodeId
    labels: frozenset[str]
    number: int | None = None
    conversation_id: NodeId | None = None
    message_id: NodeId | None = None  # of a tool call
    parent_id: NodeId | None = None
    position: int | None = None
    revision: int | None = None
    deleted: bool = False
    erased: bool = False
    findable: bool = True  # by its state
    fresh: bool = False  # made by this transaction


@dataclass(slots=True)
class Writing:
    """The transaction, with what it knows. Numbers are given out here, and kept by `finish`."""

    tx: Transaction
    namespace: Namespace
    next: int
    generations: int
    live: Generation | None
    building: Generation | None
    waiting: bool  # whether there are edges whose ends were not there when they were written
    _known: dict[NodeId, KnownNode | None] = field(default_factory=dict)
    _partitions: dict[int, dict[int, PartitionState]] = field(default_factory=dict)
    _before: dict[tuple[int, int], PartitionState] = field(default_factory=dict)

    @classmethod
    def begin(cls, tx: Transaction, namespace: Namespace, location: str, *, create: bool = True) -> Writing | None:
        """Takes the lock. A namespace that was never written is made, or None. Raises StoreError for a newer store."""
        found = tx.run(LOCK, ns=namespace).single()
        if found is None:
            if not create:
                return None
            tx.run(ADD_NAMESPACE, ns=namespace, version=VERSION).consume()
            found = tx.run(LOCK, ns=namespace).single(strict=True)
        verify(found["version"], location)
        return cls(
            tx,
            namespace,
            found["next"],
            found["generations"],
            generation_of(found["live"]),
            generation_of(found["building"]),
            found["waiting"],
        )

    def numbers(self, count: int) -> range:
        """So many numbers that nothing in this namespace has or ever had, ascending."""
        first, self.next = self.next, self.next + count
        return range(first, self.next)

    def put(self, statement: LiteralString, rows: Sequence[Any], **values: Any) -> list[neo4j.Record]:
        """Runs a statement over many rows, in pieces; nothing without any. Returns the records."""
        found: list[neo4j.Record] = []
        for piece in pieces(rows):
            found += self.tx.run(statement, {"ns": self.namespace, "rows": piece, **values})
        return found

    def know(self, ids: Iterable[NodeId]) -> None:
        """Looks up nodes that are not known yet."""
        wanted = [node_id for node_id in dict.fromkeys(ids) if node_id not in self._known]
        self._known.update(dict.fromkeys(wanted))
        for record in self.put(KNOW, wanted):
            values = dict(record)
            self._known[values["id"]] = KnownNode(**{**values, "labels": frozenset(values["labels"])})

    def known(self, id: NodeId | None) -> KnownNode | None:
        """A node that was looked up before, as it is now; None: it is not there."""
        return self._known[id] if id is not None else None

    def learn(self, known: KnownNode) -> None:
        """Keeps what this transaction made or changed."""
        self._known[known.id] = known

    def change(self, id: NodeId, **fields: Any) -> None:
        """Keeps a change to a node that is there."""
        known = self._known[id]
        assert known is not None
        self._known[id] = replace(known, **fields)

    def partitions(self, space: int) -> dict[int, PartitionState]:
        """Where the partitions of a generation stand; what is changed here is kept by `finish`."""
        if space not in self._partitions:
            found = self._partitions[space] = {}
            for record in self.tx.run(PARTITIONS, space=space):
                state = dict(record)
                partition = state.pop("partition")
                found[partition] = PartitionState(**state)
                self._before[space, partition] = PartitionState(**state)
        return self._partitions[space]

    def partition(self, space: int, partition: int) -> PartitionState:
        """Where one partition stands; a new one begins empty."""
        return self.partitions(space).setdefault(int(partition), PartitionState())

    def finish(self) -> None:
        """Keeps where the numbers stand."""
        changed = [
            {"space": space, "partition": partition, "state": asdict(state)}
            for space, states in self._partitions.items()
            for partition, state in states.items()
            if self._before.get((space, partition)) != state
        ]
        self.tx.run(FINISH, ns=self.namespace, next=self.next, partitions=changed).consume()


def pieces(rows: Sequence[T], size: int = ROWS) -> Iterator[Sequence[T]]:
    """Rows in runs of a size that one statement takes."""
    for at in range(0, len(rows), size):
        yield rows[at : at + size]


def labelled(known: KnownNode, label: str) -> KnownNode:
    """The same node. Raises StoreError where it is of another kind: an id stands for one thing in a namespace."""
    if label not in known.labels:
        kinds = ", ".join(sorted(known.labels - {"Node"}))
        raise StoreError(f"The id {known.id} is that of a {kinds}, and cannot be given to a {label} as well.")
    return known


# --- tasks: put with a change, claimed by one worker at a time, done by a change under its fence ----------------------
# A fence is a number that the namespace never gives twice, so that a worker whose lease ran out cannot pass for the
# next one, not even where the task was done and put anew. Every step locks the namespace first and compares then.

PUT = """
UNWIND $rows AS r MERGE (t:Task {namespace: $ns, id: r.id})
ON CREATE SET t += r.values, t.state = 'due', t.number = r.number, t.attempt = 0
"""
CLAIM = """
MATCH (t:Task) WHERE t.namespace = $ns AND t.state IN ['due', 'leased'] AND t.kind IN $kinds AND t.ready <= $now
WITH t ORDER BY t.ready, t.number LIMIT $most
RETURN properties(t) AS task ORDER BY t.ready, t.number
"""
LEASE = """
UNWIND $rows AS r MATCH (t:Task {namespace: $ns, id: r.id})
SET t.state = 'leased', t.worker = $worker, t.ready = $ready, t.fence = r.fence, t.attempt = t.attempt + 1
"""
HELD = "MATCH (t:Task {namespace: $ns, id: $id}) RETURN t.state = 'leased' AND t.fence = $fence AS held"
KEEP = "MATCH (t:Task {namespace: $ns, id: $id}) SET t.answer = $answer"
RELEASE = """
MATCH (t:Task {namespace: $ns, id: $id})
SET t.state = $state, t.ready = coalesce($ready, t.ready), t.why = $why, t.fence = NULL, t.worker = NULL
"""
RENEW = """
UNWIND $rows AS r MATCH (t:Task {namespace: $ns, id: r.id}) WHERE t.state = 'leased' AND t.fence = r.fence
SET t.ready = $ready RETURN t.id AS id, t.fence AS fence
"""
REVIVE = """
MATCH (t:Task) WHERE t.namespace = $ns AND t.state = 'dead' AND ($ids IS NULL OR t.id IN $ids)
SET t.state = 'due', t.attempt = 0, t.ready = 0 RETURN count(t) AS number
"""
DONE = "MATCH (t:Task {namespace: $ns, id: $id}) DELETE t"


def put(writing: Writing, tasks: Sequence[Task]) -> None:
    """Puts tasks; one that is there already is left as it is."""
    numbers = writing.numbers(len(tasks))
    rows = [
        {
            "id": task.id,
            "number": number,
            "values": {
                "kind": task.kind,
                "subject": task.subject,
                "payload": task.payload,
                "due": to_microseconds(task.due),
                "ready": to_microseconds(task.due) or 0,
            },
        }
        for task, number in zip(tasks, numbers, strict=True)
    ]
    writing.put(PUT, rows)


def claim(
    writing: Writing, worker: str, kinds: Sequence[str], most: int, lease: timedelta, now: datetime
) -> list[Lease]:
    """Due tasks, oldest first, now held by this worker."""
    found = list(writing.tx.run(CLAIM, ns=writing.namespace, kinds=list(kinds), most=most, now=to_microseconds(now)))
    until = now + lease
    numbers = writing.numbers(len(found))
    leases = [
        Lease(
            task=task_of(record["task"]),
            fence=fence,
            until=until,
            attempt=record["task"]["attempt"] + 1,
            answer=record["task"].get("answer"),
        )
        for record, fence in zip(found, numbers, strict=True)
    ]
    rows = [{"id": held.task.id, "fence": held.fence} for held in leases]
    writing.put(LEASE, rows, worker=worker, ready=to_microseconds(until))
    return leases


def require(writing: Writing, lease: Lease) -> None:
    """Raises Fenced where the task is not held under this lease any more."""
    found = writing.tx.run(HELD, ns=writing.namespace, id=lease.task.id, fence=lease.fence).single()
    if found is None or not found["held"]:
        raise Fenced(lease)


def keep(writing: Writing, lease: Lease, answer: bytes) -> None:
    """Keeps the answer with the task."""
    writing.tx.run(KEEP, ns=writing.namespace, id=lease.task.id, answer=answer).consume()


def renew(writing: Writing, leases: Sequence[Lease], length: timedelta, now: datetime) -> list[Lease]:
    """Holds tasks for longer; returns the leases that are still held."""
    until = now + length
    rows = [{"id": lease.task.id, "fence": lease.fence} for lease in leases]
    found = writing.tx.run(RENEW, ns=writing.namespace, rows=rows, ready=to_microseconds(until))
    held = {(record["id"], record["fence"]) for record in found}
    return [replace(lease, until=until) for lease in leases if (lease.task.id, lease.fence) in held]


def revive(writing: Writing, ids: Collection[NodeId] | None) -> int:
    """Makes dead tasks due; returns how many."""
    found = writing.tx.run(REVIVE, ns=writing.namespace, ids=None if ids is None else list(ids)).single()
    return int(found["number"]) if found else 0


def release(writing: Writing, lease: Lease, why: str, again: datetime | None) -> None:
    """Due again, or dead."""
    state = "dead" if again is None else "due"
    ready = to_microseconds(again)
    writing.tx.run(RELEASE, ns=writing.namespace, id=lease.task.id, state=state, ready=ready, why=why).consume()


def done(writing: Writing, lease: Lease) -> None:
    """The task goes."""
    writing.tx.run(DONE, ns=writing.namespace, id=lease.task.id).consume()


def task_of(node: Any) -> Task:
    """From the properties of its node."""
    return Task(
        id=node["id"],
        kind=node["kind"],
        subject=node.get("subject"),
        payload=node.get("payload") or b"",
        due=from_microseconds(node.get("due")),
    )
