"""Writing records: every statement puts by id, so that a repeated write changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from recollect.errors import NotFound
from recollect.record import Document, Edge, Namespace, NodeId, to_microseconds
from recollect.record.nodes import Chunk
from recollect.store.base import StaleChange, ThreadChange
from recollect.store.rows import message_row, pack

ADD_NAMESPACE = "INSERT INTO namespace (name) VALUES (?) ON CONFLICT (name) DO NOTHING"
FIND_NAMESPACE = "SELECT ns FROM namespace WHERE name = ?"
TOUCH_NAMESPACE = "UPDATE namespace SET changes = changes + 1 WHERE ns = ?"
FIND_CONVERSATION = "SELECT num, revision FROM conversation WHERE ns = ? AND id = ?"
PUT_CONVERSATION = """
INSERT INTO conversation
    (ns, id, source, source_id, title, created, updated, leaf_id, metadata, deleted, digest, revision)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
ON CONFLICT (ns, id) DO UPDATE SET source = excluded.source, source_id = excluded.source_id, title = excluded.title,
    created = excluded.created, updated = excluded.updated, leaf_id = excluded.leaf_id, metadata = excluded.metadata,
    deleted = excluded.deleted, digest = excluded.digest, revision = revision + 1
RETURNING num
"""
ADD_MESSAGE = """
INSERT INTO message (ns, conversation, id, position, role, kind, speaker, timestamp, parent_id, source_id, active,
    deleted, tokens, model, parts, metadata, versions, content)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (ns, id) DO NOTHING
"""
EDIT_MESSAGE = """
UPDATE message SET position = ?, role = ?, kind = ?, speaker = ?, timestamp = ?, parent_id = ?, source_id = ?,
    active = ?, deleted = ?, tokens = ?, model = ?, parts = ?, metadata = ?, versions = ?, content = ?
WHERE ns = ? AND id = ?
"""
MOVE_MESSAGE = "UPDATE message SET position = ?, active = ? WHERE ns = ? AND id = ?"
PUT_TOOL_CALL = """
INSERT INTO tool_call (ns, conversation, id, message_id, position, name, arguments, result, result_message_id,
    timestamp, metadata)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (ns, id) DO UPDATE SET message_id = excluded.message_id, position = excluded.position, name = excluded.name,
    arguments = excluded.arguments, result = excluded.result, result_message_id = excluded.result_message_id,
    timestamp = excluded.timestamp, metadata = excluded.metadata
"""
PUT_TURN = """
INSERT INTO turn (ns, conversation, id, position, query_id, response_ids, resolved_query, entities, source_chunk_ids)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (ns, id) DO UPDATE SET position = excluded.position, query_id = excluded.query_id,
    response_ids = excluded.response_ids, resolved_query = excluded.resolved_query, entities = excluded.entities,
    source_chunk_ids = excluded.source_chunk_ids
"""
CLEAR_CHUNKS = "DELETE FROM chunk WHERE ns = ? AND parent_id = ?"
PUT_CHUNK = """
INSERT INTO chunk (ns, id, parent_id, part, idx, start, end, tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (ns, id) DO UPDATE SET start = excluded.start, end = excluded.end, tokens = excluded.tokens
"""
PUT_WINDOW = """
INSERT INTO window (conversation, idx, start, end) VALUES (?, ?, ?, ?)
ON CONFLICT (conversation, idx) DO UPDATE SET start = excluded.start, end = excluded.end
"""
CUT_WINDOWS = "DELETE FROM window WHERE conversation = ? AND idx >= ?"
PUT_DOCUMENT = """
INSERT INTO document (ns, id, source, source_id, title, created, metadata, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (ns, id) DO UPDATE SET title = excluded.title, created = excluded.created, metadata = excluded.metadata,
    content = excluded.content
"""
PUT_EDGE = """
INSERT INTO edge (ns, source_id, type, target_id, properties) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (ns, source_id, type, target_id) DO UPDATE SET properties = excluded.properties
"""
MARK_DELETED = "UPDATE message SET deleted = ? WHERE ns = ? AND id = ? RETURNING conversation"
BUMP_CONVERSATION = "UPDATE conversation SET revision = revision + 1, digest = NULL WHERE num = ?"


def namespace_number(connection: apsw.Connection, name: Namespace) -> int:
    """The number of a namespace, made at first use."""
    connection.execute(ADD_NAMESPACE, (name,))
    return int(connection.execute(FIND_NAMESPACE, (name,)).get)


def put_changes(connection: apsw.Connection, ns: int, changes: Sequence[ThreadChange]) -> None:
    """Writes the changes of conversations. Raises StaleChange where one was planned on another revision."""
    stale = [change.conversation.id for change in changes if _revision(connection, ns, change) != change.base_revision]
    if stale:
        raise StaleChange(stale)
    for change in changes:
        _put_change(connection, ns, change)


def put_documents(connection: apsw.Connection, ns: int, documents: Iterable[Document]) -> None:
    """Writes documents; an equal id is replaced, and loses its chunks."""
    documents = list(documents)
    connection.executemany(CLEAR_CHUNKS, ((ns, d.id) for d in documents))
    connection.executemany(
        PUT_DOCUMENT,
        (
            (ns, d.id, d.source, d.source_id, d.title, to_microseconds(d.created), pack(dict(d.metadata)), d.content)
            for d in documents
        ),
    )


def put_chunks(connection: apsw.Connection, ns: int, chunks: Sequence[Chunk]) -> None:
    """Writes the chunks of parents; those that these parents had before are gone."""
    connection.executemany(CLEAR_CHUNKS, {(ns, chunk.parent_id) for chunk in chunks})
    connection.executemany(
        PUT_CHUNK, ((ns, c.id, c.parent_id, c.part, c.index, c.start, c.end, c.tokens) for c in chunks)
    )


def put_edges(connection: apsw.Connection, ns: int, edges: Iterable[Edge]) -> None:
    """Writes edges; an equal one gets the new properties."""
    connection.executemany(
        PUT_EDGE, ((ns, e.source_id, e.type, e.target_id, pack(dict(e.properties)) or "{}") for e in edges)
    )


def mark_deleted(connection: apsw.Connection, ns: int, ids: Sequence[NodeId], deleted: bool) -> None:
    """Raises NotFound if one of them is not there."""
    touched = set()
    for message_id in ids:
        row = connection.execute(MARK_DELETED, (int(deleted), ns, message_id)).fetchone()
        if row is None:
            raise NotFound(f"There is no message {message_id}.")
        touched.add(row[0])
    connection.executemany(BUMP_CONVERSATION, [(num,) for num in touched])


def _revision(connection: apsw.Connection, ns: int, change: ThreadChange) -> int:
    row = connection.execute(FIND_CONVERSATION, (ns, change.conversation.id)).fetchone()
    return row[1] if row else 0


def _put_change(connection: apsw.Connection, ns: int, change: ThreadChange) -> None:
    c = change.conversation
    row: Any = connection.execute(
        PUT_CONVERSATION,
        (
            ns,
            c.id,
            c.source,
            c.source_id,
            c.title,
            to_microseconds(c.created),
            to_microseconds(c.updated),
            c.leaf_id,
            pack(dict(c.metadata)) or "{}",
            int(c.deleted),
            change.digest,
        ),
    ).fetchone()
    num = row[0]
    connection.executemany(ADD_MESSAGE, ((ns, num, m.id, *message_row(m)) for m in change.added))
    connection.executemany(EDIT_MESSAGE, ((*message_row(m), ns, m.id) for m in change.edited))
    connection.executemany(MOVE_MESSAGE, ((p.position, int(p.active), ns, p.id) for p in change.moved))
    connection.executemany(
        PUT_TOOL_CALL,
        (
            (
                ns,
                num,
                t.id,
                t.message_id,
                t.position,
                t.name,
                t.arguments,
                t.result,
                t.result_message_id,
                to_microseconds(t.timestamp),
                pack(dict(t.metadata)),
            )
            for t in change.tool_calls
        ),
    )
    connection.executemany(
        PUT_TURN,
        (
            (
                ns,
                num,
                t.id,
                t.position,
                t.query_id,
                pack(list(t.response_ids)) or "[]",
                t.resolved_query,
                pack(list(t.entities)),
                pack(list(t.source_chunk_ids)),
            )
            for t in change.turns
        ),
    )
    connection.executemany(CLEAR_CHUNKS, ((ns, m.id) for m in change.edited))
    connection.executemany(CLEAR_CHUNKS, ((ns, t.id) for t in change.tool_calls))
    put_chunks(connection, ns, change.chunks)
    connection.executemany(PUT_WINDOW, ((num, w.index, w.start, w.end) for w in change.windows))
    if change.window_count is not None:
        connection.execute(CUT_WINDOWS, (num, change.window_count))
