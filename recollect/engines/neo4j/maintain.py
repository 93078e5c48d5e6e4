"""Upkeep in short transactions: sealing tails into segments, writing segments anew without the dead, sweeping, erasing.

A user's write does none of it. Each step looks first for what there is to do, so that it goes on wherever another
process, or a kill, has left off.

Erasing takes the words of messages, conversations, documents and derived nodes out of every node, relationship and
index; a tombstone says that they were. It goes in pieces, each a transaction: killed in between, what is erased is
erased, and the same call goes on. Beyond the reach of any client are Neo4j's own files. The transaction logs keep what
was written for as long as the server retains them (`db.tx_log.rotation.retention_policy`, two days by default), freed
records of the store and of Lucene keep bytes until they are written over. Whoever must be sure exports, makes the
database anew and imports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, LiteralString, TypeVar

import neo4j

from recollect.engines import plans
from recollect.engines.neo4j import indexing, put
from recollect.engines.neo4j.put import CHUNKS_OF, DELETE, RAISE
from recollect.engines.neo4j.schema import verify
from recollect.engines.neo4j.writing import KnownNode, Writing, pieces
from recollect.engines.plans import Generation
from recollect.index.source import SEGMENT_ROWS, SETTLED_ROWS, SegmentMark, seal, without
from recollect.record import Namespace, NodeId
from recollect.store.results import Erased

# Whether there may be anything to do: asked without the lock, and without writing.
DUE = """
MATCH (s:Schema {name: 'recollect'}) MATCH (n:Namespace {name: $ns})
RETURN s.version AS version,
    EXISTS { MATCH (g:Generation) WHERE g.namespace = $ns AND g.number > 0 AND g.state = 'garbage' }
    OR EXISTS { MATCH (x:Partition) WHERE x.space IN [n.live, n.building] AND x.partition IS NOT NULL
      AND (x.tail_rows >= $settled OR x.log >= $deaths) } AS due
"""
ADD_SEGMENT = """
CREATE (:IndexSegment {space: $space, partition: $partition, first: $first, last: $last, size: $size,
    checksum: $checksum, data: $data})
"""
DEATHS = """
MATCH (d:Death) WHERE d.space = $space AND d.partition = $partition AND d.place > 0
RETURN d.number AS number
"""
CLEAR_DEATHS = """
MATCH (d:Death) WHERE d.space = $space AND d.partition = $partition AND d.place > 0
  AND any(run IN $rows WHERE run[0] <= d.number <= run[1])
DELETE d RETURN count(*) AS gone
"""
HOLDING = """
UNWIND $rows AS number
MATCH (s:IndexSegment) WHERE s.space = $space AND s.partition = $partition AND s.first <= number AND s.last >= number
RETURN s.first AS first, collect(number) AS numbers ORDER BY first
"""
SEGMENT = """
MATCH (s:IndexSegment {space: $space, partition: $partition, first: $first})
RETURN s.last AS last, s.size AS size, s.data AS data
"""
DROP_SEGMENT = "MATCH (s:IndexSegment {space: $space, partition: $partition, first: $first}) DELETE s"
GARBAGE = """
MATCH (g:Generation) WHERE g.namespace = $ns AND g.number > 0 AND g.state = 'garbage'
RETURN g.space AS space ORDER BY space LIMIT 1
"""


def _swept(node: LiteralString, limit: LiteralString = "$limit") -> LiteralString:
    """The statement that removes some nodes `x`, and counts them."""
    return f"MATCH {node} WITH x LIMIT {limit} DELETE x RETURN count(*) AS gone"


SWEEP_PASSAGES = _swept("(x:Passage) WHERE x.space = $space AND x.number > 0")
SWEEP_QUALITY = _swept("(x:Quality) WHERE x.space = $space AND x.number > 0")
SWEEP_DEATHS = _swept("(x:Death) WHERE x.space = $space AND x.owner_id IS NOT NULL")
SWEEP_TODO = _swept("(x:Todo) WHERE x.space = $space AND x.owner_id IS NOT NULL")
SWEEP_SPEAKERS = _swept("(x:Speaker) WHERE x.space = $space AND x.key IS NOT NULL")
SWEEP_SEGMENTS = _swept(
    "(x:IndexSegment) WHERE x.space = $space AND x.partition IS NOT NULL AND x.first IS NOT NULL", "20"
)
SWEEP_TAILS = _swept("(x:Tail) WHERE x.space = $space AND x.partition IS NOT NULL AND x.last IS NOT NULL", "20")
SWEEP_PIECES = "MATCH (k:PieceCount {space: $space}) DELETE k RETURN count(*) AS gone"
SWEEP_PARTITIONS = """
MATCH (x:Partition) WHERE x.space = $space AND x.partition IS NOT NULL DELETE x RETURN count(*) AS gone
"""
SWEEP_GENERATION = "MATCH (g:Generation {space: $space}) DELETE g"

#: In the order in which they go; the generation's own node is the last, so that what is left is always known.
SWEEPS: tuple[LiteralString, ...] = (
    SWEEP_SEGMENTS, SWEEP_TAILS, SWEEP_PASSAGES, SWEEP_QUALITY, SWEEP_DEATHS, SWEEP_TODO, SWEEP_SPEAKERS, SWEEP_PIECES,
    SWEEP_PARTITIONS,
)  # fmt: skip

_SWEPT = 2000  # nodes a transaction
_REWRITTEN = 8  # segments a transaction
_FEW_DEATHS = 1000  # a log of so many deaths is no burden


# A namespace that is dropped: its tasks first, so that no worker finishes one; what is left stays known by its node.
GIVE_UP = """
MATCH (n:Namespace {name: $ns}) SET n.live = NULL, n.building = NULL
WITH n MATCH (g:Generation) WHERE g.namespace = $ns AND g.number > 0 SET g.state = 'garbage'
"""
DROPS: tuple[LiteralString, ...] = (
    _swept("(x:Task) WHERE x.namespace = $ns AND x.id IS NOT NULL"),
    _swept("(x:Edge) WHERE x.namespace = $ns AND x.target_id IS NOT NULL"),
    _swept("(x:Node) WHERE x.namespace = $ns AND x.id IS NOT NULL").replace("DELETE", "DETACH DELETE"),
)
DROP_NAME = "MATCH (n:Namespace {name: $ns}) DELETE n"


def drop(writing: Writing) -> bool:
    """Removes a piece of a namespace that is dropped, at last its name; False where that is gone."""
    writing.tx.run(GIVE_UP, ns=writing.namespace).consume()
    if _sweep(writing):
        return True
    for statement in DROPS:
        if writing.tx.run(statement, ns=writing.namespace, limit=_SWEPT).single(strict=True)["gone"]:
            return True
    writing.tx.run(DROP_NAME, ns=writing.namespace).consume()
    return False


def is_due(tx: neo4j.ManagedTransaction, ns: Namespace, location: str) -> bool:
    """Whether `step` may find something to do. Raises StoreError for a newer store."""
    found = tx.run(DUE, ns=ns, settled=SETTLED_ROWS, deaths=_FEW_DEATHS).single()
    if found is None:
        return False
    verify(found["version"], location)
    return bool(found["due"])


def step(writing: Writing) -> bool:
    """Does one thing; False where there is nothing to do."""
    return _seal(writing) or _compact(writing) or _sweep(writing)


def segments_without(
    writing: Writing, space: int, partition: int, numbers: Iterable[int], most: int | None = None
) -> list[tuple[int, int]]:
    """Writes the segments that hold these passages anew without them; returns the runs of numbers they stood for.

    What is loaded elsewhere is void by that: the epoch is raised.
    """
    wanted = sorted(set(numbers))
    by_first: dict[int, list[int]] = {}
    for record in writing.put(HOLDING, wanted, space=space, partition=partition):
        by_first.setdefault(record["first"], []).extend(record["numbers"])
    runs = []
    for first in sorted(by_first)[:most]:
        where = {"space": space, "partition": partition, "first": first}
        found = writing.tx.run(SEGMENT, where).single(strict=True)
        runs.append((first, found["last"]))
        writing.tx.run(DROP_SEGMENT, where).consume()
        writing.partition(space, partition).segment_rows -= found["size"]
        left = without(found["data"], by_first[first], f"{first} of partition {partition}")
        if left is not None:
            _add_segment(writing, space, partition, *left)
    if runs:
        writing.partition(space, partition).epoch += 1
    return runs


def _in_use(writing: Writing) -> Iterator[Generation]:
    for generation in (writing.live, writing.building):
        if generation is not None:
            yield generation


def _seal(writing: Writing) -> bool:
    """The oldest rows of a tail that is long enough become a segment, but for those that have died."""
    for generation in _in_use(writing):
        for partition, state in writing.partitions(generation.key).items():
            if state.tail_rows < SETTLED_ROWS:
                continue
            where: dict[str, Any] = {"space": generation.key, "partition": partition}
            dead = {r["number"] for r in writing.tx.run(DEATHS, where)} if state.log else set()
            rows = indexing.take_tail(writing, generation.key, partition, SEGMENT_ROWS)
            living = [row for row in rows if row.number not in dead]
            if living:
                _add_segment(writing, generation.key, partition, *seal(living))
            state.sealed = rows[-1].number
            return True
    return False


def _add_segment(writing: Writing, space: int, partition: int, mark: SegmentMark, data: bytes) -> None:
    first, last, size, checksum = mark
    writing.partition(space, partition).segment_rows += size
    writing.tx.run(
        ADD_SEGMENT, space=space, partition=partition, first=first, last=last, size=size, checksum=checksum, data=data
    ).consume()


def _compact(writing: Writing) -> bool:
    """Where many rows have died, segments are written anew without them, and the log of these deaths is emptied."""
    for generation in _in_use(writing):
        for partition, state in writing.partitions(generation.key).items():
            if state.log < _FEW_DEATHS:
                continue
            where: dict[str, Any] = {"space": generation.key, "partition": partition}
            dead = [r["number"] for r in writing.tx.run(DEATHS, **where) if r["number"] <= state.sealed]
            if len(dead) < _FEW_DEATHS:
                continue
            runs = segments_without(writing, generation.key, partition, dead, _REWRITTEN)
            if not runs:  # what died was dropped when it was sealed
                state.epoch += 1
            cleared = [list(run) for run in runs] or [[0, state.sealed]]
            state.log -= writing.tx.run(CLEAR_DEATHS, **where, rows=cleared).single(strict=True)["gone"]
            return True
    return False


def _sweep(writing: Writing) -> bool:
    """A piece of a generation that was given up goes."""
    found = writing.tx.run(GARBAGE, ns=writing.namespace).single()
    if found is None:
        return False
    for statement in SWEEPS:
        if writing.tx.run(statement, space=found["space"], limit=_SWEPT).single(strict=True)["gone"]:
            return True
    writing.tx.run(SWEEP_GENERATION, space=found["space"]).consume()
    return True


# Erasing: the words of messages, conversations, documents and derived nodes go; a tombstone says that they were.

MESSAGES = """
UNWIND $rows AS id MATCH (c:Conversation&Node {namespace: $ns, id: id}) WHERE NOT c.erased
WITH c.id AS id
MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id = id AND m.position >= 0 AND NOT m.erased
RETURN m.id AS id LIMIT $limit
"""
# What is derived from a conversation goes with it.
DERIVED_OF = """
UNWIND $rows AS id MATCH (c:Conversation&Node {namespace: $ns, id: id}) WHERE NOT c.erased
WITH c.id AS id
MATCH (d:Derived) WHERE d.namespace = $ns AND d.conversation_id = id AND NOT d.erased
RETURN d.id AS id
"""
TURNS_OF = """
UNWIND $rows AS id MATCH (:Conversation&Node {namespace: $ns, id: id})-[:HAS_TURN]->(t) RETURN t.id AS id
"""
GENERATIONS = """
MATCH (g:Generation) WHERE g.namespace = $ns AND g.number > 0 RETURN properties(g) AS generation ORDER BY g.number
"""
EARLIER_DEATHS = """
UNWIND $rows AS id MATCH (d:Death) WHERE d.space = $space AND d.owner_id = id
WITH d, d.partition AS partition, d.number AS number DELETE d
RETURN partition, number
"""
ALL_DEATHS = """
MATCH (d:Death) WHERE d.space = $space AND d.owner_id IS NOT NULL
WITH d, d.partition AS partition, d.number AS number DELETE d
RETURN partition, number
"""
STRIP_TURNS = """
UNWIND $rows AS id MATCH (:Message&Node {namespace: $ns, id: id})<-[:HAS_QUERY|HAS_RESPONSE]-(t:Turn)
SET t.resolved_query = NULL, t.entities = NULL, t.source_chunk_ids = NULL
"""
# What is not named here is gone.
STRIP_MESSAGES = """
UNWIND $rows AS id MATCH (n:Message&Node {namespace: $ns, id: id})
SET n = {namespace: n.namespace, id: n.id, number: n.number, conversation_id: n.conversation_id, position: n.position,
    parent_id: n.parent_id, source_id: n.source_id, source_key: n.source_key, role: n.role, kind: n.kind,
    active: n.active, content: '', tokens: 0, deleted: true, erased: true}
"""
STRIP_CONVERSATIONS = """
UNWIND $rows AS id MATCH (n:Conversation&Node {namespace: $ns, id: id})
SET n = {namespace: n.namespace, id: n.id, number: n.number, revision: n.revision, source: n.source,
    source_id: n.source_id, source_key: n.source_key, leaf_id: n.leaf_id, messages: n.messages, title: '',
    deleted: true, erased: true}
"""
STRIP_DOCUMENTS = """
UNWIND $rows AS id MATCH (n:Document&Node {namespace: $ns, id: id})
SET n = {namespace: n.namespace, id: n.id, number: n.number, revision: n.revision, source: n.source,
    source_id: n.source_id, title: '', content: '', erased: true}
"""
STRIP_DERIVED = """
UNWIND $rows AS id MATCH (n:Derived&Node {namespace: $ns, id: id})
SET n = {namespace: n.namespace, id: n.id, number: n.number, revision: n.revision, kind: n.kind, key: '', text: '',
    short_key: '', state: n.state, conversation_id: n.conversation_id, score: 0.0, origin: n.origin,
    made_by: n.made_by, erased: true}
"""
CONVERSATIONS_OF = """
UNWIND $rows AS id MATCH (m:Message&Node {namespace: $ns, id: id}) RETURN DISTINCT m.conversation_id AS id
"""
DROP_TASKS = """
UNWIND $rows AS id MATCH (t:Task) WHERE t.namespace = $ns AND t.subject = id DELETE t
"""
# They may repeat what is erased; which of them do, nobody knows.
DROP_ANSWERS = """
MATCH (t:Task) WHERE t.namespace = $ns AND t.state IN ['due', 'leased', 'dead'] AND t.answer IS NOT NULL REMOVE t.answer
"""

_PIECE = 2000  # messages a transaction
_TOGETHER = 200  # conversations a transaction
_LOOKED_UP = 20_000
_ERASED = frozenset({"Message", "Conversation", "Document", "Derived"})

T = TypeVar("T")
#: Runs a piece of work in one transaction on the namespace.
Within = Callable[[Callable[[Writing], T]], T]


def erase(within: Within[Erased], looking: Within[list[KnownNode]], ids: Sequence[NodeId]) -> Erased:
    """Erases all of this, piece by piece. Raises NotFound before anything is erased."""
    known: dict[NodeId, KnownNode] = {}
    for piece in pieces(list(dict.fromkeys(ids)), _LOOKED_UP):
        known |= {there.id: there for there in looking(partial(_find, ids=piece))}
    plans.require_all(ids, known)
    # In the order of writing: what lies together in a segment goes together.
    order = sorted(known.values(), key=lambda there: there.number or 0)
    alone = [there.id for there in order if "Conversation" not in there.labels]
    whole = [there.id for there in order if "Conversation" in there.labels]
    done = Erased()
    for piece in pieces(alone, _PIECE):
        done += within(partial(_erase, ids=piece))
    for piece in pieces(whole, _TOGETHER):
        more = True
        while more:
            part = within(partial(_erase_some, conversations=piece))
            done += part
            more = part.messages == _PIECE
    return done


def purge(writing: Writing) -> None:
    """Takes what died out of tails and segments, whose words are nowhere else, and drops the answers of tasks."""

    def dead(space: int) -> tuple[int, list[tuple[int, int]]]:
        return 0, _from_log(writing, space, list(writing.tx.run(ALL_DEATHS, space=space)))

    plans.take_out(_generations(writing), dead, partial(_take_out, writing))
    writing.tx.run(DROP_ANSWERS, ns=writing.namespace).consume()


def _find(writing: Writing, ids: Sequence[NodeId]) -> list[KnownNode]:
    writing.know(ids)
    found = (writing.known(node_id) for node_id in ids)
    return [known for known in found if known is not None and known.labels & _ERASED]


def _erase_some(writing: Writing, conversations: Sequence[NodeId]) -> Erased:
    """Messages of conversations; with the last of them the conversations themselves."""
    found = writing.tx.run(MESSAGES, ns=writing.namespace, rows=list(conversations), limit=_PIECE)
    ids = [record["id"] for record in found]
    if len(ids) < _PIECE:
        ids += [record["id"] for record in writing.put(DERIVED_OF, conversations)]
        ids += conversations
    return _erase(writing, ids)


def _erase(writing: Writing, ids: Sequence[NodeId]) -> Erased:
    writing.know(ids)
    living = [known for node_id in ids if (known := writing.known(node_id)) is not None and not known.erased]
    of = {label: [known.id for known in living if label in known.labels] for label in _ERASED}
    calls = [record["id"] for record in writing.put(indexing.CALLS_OF, of["Message"])]
    owners = [*(known.id for known in living), *calls]

    def killed(space: int) -> tuple[int, list[tuple[int, int]]]:
        dead = indexing.kill(writing, space, owners, log=False)
        earlier = _from_log(writing, space, writing.put(EARLIER_DEATHS, owners, space=space))
        return len(dead), [*((one.partition, one.number) for one in dead), *earlier]

    silenced = plans.take_out(_generations(writing), killed, partial(_take_out, writing))
    chunks = [record["id"] for record in writing.put(CHUNKS_OF, owners)]
    turns = [record["id"] for record in writing.put(TURNS_OF, of["Conversation"])]
    loose = [*owners, *chunks, *turns]
    writing.put(put.CUT_ALL_DRAWN, loose)
    writing.put(put.CUT_ALL_KEPT, loose)
    writing.put(DROP_TASKS, loose)
    if loose:
        writing.tx.run(DROP_ANSWERS, ns=writing.namespace).consume()
    writing.put(DELETE, [*chunks, *calls, *turns])
    writing.put(STRIP_TURNS, of["Message"])
    touched = [record["id"] for record in writing.put(CONVERSATIONS_OF, of["Message"])]
    writing.put(STRIP_MESSAGES, of["Message"])
    writing.put(STRIP_CONVERSATIONS, of["Conversation"])
    writing.put(STRIP_DOCUMENTS, of["Document"])
    writing.put(STRIP_DERIVED, of["Derived"])
    revised = dict.fromkeys([*touched, *of["Conversation"], *of["Document"], *of["Derived"]])
    writing.put(RAISE, [{"id": node_id, "digest": None} for node_id in revised])
    return Erased(
        conversations=len(of["Conversation"]),
        messages=len(of["Message"]),
        documents=len(of["Document"]),
        nodes=len(of["Derived"]),
        passages=silenced,
    )


def _generations(writing: Writing) -> list[tuple[int, bool]]:
    """The spaces of all that hold anything, those to be swept too, each with whether search reads it."""
    live = writing.live.key if writing.live else None
    found = (record["generation"]["space"] for record in writing.tx.run(GENERATIONS, ns=writing.namespace))
    return [(space, space == live) for space in found]


def _from_log(writing: Writing, space: int, deaths: Iterable[Any]) -> list[tuple[int, int]]:
    """Passages that died before, by partition and number; they have just gone from the log."""
    found = [(record["partition"], record["number"]) for record in deaths]
    for partition, _ in found:
        writing.partition(space, partition).log -= 1
    return found


def _take_out(writing: Writing, space: int, partition: int, numbers: Sequence[int]) -> None:
    """Takes passages out of the tail and the segments of a partition."""
    indexing.remove_from_tail(writing, space, partition, numbers)
    if not segments_without(writing, space, partition, numbers):
        writing.partition(space, partition).epoch += 1
