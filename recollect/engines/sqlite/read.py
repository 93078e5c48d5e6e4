"""Reading records by id, by position, by what they hang on. Every statement names the namespace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from recollect.engines.codec import decode
from recollect.engines.sqlite.put import ids_json
from recollect.record import Chunk, Conversation, Document, Message, Node, NodeId, Thread, ToolCall, Turn
from recollect.store.change import Record
from recollect.store.results import End, R, Revision, Span

GET_CONVERSATIONS = """
SELECT c.id, c.source, c.source_id, c.title, c.created, c.updated, c.leaf_id, c.metadata, c.deleted, c.erased
FROM conversation c WHERE c.ns = ?1 AND c.id IN (SELECT value FROM json_each(?2))
"""
GET_MESSAGES = """
SELECT m.id, c.id, m.role, m.content, m.kind, m.speaker, m.timestamp, m.parent_id, m.source_id, m.position, m.active,
    m.model, m.tokens, m.parts, m.metadata, m.versions, m.deleted, m.erased
FROM message m JOIN conversation c ON c.num = m.conversation
WHERE m.ns = ?1 AND m.id IN (SELECT value FROM json_each(?2))
"""
# A result that is a message of its own is filled in.
GET_TOOL_CALLS = """
SELECT t.id, t.message_id, c.id, t.name, t.arguments, coalesce(nullif(t.result, ''), r.content, ''),
    t.result_message_id, t.timestamp, t.position, t.metadata
FROM tool_call t JOIN conversation c ON c.num = t.conversation
LEFT JOIN message r ON r.ns = t.ns AND r.id = t.result_message_id
WHERE t.ns = ?1 AND t.id IN (SELECT value FROM json_each(?2))
"""
GET_TURNS = """
SELECT t.id, c.id, t.position, t.query_id, t.response_ids, t.resolved_query, t.entities, t.source_chunk_ids
FROM turn t JOIN conversation c ON c.num = t.conversation
WHERE t.ns = ?1 AND t.id IN (SELECT value FROM json_each(?2))
"""
GET_CHUNKS = """
SELECT k.id, k.parent_id, k.idx, k.start, k.end, k.tokens, k.part
FROM json_each(?2) w CROSS JOIN chunk k ON k.ns = ?1 AND k.parent_id = w.value ORDER BY w.key, k.part, k.idx
"""
GET_DOCUMENTS = """
SELECT d.id, d.source, d.title, d.content, d.source_id, d.created, d.metadata, d.versions, d.erased
FROM document d WHERE d.ns = ?1 AND d.id IN (SELECT value FROM json_each(?2))
"""
GET_NODES = """
SELECT n.id, n.kind, n.key, n.text, n.state, n.conversation_id, n.valid_from, n.valid_to, n.score, n.origin, n.made_by,
    n.body, n.erased
FROM node n WHERE n.ns = ?1 AND n.id IN (SELECT value FROM json_each(?2))
"""
REVISIONS = """
SELECT id, revision, digest, erased FROM conversation WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
UNION ALL SELECT id, revision, NULL, erased FROM document WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
UNION ALL SELECT id, revision, NULL, erased FROM node WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
"""
#: The tables of the record, and what a row of each becomes.
RECORDS: dict[str, type[Record]] = {
    "conversation": Conversation,
    "message": Message,
    "tool_call": ToolCall,
    "turn": Turn,
    "chunk": Chunk,
    "document": Document,
    "node": Node,
}
KINDS = " UNION ALL ".join(
    f"SELECT id, '{table}' FROM {table} WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))" for table in RECORDS
)
CONVERSATION = """
SELECT c.id, c.source, c.source_id, c.title, c.created, c.updated, c.leaf_id, c.metadata, c.deleted, c.erased, c.num,
    c.revision
FROM conversation c WHERE c.ns = ? AND c.id = ?
"""
THREAD_MESSAGES = """
SELECT m.id, c.id, m.role, m.content, m.kind, m.speaker, m.timestamp, m.parent_id, m.source_id, m.position, m.active,
    m.model, m.tokens, m.parts, m.metadata, m.versions, m.deleted, m.erased
FROM message m JOIN conversation c ON c.num = m.conversation WHERE m.conversation = ? ORDER BY m.position
"""
THREAD_TOOL_CALLS = """
SELECT t.id, t.message_id, c.id, t.name, t.arguments, t.result, t.result_message_id, t.timestamp, t.position, t.metadata
FROM tool_call t JOIN conversation c ON c.num = t.conversation WHERE t.conversation = ? ORDER BY t.position, t.id
"""
THREAD_TURNS = """
SELECT t.id, c.id, t.position, t.query_id, t.response_ids, t.resolved_query, t.entities, t.source_chunk_ids
FROM turn t JOIN conversation c ON c.num = t.conversation WHERE t.conversation = ? ORDER BY t.position, t.id
"""
THREAD_CHUNKS = """
SELECT k.id, k.parent_id, k.idx, k.start, k.end, k.tokens, k.part FROM chunk k WHERE k.ns = ?1 AND k.parent_id IN (
    SELECT id FROM message WHERE conversation = ?2 UNION ALL SELECT id FROM tool_call WHERE conversation = ?2)
ORDER BY k.parent_id, k.part, k.idx
"""
LAST_POSITION = "SELECT max(position) FROM message WHERE conversation = ?"
LAST_TURN = """
SELECT t.id, c.id, t.position, t.query_id, t.response_ids, t.resolved_query, t.entities, t.source_chunk_ids
FROM turn t JOIN conversation c ON c.num = t.conversation
WHERE t.conversation = ? ORDER BY t.position DESC, t.id DESC LIMIT 1
"""
NAMED = "SELECT EXISTS (SELECT 1 FROM message WHERE conversation = ? AND speaker IS NOT NULL AND kind = 'said')"
ABOVE = """
WITH RECURSIVE up (depth, id) AS (
    SELECT 1, parent_id FROM message WHERE ns = ?1 AND id = ?2 AND parent_id IS NOT NULL
    UNION ALL SELECT up.depth + 1, m.parent_id FROM up CROSS JOIN message m ON m.ns = ?1 AND m.id = up.id
    WHERE up.depth < ?3 AND m.parent_id IS NOT NULL)
SELECT m.id, c.id, m.role, m.content, m.kind, m.speaker, m.timestamp, m.parent_id, m.source_id, m.position, m.active,
    m.model, m.tokens, m.parts, m.metadata, m.versions, m.deleted, m.erased
FROM up CROSS JOIN message m ON m.ns = ?1 AND m.id = up.id JOIN conversation c ON c.num = m.conversation
ORDER BY up.depth LIMIT ?3
"""
AROUND = """
SELECT m.id, c.id, m.role, m.content, m.kind, m.speaker, m.timestamp, m.parent_id, m.source_id, m.position, m.active,
    m.model, m.tokens, m.parts, m.metadata, m.versions, m.deleted, m.erased
FROM json_each(?2) s CROSS JOIN conversation c ON c.ns = ?1 AND c.id = s.value ->> 0
CROSS JOIN message m ON m.conversation = c.num AND m.position BETWEEN s.value ->> 1 AND s.value ->> 2
ORDER BY s.key, m.position
"""
SIZES = """
SELECT c.id, (SELECT count(*) FROM message m WHERE m.conversation = c.num),
    (SELECT count(*) FROM message m WHERE m.conversation = c.num AND m.deleted)
FROM conversation c WHERE c.ns = ?1 AND c.id IN (SELECT value FROM json_each(?2))
"""
ORIGINS = """
SELECT num, id, source FROM conversation WHERE ns = ?1 AND num IN (SELECT value FROM json_each(?2))
"""
EXACT = """
SELECT c.id FROM json_each(?2) w CROSS JOIN conversation c ON c.ns = ?1 AND c.id = w.value
UNION SELECT c.id FROM json_each(?2) w CROSS JOIN conversation c ON c.ns = ?1 AND c.source_id = w.value
UNION SELECT m.id FROM json_each(?2) w CROSS JOIN message m ON m.ns = ?1 AND m.id = w.value
UNION SELECT m.id FROM json_each(?2) w CROSS JOIN message m ON m.ns = ?1 AND m.source_id = w.value
ORDER BY 1 LIMIT ?3
"""
# The ends of ids by which contexts name messages. Of the indexes that hold the namespace others would be taken.
SHORT_ENDING = """
SELECT id FROM conversation WHERE +ns = ?1 AND substr(id, -8) COLLATE NOCASE = ?2
UNION SELECT id FROM message WHERE +ns = ?1 AND substr(id, -8) COLLATE NOCASE = ?2 ORDER BY id LIMIT ?3
"""
# Source ids and ends of ids, whatever the case; what is the whole of it comes first.
ENDING = """
SELECT id, length(id) = ?3 OR source_id = ?2 COLLATE NOCASE AS whole FROM (
    SELECT id, source_id FROM conversation WHERE ns = ?1 UNION ALL SELECT id, source_id FROM message WHERE ns = ?1)
WHERE substr(id, -?3) = ?2 COLLATE NOCASE OR source_id = ?2 COLLATE NOCASE ORDER BY whole DESC, id LIMIT ?4
"""

_SHORT_ENDING = 8

_GET: dict[Any, str] = {
    Conversation: GET_CONVERSATIONS,
    Message: GET_MESSAGES,
    ToolCall: GET_TOOL_CALLS,
    Turn: GET_TURNS,
    Chunk: GET_CHUNKS,
    Document: GET_DOCUMENTS,
    Node: GET_NODES,
}


def get(connection: apsw.Connection, ns: int, kind: type[R], ids: Sequence[NodeId]) -> list[R]:
    """Those that are there, in the order asked for; of Chunk those of the parents."""
    rows = connection.execute(_GET[kind], (ns, ids_json(dict.fromkeys(ids))))
    if kind is Chunk:
        return [decode(kind, row) for row in rows]
    found = {row[0]: decode(kind, row) for row in rows}
    return [found[i] for i in ids if i in found]


def revisions(connection: apsw.Connection, ns: int, ids: Sequence[NodeId]) -> dict[NodeId, Revision]:
    """Of those conversations, documents and nodes that are there."""
    return {
        row[0]: Revision(row[1], row[2], bool(row[3])) for row in connection.execute(REVISIONS, (ns, ids_json(ids)))
    }


def kinds(connection: apsw.Connection, ns: int, ids: Sequence[NodeId]) -> dict[NodeId, type[Record]]:
    """What they stand for."""
    return {row[0]: RECORDS[row[1]] for row in connection.execute(KINDS, (ns, ids_json(ids)))}


def thread(connection: apsw.Connection, ns: int, id: NodeId) -> Thread | None:
    """A conversation with everything in it."""
    found = connection.execute(CONVERSATION, (ns, id)).fetchone()
    if found is None:
        return None
    num = found[10]
    return Thread(
        conversation=decode(Conversation, found),
        messages=tuple(decode(Message, row) for row in connection.execute(THREAD_MESSAGES, (num,))),
        tool_calls=tuple(decode(ToolCall, row) for row in connection.execute(THREAD_TOOL_CALLS, (num,))),
        turns=tuple(decode(Turn, row) for row in connection.execute(THREAD_TURNS, (num,))),
        chunks=tuple(decode(Chunk, row) for row in connection.execute(THREAD_CHUNKS, (ns, num))),
    )


def end(connection: apsw.Connection, ns: int, id: NodeId) -> End | None:
    """The growing end of a conversation: a few look-ups, whatever its length."""
    found = connection.execute(CONVERSATION, (ns, id)).fetchone()
    if found is None:
        return None
    conversation, num = decode(Conversation, found), found[10]
    leaf = get(connection, ns, Message, [conversation.leaf_id]) if conversation.leaf_id else []
    turn = connection.execute(LAST_TURN, (num,)).fetchone()
    last = connection.execute(LAST_POSITION, (num,)).get
    return End(
        conversation=conversation,
        revision=found[11],
        message_count=0 if last is None else last + 1,
        leaf=leaf[0] if leaf else None,
        turn=decode(Turn, turn) if turn else None,
        named=bool(connection.execute(NAMED, (num,)).get),
    )


def above(connection: apsw.Connection, ns: int, id: NodeId, most: int) -> list[Message]:
    """What stands above a message, its parent first."""
    return [decode(Message, row) for row in connection.execute(ABOVE, (ns, id, most))]


def around(connection: apsw.Connection, ns: int, spans: Sequence[Span]) -> list[Message]:
    """The messages at these positions."""
    return [decode(Message, row) for row in connection.execute(AROUND, (ns, ids_json(spans)))]


def sizes(connection: apsw.Connection, ns: int, ids: Sequence[NodeId]) -> dict[NodeId, tuple[int, int]]:
    """How many messages these conversations have: those that are not deleted, and all."""
    found: Any = connection.execute(SIZES, (ns, ids_json(ids)))
    return {row[0]: (row[1] - row[2], row[1]) for row in found}


def origins(connection: apsw.Connection, ns: int, numbers: Sequence[int]) -> dict[int, tuple[NodeId, str]]:
    """The ids and the sources of conversations by number."""
    found: Any = connection.execute(ORIGINS, (ns, ids_json(numbers)))
    return {row[0]: (row[1], row[2]) for row in found}


def named(connection: apsw.Connection, ns: int, text: str, limit: int) -> list[NodeId]:
    """Ids and source ids that are this: as typed, else in another case, else ids that end so."""
    if not text:
        return []
    for typed in ([text], [text.upper(), text.lower()]):
        exact = [row[0] for row in connection.execute(EXACT, (ns, ids_json(typed), limit))]
        if exact:
            return exact
    if len(text) == _SHORT_ENDING and (
        short := [row[0] for row in connection.execute(SHORT_ENDING, (ns, text, limit))]
    ):
        return short
    found: list[Any] = connection.execute(ENDING, (ns, text, len(text), limit)).fetchall()
    return [row[0] for row in found if row[1]] or [row[0] for row in found]
