"""Erasing: the words of messages, conversations, documents and derived nodes go; a tombstone says that they were.

In pieces, each a transaction: killed in between, what is erased is erased, and the same call goes on. The words are out
of every node, relationship and index. Beyond the reach of any client: Neo4j's own files. The transaction logs keep what
was written for as long as the server retains them (`db.tx_log.rotation.retention_policy`, two days by default), freed
records of the store and of Lucene keep bytes until they are written over. Whoever must be sure exports, makes the
database anew and imports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from recollect.engines.neo4j import passages, relations, tail
from recollect.engines.neo4j.maintain import segments_without
from recollect.engines.neo4j.put import CALLS_OF, CHUNKS_OF, DELETE, RAISE
from recollect.engines.neo4j.writing import Generation, Known, Writing, pieces
from recollect.errors import NotFound
from recollect.record import NodeId
from recollect.store.results import Erased

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


def erase(within: Within[Erased], looking: Within[list[Known]], ids: Sequence[NodeId]) -> Erased:
    """Erases all of this, piece by piece. Raises NotFound before anything is erased."""
    known: dict[NodeId, Known] = {}
    for piece in pieces(list(dict.fromkeys(ids)), _LOOKED_UP):
        known |= {there.id: there for there in looking(partial(_find, ids=piece))}
    missing = [node_id for node_id in ids if node_id not in known]
    if missing:
        raise NotFound(f"Nothing has the ID {missing[0]}.")
    # In the order of writing: what lies together in a segment goes together.
    order = sorted(known.values(), key=lambda there: there.number or 0)
    alone = [there.id for there in order if "Conversation" not in there.labels]
    whole = [there.id for there in order if "Conversation" in there.labels]
    done = Erased()
    for piece in pieces(alone, _PIECE):
        done = _sum(done, within(partial(_erase, ids=piece)))
    for piece in pieces(whole, _TOGETHER):
        more = True
        while more:
            part = within(partial(_erase_some, conversations=piece))
            done = _sum(done, part)
            more = part.messages == _PIECE
    return done


def purge(writing: Writing) -> None:
    """Takes what died out of tails and segments, whose words are nowhere else, and drops the answers of tasks."""
    for generation in _generations(writing):
        numbers: dict[int, list[int]] = {}
        for record in list(writing.tx.run(ALL_DEATHS, space=generation.space)):
            numbers.setdefault(record["partition"], []).append(record["number"])
            writing.partition(generation.space, record["partition"]).log -= 1
        _take_out(writing, generation, numbers)
    writing.tx.run(DROP_ANSWERS, ns=writing.namespace).consume()


def _find(writing: Writing, ids: Sequence[NodeId]) -> list[Known]:
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
    calls = [record["id"] for record in writing.put(CALLS_OF, of["Message"])]
    owners = [*(known.id for known in living), *calls]
    silenced = sum(_silence(writing, generation, owners) for generation in _generations(writing))
    chunks = [record["id"] for record in writing.put(CHUNKS_OF, owners)]
    turns = [record["id"] for record in writing.put(TURNS_OF, of["Conversation"])]
    loose = [*owners, *chunks, *turns]
    writing.put(relations.CUT_ALL_DRAWN, loose)
    writing.put(relations.CUT_ALL_KEPT, loose)
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


def _generations(writing: Writing) -> Iterable[Generation]:
    """All that hold anything, those to be swept too."""
    for record in list(writing.tx.run(GENERATIONS, ns=writing.namespace)):
        generation = Generation.of(record["generation"])
        if generation is not None:
            yield generation


def _silence(writing: Writing, generation: Generation, owners: Sequence[NodeId]) -> int:
    """Takes the passages of owners out of nodes and segments, those of earlier wordings too. Returns how many lived in
    the generation that search reads.
    """
    dead = passages.kill(writing, generation, owners, log=False)
    numbers: dict[int, list[int]] = {}
    for one in dead:
        numbers.setdefault(one.partition, []).append(one.number)
    for record in writing.put(EARLIER_DEATHS, owners, space=generation.space):
        numbers.setdefault(record["partition"], []).append(record["number"])
        writing.partition(generation.space, record["partition"]).log -= 1
    _take_out(writing, generation, numbers)
    return len(dead) if writing.live is not None and generation.space == writing.live.space else 0


def _take_out(writing: Writing, generation: Generation, numbers: Mapping[int, Sequence[int]]) -> None:
    """Takes passages, by partition, out of tails and segments."""
    for partition, own in numbers.items():
        tail.remove(writing, generation.space, partition, own)
        if not segments_without(writing, generation.space, partition, own):
            writing.partition(generation.space, partition).epoch += 1


def _sum(a: Erased, b: Erased) -> Erased:
    return Erased(
        a.conversations + b.conversations,
        a.messages + b.messages,
        a.documents + b.documents,
        a.nodes + b.nodes,
        a.passages + b.passages,
    )
