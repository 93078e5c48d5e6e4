"""Reading records by id, by position, by what they hang on. Every statement names the namespace."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, LiteralString, TypeVar

import neo4j
import numpy as np
import orjson

from recollect.engines.codec import unpack_map
from recollect.engines.neo4j.put import LABELS, Properties, readable, record, source_key
from recollect.record import (
    Chunk,
    Conversation,
    Document,
    Edge,
    Message,
    Namespace,
    Node,
    NodeId,
    Thread,
    ToolCall,
    Turn,
)
from recollect.store.change import Record
from recollect.store.passages import Owner, PassageText, TokenRows
from recollect.store.results import End, Lost, R, Revision, Span


def _get(label: LiteralString) -> LiteralString:
    """The statement that reads nodes of a label by id."""
    return f"UNWIND $ids AS id MATCH (n:{label}&Node {{namespace: $ns, id: id}}) RETURN properties(n) AS node"


GET_CONVERSATIONS, GET_TURNS = _get("Conversation"), _get("Turn")
GET_DOCUMENTS, GET_DERIVED = _get("Document"), _get("Derived")
# The revisions of their conversations are read before them: what is planned on these messages is then told to be stale
# where they were written meanwhile.
GET_MESSAGES = """
UNWIND $ids AS id MATCH (n:Message&Node {namespace: $ns, id: id})
WITH collect(n) AS messages, collect(DISTINCT n.conversation_id) AS owners
CALL (owners) {
    UNWIND owners AS owner MATCH (c:Conversation&Node {namespace: $ns, id: owner})
    RETURN collect([c.id, c.revision, c.digest, c.erased]) AS revisions
}
RETURN revisions, [n IN messages | properties(n)] AS nodes
"""
# A result that is a message of its own is filled in.
GET_CALLS = """
UNWIND $ids AS id MATCH (n:ToolCall&Node {namespace: $ns, id: id})
OPTIONAL MATCH (m:Message&Node {namespace: $ns, id: n.result_message_id})
RETURN n {.*, result: CASE WHEN n.result <> '' THEN n.result ELSE coalesce(m.content, '') END} AS node
"""
GET_CHUNKS = """
UNWIND $ids AS id MATCH (n:Chunk) WHERE n.namespace = $ns AND n.parent_id = id RETURN properties(n) AS node
"""
REVISIONS = """
UNWIND $ids AS id MATCH (n:Node {namespace: $ns, id: id}) WHERE n:Conversation OR n:Document OR n:Derived
RETURN n.id AS id, n.revision AS revision, n.digest AS digest, n.erased AS erased
"""
KINDS = "UNWIND $ids AS id MATCH (n:Node {namespace: $ns, id: id}) RETURN n.id AS id, labels(n) AS labels"
THREAD_MESSAGES = """
MATCH (n:Message) WHERE n.namespace = $ns AND n.conversation_id = $id AND n.position >= 0
RETURN properties(n) AS node ORDER BY n.namespace, n.conversation_id, n.position
"""
THREAD_CALLS = """
MATCH (n:ToolCall) WHERE n.namespace = $ns AND n.conversation_id = $id RETURN properties(n) AS node
"""
THREAD_TURNS = """
MATCH (n:Turn) WHERE n.namespace = $ns AND n.conversation_id = $id AND n.position IS NOT NULL
RETURN properties(n) AS node
"""
CONVERSATION = """
MATCH (c:Conversation&Node {namespace: $ns, id: $id}) WITH c, c.revision AS revision
RETURN revision, properties(c) AS node
"""
END = """
MATCH (c:Conversation&Node {namespace: $ns, id: $id}) WITH c, c.revision AS revision, properties(c) AS conversation
OPTIONAL MATCH (leaf:Message&Node {namespace: $ns, id: c.leaf_id})
OPTIONAL MATCH (turn:Turn&Node {namespace: $ns, id: c.turn_id})
RETURN revision, conversation, properties(leaf) AS leaf, properties(turn) AS turn,
    EXISTS { MATCH (n:Message) WHERE n.namespace = $ns AND n.conversation_id = $id AND n.named = true } AS named
"""
# A message has one parent: the nearest come first, and no more are walked than are asked for.
ABOVE = """
MATCH (m:Message&Node {namespace: $ns, id: $id})
MATCH path = (m)-[:REPLIES_TO*1..]->(p)
RETURN properties(p) AS node, length(path) AS depth LIMIT $most
"""
AROUND = """
UNWIND range(0, size($spans) - 1) AS place
MATCH (n:Message) WHERE n.namespace = $ns AND n.conversation_id = $spans[place][0]
  AND $spans[place][1] <= n.position <= $spans[place][2]
RETURN place, properties(n) AS node ORDER BY place, n.position
"""
SIZES = """
UNWIND $ids AS id MATCH (c:Conversation&Node {namespace: $ns, id: id})
CALL (c) {
    MATCH (m:Message) WHERE m.namespace = $ns AND m.conversation_id = c.id AND m.position >= 0
    RETURN sum(CASE WHEN m.deleted THEN 0 ELSE 1 END) AS living, count(*) AS all
}
RETURN c.id AS id, living, all
"""
# One row: each would cost the driver a read.
ORIGINS = """
MATCH (c:Conversation) WHERE c.namespace = $ns AND c.id IS NOT NULL AND c.number IN $numbers
RETURN collect(c.number) AS numbers, collect(c.id) AS ids, collect(c.source) AS sources
"""
CALLED = """
CALL () {
    MATCH (n:Node {namespace: $ns, id: $text}) WHERE n:Conversation OR n:Message
    RETURN n.id AS id, n.source_id AS source_id
    UNION MATCH (n:Conversation) WHERE n.namespace = $ns AND n.source_key = $key
    RETURN n.id AS id, n.source_id AS source_id
    UNION MATCH (n:Message) WHERE n.namespace = $ns AND n.source_key = $key
    RETURN n.id AS id, n.source_id AS source_id
}
RETURN id, source_id ORDER BY id
"""
# Ends of ids, whatever the case; an id that is the whole of it comes first.
ENDING = """
MATCH (n:Node) WHERE n.namespace = $ns AND n.id IS NOT NULL AND toUpper(n.id) ENDS WITH $upper
  AND (n:Conversation OR n:Message)
RETURN n.id AS id ORDER BY size(id) <> $size, id LIMIT $limit
"""
# Living messages that hold any of these words, by reading them all. Two letters have another case than toLower knows.
SCAN = """
MATCH (n:Message) WHERE n.namespace = $ns AND n.conversation_id IS NOT NULL AND n.position >= 0 AND NOT n.deleted
WITH n, replace(replace(toLower(n.content), 'ß', 'ss'), 'ς', 'σ') AS text
WITH n, size([word IN $words WHERE text CONTAINS word]) AS held WHERE held > 0
WITH n, held ORDER BY held DESC, coalesce(n.timestamp, -9223372036854775808) DESC, n.id DESC LIMIT $limit
RETURN properties(n) AS node
"""

_GET: Mapping[type[Any], LiteralString] = {
    Conversation: GET_CONVERSATIONS,
    ToolCall: GET_CALLS,
    Turn: GET_TURNS,
    Chunk: GET_CHUNKS,
    Document: GET_DOCUMENTS,
    Node: GET_DERIVED,
}


_ATTEMPTS, _PAUSE = 50, 0.005  # until a write is in sight

T = TypeVar("T")


def get(
    tx: neo4j.Transaction, ns: Namespace, kind: type[R], ids: Sequence[NodeId], lost: Lost | None = None
) -> list[R]:
    """Those that are there, in the order asked for; of Chunk those of the parents. See `readable` for `lost`."""
    if not ids:
        return []
    nodes = [r["node"] for r in tx.run(_GET[kind], ns=ns, ids=list(dict.fromkeys(ids)))]
    if kind is Chunk:
        place = {parent_id: at for at, parent_id in reversed(list(enumerate(ids)))}
        nodes.sort(key=lambda node: (place[node["parent_id"]], node["part"], node["index"]))
    found = readable(kind, nodes, lost)
    if kind is Chunk:
        return found
    by_id = {one.id: one for one in found}
    return [by_id[node_id] for node_id in ids if node_id in by_id]


def messages(
    tx: neo4j.Transaction, ns: Namespace, ids: Sequence[NodeId]
) -> tuple[list[Message], dict[NodeId, Revision]]:
    """Those that are there, in any order, and the revisions of their conversations as they were before."""
    found = tx.run(GET_MESSAGES, ns=ns, ids=list(dict.fromkeys(ids))).single()
    if found is None:
        return [], {}
    of = {owner: Revision(number, digest, bool(erased)) for owner, number, digest, erased in found["revisions"]}
    return [record(Message, node) for node in found["nodes"]], of


def revisions(tx: neo4j.Transaction, ns: Namespace, ids: Sequence[NodeId]) -> dict[NodeId, Revision]:
    """Of those conversations, documents and derived nodes that are there."""
    found = tx.run(REVISIONS, ns=ns, ids=list(dict.fromkeys(ids)))
    return {r["id"]: Revision(r["revision"], r["digest"], bool(r["erased"])) for r in found}


def kinds(tx: neo4j.Transaction, ns: Namespace, ids: Sequence[NodeId]) -> dict[NodeId, type[Record]]:
    """What they stand for."""
    found = tx.run(KINDS, ns=ns, ids=list(dict.fromkeys(ids)))
    return {r["id"]: next(kind for kind, label in LABELS.items() if label in r["labels"]) for r in found}


def thread(
    tx: neo4j.Transaction, ns: Namespace, id: NodeId, lost: Lost | None = None
) -> tuple[Thread, Revision] | None:
    """A conversation with everything in it, and its revision as it was before that was read."""

    def look() -> tuple[tuple[neo4j.Record, list[Properties]] | None, bool]:
        found = tx.run(CONVERSATION, ns=ns, id=id).single()
        if found is None:
            return None, True
        nodes = [r["node"] for r in tx.run(THREAD_MESSAGES, ns=ns, id=id)]
        return (found, nodes), len(nodes) >= found["node"].get("messages", 0)

    seen = _in_sight(look)
    if seen is None:
        return None
    found, messages = seen[0], readable(Message, seen[1], lost)
    calls = readable(ToolCall, [r["node"] for r in tx.run(THREAD_CALLS, ns=ns, id=id)], lost)
    turns = readable(Turn, [r["node"] for r in tx.run(THREAD_TURNS, ns=ns, id=id)], lost)
    chunks = get(tx, ns, Chunk, [*(m.id for m in messages), *(call.id for call in calls)], lost)
    whole = Thread(
        conversation=record(Conversation, found["node"]),
        messages=tuple(messages),
        tool_calls=tuple(sorted(calls, key=lambda call: (call.position, call.id))),
        turns=tuple(sorted(turns, key=lambda turn: (turn.position, turn.id))),
        chunks=tuple(sorted(chunks, key=lambda chunk: (chunk.parent_id, chunk.part, chunk.index))),
    )
    return whole, _revision(found["revision"], found["node"])


def end(tx: neo4j.Transaction, ns: Namespace, id: NodeId) -> tuple[End, Revision] | None:
    """The growing end of a conversation: a few seeks, whatever its length; and its revision as it was before."""

    def look() -> tuple[neo4j.Record | None, bool]:
        found = tx.run(END, ns=ns, id=id).single()
        if found is None:
            return None, True
        node = found["conversation"]
        has_leaf = found["leaf"] or not node.get("leaf_id") or not node.get("messages")
        return found, bool(has_leaf and (found["turn"] or not node.get("turn_id")))

    found = _in_sight(look)
    if found is None:
        return None
    node, leaf, turn = found["conversation"], found["leaf"], found["turn"]
    whole = End(
        conversation=record(Conversation, node),
        revision=found["revision"],
        message_count=node.get("messages", 0),
        leaf=record(Message, leaf) if leaf else None,
        turn=record(Turn, turn) if turn else None,
        named=found["named"],
    )
    return whole, _revision(found["revision"], node)


def _in_sight(look: Callable[[], tuple[T, bool]]) -> T:
    """Looks again for a while where not all of a write is in sight yet: what indexes lead to comes last."""
    found, whole = look()
    for _ in range(_ATTEMPTS):
        if whole:
            break
        time.sleep(_PAUSE)
        found, whole = look()
    return found


def _revision(number: int, node: Properties) -> Revision:
    return Revision(number, node.get("digest"), bool(node.get("erased")))


def above(tx: neo4j.Transaction, ns: Namespace, id: NodeId, most: int) -> list[Message]:
    """What stands above a message, its parent first."""
    found = sorted(tx.run(ABOVE, ns=ns, id=id, most=most), key=lambda r: r["depth"])
    return [record(Message, r["node"]) for r in found]


def around(tx: neo4j.Transaction, ns: Namespace, spans: Sequence[Span]) -> list[Message]:
    """The messages at these positions."""
    found = tx.run(AROUND, ns=ns, spans=[list(span) for span in spans])
    return [record(Message, r["node"]) for r in found]


def sizes(tx: neo4j.Transaction, ns: Namespace, ids: Sequence[NodeId]) -> dict[NodeId, tuple[int, int]]:
    """How many messages these conversations have: living, and all."""
    found = tx.run(SIZES, ns=ns, ids=list(dict.fromkeys(ids)))
    return {r["id"]: (r["living"], r["all"]) for r in found}


def origins(tx: neo4j.Transaction, ns: Namespace, numbers: Sequence[int]) -> dict[int, tuple[NodeId, str]]:
    """The ids and the sources of conversations by number."""
    found = tx.run(ORIGINS, ns=ns, numbers=list(numbers)).single(strict=True)
    return dict(zip(found["numbers"], zip(found["ids"], found["sources"], strict=True), strict=True))


def named(tx: neo4j.Transaction, ns: Namespace, text: str, limit: int) -> list[NodeId]:
    """Ids and source ids that are this: as typed, else in another case, else ids that end so."""
    if not text:
        return []
    found = [(r["id"], r["source_id"] or "") for r in tx.run(CALLED, ns=ns, text=text, key=source_key(text))]
    exact: list[NodeId] = [node_id for node_id, source_id in found if text in (node_id, source_id)]
    if exact:
        return exact[:limit]
    folded = text.casefold()
    whole = {node_id for node_id, source_id in found if source_id.casefold() == folded}
    ending: list[NodeId] = [r["id"] for r in tx.run(ENDING, ns=ns, upper=text.upper(), size=len(text), limit=limit)]
    whole.update(node_id for node_id in ending if node_id.casefold() == folded)
    return (sorted(whole) or ending)[:limit]


def scan(tx: neo4j.Transaction, ns: Namespace, words: Sequence[str], limit: int) -> list[Message]:
    """Living messages that hold these words, by reading them all."""
    folded = list(dict.fromkeys(word.casefold() for word in words if word))
    return [record(Message, r["node"]) for r in tx.run(SCAN, ns=ns, words=folded, limit=limit)]


# Reading edges: those that are written and the relations that fields say, a whole frontier at a time.

# Written edges have a name (maybe an empty one), relations that fields say have none.


def _edges_of(drawn: LiteralString, kept: LiteralString) -> LiteralString:
    """The statement that reads the edges of nodes: those drawn, and those that are kept as nodes."""
    return f"""
UNWIND $ids AS id
CALL (id) {{
    MATCH {drawn}
    RETURN a.id AS source, type(x) AS type, b.id AS target, x.properties AS properties, coalesce(x.name, '') AS name
    UNION ALL MATCH (e:Edge) WHERE e.namespace = $ns AND {kept}
    RETURN e.source_id AS source, e.type AS type, e.target_id AS target, e.properties AS properties, e.name AS name
}}
WITH source, type, target, properties, name WHERE $types IS NULL OR type IN $types
RETURN source, type, target, properties, name ORDER BY type, source, target, name LIMIT $limit
"""


OUTWARD = _edges_of(
    "(a:Node {namespace: $ns, id: id})-[x]->(b)",
    "e.source_id = id AND e.type IS NOT NULL AND e.target_id IS NOT NULL AND e.name IS NOT NULL",
)
INWARD = _edges_of("(a)-[x]->(b:Node {namespace: $ns, id: id})", "e.target_id = id")
WRITTEN = """
CALL () {
    MATCH (a:Node)-[x]->(b) WHERE a.namespace = $ns AND a.id IS NOT NULL AND x.name IS NOT NULL
    RETURN a.id AS source, type(x) AS type, b.id AS target, x.properties AS properties, x.name AS name
    UNION ALL MATCH (e:Edge) WHERE e.namespace = $ns AND e.target_id IS NOT NULL
    RETURN e.source_id AS source, e.type AS type, e.target_id AS target, e.properties AS properties, e.name AS name
}
WITH source, type, target, properties, name WHERE $types IS NULL OR type IN $types
RETURN source, type, target, properties, name ORDER BY source, type, target, name
"""


def edges(
    tx: neo4j.Transaction,
    ns: Namespace,
    of: Sequence[NodeId] | None,
    types: Collection[str],
    way: Literal["out", "in"],
    limit: int,
) -> list[Edge]:
    """The edges that leave or enter nodes; of None all written ones."""
    wanted = sorted(types) or None
    if of is None:
        return [_edge(r) for r in tx.run(WRITTEN, ns=ns, types=wanted)]
    statement = OUTWARD if way == "out" else INWARD
    return [_edge(r) for r in tx.run(statement, ns=ns, ids=list(dict.fromkeys(of)), types=wanted, limit=limit)]


def _edge(r: neo4j.Record) -> Edge:
    return Edge(r["source"], r["type"], r["target"], unpack_map(r["properties"]), r["name"])


# The texts of passages, cut out of what they were made from, and their token vectors.

TEXTS = """
UNWIND $numbers AS number MATCH (p:Passage {space: $space, number: number})
MATCH (o:Node {namespace: $ns, id: p.owner_id})
OPTIONAL MATCH (m:Message&Node {namespace: $ns, id: o.message_id})
RETURN number, p.owner AS owner, p.owner_id AS owner_id, p.part AS part, p.start AS start, p.end AS end,
    o.message_id AS message_id, o.conversation_id AS conversation_id, coalesce(m.active, o.active, true) AS active,
    CASE WHEN p.part >= 0 THEN o.parts
         WHEN p.owner = 1 THEN o.name + ': ' + o.arguments + '\n' + o.result
         WHEN p.owner = 3 THEN o.title
         WHEN p.owner = 4 THEN o.text
         ELSE o.content END AS text
"""
DOCUMENTS_OF = """
UNWIND $numbers AS number MATCH (p:Passage {space: $space, number: number})
MATCH (d:Document&Node {namespace: $ns, id: p.owner_id})
RETURN number, d.id AS id, d.source AS source
"""
TOKENS = """
UNWIND $numbers AS number MATCH (q:Quality {space: $space, number: number})
RETURN number, q.pieces AS pieces, q.tokens AS tokens
"""
UNEMBEDDED = """
MATCH (p:Passage) WHERE p.space = $space AND p.bare > 0
RETURN p.number AS number ORDER BY p.space DESC, p.bare DESC LIMIT $limit
"""

_TOKEN_WIDTH = 128


def passage_texts(
    tx: neo4j.Transaction, ns: Namespace, space: int, numbers: Sequence[int], tokens: bool
) -> list[PassageText]:
    """In the order asked for; those that are gone are left out."""
    wanted = [int(number) for number in numbers]
    rows: dict[int, TokenRows] = {}
    if tokens:
        for r in tx.run(TOKENS, space=space, numbers=wanted):
            vectors = np.frombuffer(r["tokens"], np.int8).reshape(-1, _TOKEN_WIDTH)
            rows[r["number"]] = TokenRows(np.frombuffer(r["pieces"], np.uint16), vectors)
    found = {r["number"]: r for r in tx.run(TEXTS, ns=ns, space=space, numbers=wanted)}
    return [_text(found[number], rows) for number in wanted if number in found]


def documents_of(
    tx: neo4j.Transaction, ns: Namespace, space: int, passages: Sequence[int]
) -> dict[int, tuple[NodeId, str]]:
    """The documents that passages are chunks of."""
    found = tx.run(DOCUMENTS_OF, ns=ns, space=space, numbers=[int(number) for number in passages])
    return {r["number"]: (NodeId(r["id"]), r["source"]) for r in found}


def unembedded(tx: neo4j.Transaction, space: int, limit: int) -> list[int]:
    """Numbers of said passages that have no quality vectors yet, newest first."""
    return [r["number"] for r in tx.run(UNEMBEDDED, space=space, limit=limit)]


def _text(r: neo4j.Record, rows: Mapping[int, TokenRows]) -> PassageText:
    owner, owner_id, part = Owner(r["owner"]), NodeId(r["owner_id"]), r["part"]
    text = r["text"] or ""
    if part >= 0:
        parts = orjson.loads(text) if text else []
        text = parts[part].get("text", "") if part < len(parts) else ""
    of_conversation = {Owner.CONVERSATION: owner_id, Owner.NODE: None}
    return PassageText(
        number=r["number"],
        owner=owner,
        owner_id=owner_id,
        message_id=owner_id if owner is Owner.MESSAGE else r["message_id"],
        conversation_id=of_conversation.get(owner, r["conversation_id"]),
        active=r["active"],
        part=part,
        start=r["start"],
        text=text[r["start"] : r["end"]],
        tokens=rows.get(r["number"]),
    )
