"""Relations: those that fields say, drawn as relationships, and edges that are written.

A written edge is a relationship with a `name` where both its ends are there and its type can be drawn. Until then, and
else, it is an `Edge` node: it may be written before its ends, or be about something that is no node. One of a type that
fields say stays apart from these, as a node.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from recollect.engines.codec import pack
from recollect.engines.neo4j.writing import Writing
from recollect.record import Edge, Message, NodeId, ToolCall, Turn
from recollect.store.change import EdgeKey
from recollect.store.results import OF_FIELDS

LINK = """
UNWIND $rows AS r
MATCH (a:Node {namespace: $ns, id: r.source_id}) MATCH (b:Node {namespace: $ns, id: r.target_id})
CREATE (a)-[:$(r.type)]->(b)
"""
UNLINK_REPLIES = "UNWIND $rows AS id MATCH (m:Node {namespace: $ns, id: id})-[x:REPLIES_TO]->() DELETE x"
# Of tool calls and turns.
UNLINK = """
UNWIND $rows AS id
MATCH (n:Node {namespace: $ns, id: id})-[x:CALLED_BY|HAS_TURN|HAS_QUERY|HAS_RESPONSE|NEXT_TURN]-()
DELETE x
"""
LINK_CHUNKS = """
UNWIND $rows AS r MATCH (k:Node {namespace: $ns, id: r.id}) MATCH (p:Node {namespace: $ns, id: r.parent_id})
MERGE (k)-[:CHUNK_OF]->(p)
"""
FIND_BESIDE = """
UNWIND $rows AS r MATCH (t:Turn)
WHERE t.namespace = $ns AND t.conversation_id = r.conversation_id AND t.position = r.position
RETURN r.id AS id, r.position AS position, t.id AS beside
"""
ADD_ROLES = "UNWIND $rows AS r MATCH (m:Node {namespace: $ns, id: r.id}) SET m:$(r.roles)"
DRAW = """
UNWIND $rows AS r
MATCH (a:Node {namespace: $ns, id: r.source_id}) MATCH (b:Node {namespace: $ns, id: r.target_id})
MERGE (a)-[x:$(r.type) {name: r.name}]->(b) SET x.properties = r.properties
RETURN r.at AS at
"""
KEEP = """
UNWIND $rows AS r
MERGE (e:Edge {namespace: $ns, source_id: r.source_id, type: r.type, target_id: r.target_id, name: r.name})
SET e.properties = r.properties, e.drawable = r.drawable
"""
WAITING = """
UNWIND $rows AS id
CALL (id) {
    MATCH (e:Edge) WHERE e.namespace = $ns AND e.source_id = id AND e.type IS NOT NULL AND e.target_id IS NOT NULL
      AND e.name IS NOT NULL RETURN e
    UNION MATCH (e:Edge) WHERE e.namespace = $ns AND e.target_id = id RETURN e
}
WITH DISTINCT e WHERE e.drawable
MATCH (:Node {namespace: $ns, id: e.source_id}) MATCH (:Node {namespace: $ns, id: e.target_id})
RETURN e.source_id AS source_id, e.type AS type, e.target_id AS target_id, e.name AS name, e.properties AS properties
"""
CUT_KEPT = """
UNWIND $rows AS r
MATCH (e:Edge {namespace: $ns, source_id: r.source_id, type: r.type, target_id: r.target_id, name: r.name}) DELETE e
"""
CUT_DRAWN = """
UNWIND $rows AS r
MATCH (a:Node {namespace: $ns, id: r.source_id})-[x]->(b:Node {namespace: $ns, id: r.target_id})
WHERE type(x) = r.type AND x.name = r.name DELETE x
"""
# Before a node goes: the edges that were written about it are kept, as before it came.
DETACH = """
UNWIND $rows AS id MATCH (n:Node {namespace: $ns, id: id})-[x]-() WHERE x.name IS NOT NULL
WITH DISTINCT x
MERGE (e:Edge {namespace: $ns, source_id: startNode(x).id, type: type(x), target_id: endNode(x).id, name: x.name})
SET e.properties = x.properties, e.drawable = true
"""
# What is erased keeps no edges at all but those that fields say.
CUT_ALL_DRAWN = """
UNWIND $rows AS id MATCH (n:Node {namespace: $ns, id: id})-[x]-() WHERE x.name IS NOT NULL DELETE x
"""
CUT_ALL_KEPT = """
UNWIND $rows AS id
CALL (id) {
    MATCH (e:Edge) WHERE e.namespace = $ns AND e.source_id = id AND e.type IS NOT NULL AND e.target_id IS NOT NULL
      AND e.name IS NOT NULL RETURN e
    UNION MATCH (e:Edge) WHERE e.namespace = $ns AND e.target_id = id RETURN e
}
WITH DISTINCT e DELETE e
"""

_DRAWABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


def roles(turns: Iterable[Turn]) -> Mapping[NodeId, Sequence[str]]:
    """The labels that turns give to messages."""
    found: dict[NodeId, dict[str, None]] = {}
    for turn in turns:
        found.setdefault(turn.query_id, {})["Query"] = None
        for node_id in turn.response_ids:
            found.setdefault(node_id, {})["Response"] = None
    return {node_id: list(own) for node_id, own in found.items()}


def unlink(writing: Writing, messages: Sequence[Message], others: Sequence[ToolCall | Turn]) -> None:
    """Removes what was drawn before of messages that answer another one now, and of calls and turns."""
    writing.put(UNLINK_REPLIES, [message.id for message in messages])
    writing.put(UNLINK, [record.id for record in others])


def link(
    writing: Writing,
    messages: Sequence[Message],
    calls: Sequence[ToolCall],
    turns: Sequence[Turn],
    made: Collection[NodeId],
) -> None:
    """Draws what messages answer, which message each call belongs to, and turns: to their conversation, to each other,
    to query and responses. `made`: the nodes that are new.
    """
    ends = [(message.id, "REPLIES_TO", message.parent_id) for message in messages if message.parent_id]
    ends += [(call.id, "CALLED_BY", call.message_id) for call in calls]
    ends += [(turn.id, "HAS_QUERY", turn.query_id) for turn in turns]
    ends += [(turn.id, "HAS_RESPONSE", node_id) for turn in turns for node_id in turn.response_ids]
    ends = [end for end in ends if _is_there(writing, end[2], "Message")]
    owned = [turn for turn in turns if _is_there(writing, turn.conversation_id, "Conversation")]
    ends += [(turn.conversation_id, "HAS_TURN", turn.id) for turn in owned]
    ends += [(node_id, "NEXT_TURN", beside) for node_id, beside in _following(writing, turns, made)]
    writing.put(LINK, [{"source_id": a, "type": kind, "target_id": b} for a, kind, b in ends])
    known = {i: own for i, own in roles(turns).items() if i not in made and _is_there(writing, i, "Message")}
    writing.put(ADD_ROLES, [{"id": node_id, "roles": own} for node_id, own in known.items()])


def _is_there(writing: Writing, id: NodeId, label: str) -> bool:
    known = writing.known(id)
    return known is not None and label in known.labels


def _following(writing: Writing, turns: Sequence[Turn], made: Collection[NodeId]) -> list[tuple[NodeId, NodeId]]:
    """Which turn follows which, where one of the two is one of these."""
    here = {(turn.conversation_id, turn.position): turn.id for turn in turns}
    pairs = {(node_id, here[owner, at + 1]) for (owner, at), node_id in here.items() if (owner, at + 1) in here}
    sought = [
        {"id": turn.id, "conversation_id": turn.conversation_id, "position": at}
        for turn in turns
        if turn.conversation_id not in made
        for at in (turn.position - 1, turn.position + 1)
        if at >= 0 and (turn.conversation_id, at) not in here
    ]
    position = {turn.id: turn.position for turn in turns}
    for record in writing.put(FIND_BESIDE, sought):
        ends = record["id"], record["beside"]
        pairs.add(ends if record["position"] > position[record["id"]] else (ends[1], ends[0]))
    return sorted(pairs)


def put_edges(writing: Writing, edges: Sequence[Edge]) -> None:
    """Writes edges; an equal one gets the new properties. None of what was erased, which they may tell of."""
    writing.know([end for edge in edges for end in (edge.source_id, edge.target_id)])
    rows = [
        {
            "at": at,
            "source_id": edge.source_id,
            "type": edge.type,
            "target_id": edge.target_id,
            "name": edge.name,
            "properties": pack(dict(edge.properties)),
            "drawable": edge.type not in OF_FIELDS and bool(_DRAWABLE.fullmatch(edge.type)),
        }
        for at, edge in enumerate({edge.key: edge for edge in edges}.values())
        if not (_is_erased(writing, edge.source_id) or _is_erased(writing, edge.target_id))
    ]
    drawn = {record["at"] for record in writing.put(DRAW, [row for row in rows if row["drawable"]])}
    writing.put(KEEP, [row for row in rows if row["at"] not in drawn])


def _is_erased(writing: Writing, id: NodeId) -> bool:
    known = writing.known(id)
    return known is not None and known.erased


def draw_waiting(writing: Writing, ids: Sequence[NodeId]) -> None:
    """Draws the edges that waited for these nodes."""
    if not writing.waiting:
        return
    found = {
        tuple(r[name] for name in ("source_id", "type", "target_id", "name")): r for r in writing.put(WAITING, ids)
    }
    rows = [{"at": at, **dict(record)} for at, record in enumerate(found.values())]
    writing.put(DRAW, rows)
    writing.put(CUT_KEPT, rows)


def cut_edges(writing: Writing, keys: Iterable[EdgeKey]) -> None:
    """Removes edges by their keys; one that is not there is no matter."""
    rows = [{"source_id": a, "type": kind, "target_id": b, "name": name} for a, kind, b, name in keys]
    writing.put(CUT_KEPT, rows)
    writing.put(CUT_DRAWN, rows)
