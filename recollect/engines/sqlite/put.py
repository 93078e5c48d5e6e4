"""Putting records: each by its id, whole. What was erased stays so, unless it is revived."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import apsw
import orjson

from recollect.engines.codec import encode, pack
from recollect.errors import StoreError
from recollect.record import Chunk, Conversation, Document, Edge, Message, Node, NodeId, ToolCall, Turn
from recollect.store.change import EdgeKey, Record

T = TypeVar("T", Conversation, Message, ToolCall, Turn, Chunk, Document, Node)

FIND_CONVERSATIONS = """
SELECT id, num, erased FROM conversation WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
"""
ADD_CONVERSATION = """
INSERT INTO conversation (ns, id, source, source_id, title, created, updated, leaf_id, metadata, deleted, erased,
    revision)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0) RETURNING num
"""
REPLACE_CONVERSATION = """
UPDATE conversation SET source = ?, source_id = ?, title = ?, created = ?, updated = ?, leaf_id = ?, metadata = ?,
    deleted = ?, erased = ? WHERE num = ?
"""
FIND_MESSAGES = """
SELECT id, num, conversation, position, erased FROM message
WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
"""
ADD_MESSAGE = """
INSERT INTO message (ns, conversation, id, role, content, kind, speaker, timestamp, parent_id, source_id, position,
    active, model, tokens, parts, metadata, versions, deleted, erased)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
REPLACE_MESSAGE = """
UPDATE message SET role = ?, content = ?, kind = ?, speaker = ?, timestamp = ?, parent_id = ?, source_id = ?,
    position = ?, active = ?, model = ?, tokens = ?, parts = ?, metadata = ?, versions = ?, deleted = ?, erased = ?
WHERE num = ?
"""
PUT_TOOL_CALL = """
INSERT INTO tool_call (ns, conversation, id, message_id, name, arguments, result, result_message_id, timestamp,
    position, metadata)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (ns, id) DO UPDATE SET conversation = excluded.conversation, message_id = excluded.message_id,
    name = excluded.name, arguments = excluded.arguments, result = excluded.result,
    result_message_id = excluded.result_message_id, timestamp = excluded.timestamp, position = excluded.position,
    metadata = excluded.metadata
"""
PUT_TURN = """
INSERT INTO turn (ns, conversation, id, position, query_id, response_ids, resolved_query, entities, source_chunk_ids)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (ns, id) DO UPDATE SET conversation = excluded.conversation, position = excluded.position,
    query_id = excluded.query_id, response_ids = excluded.response_ids, resolved_query = excluded.resolved_query,
    entities = excluded.entities, source_chunk_ids = excluded.source_chunk_ids
"""
CLEAR_CHUNKS = "DELETE FROM chunk WHERE ns = ? AND parent_id = ?"
PUT_CHUNK = """
INSERT INTO chunk (ns, id, parent_id, idx, start, end, tokens, part) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (ns, id) DO UPDATE SET parent_id = excluded.parent_id, idx = excluded.idx, start = excluded.start,
    end = excluded.end, tokens = excluded.tokens, part = excluded.part
"""
FIND_DOCUMENTS = """
SELECT id, num, erased FROM document WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
"""
PUT_DOCUMENT = """
INSERT INTO document (ns, id, source, title, content, source_id, created, metadata, versions, erased, revision)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
ON CONFLICT (ns, id) DO UPDATE SET source = excluded.source, title = excluded.title, content = excluded.content,
    source_id = excluded.source_id, created = excluded.created, metadata = excluded.metadata,
    versions = excluded.versions, erased = excluded.erased, revision = revision + 1
"""
FIND_NODES = "SELECT id, num, erased FROM node WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))"
PUT_NODE = """
INSERT INTO node (ns, id, kind, key, text, state, conversation_id, valid_from, valid_to, score, origin, made_by, body,
    erased, revision)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
ON CONFLICT (ns, id) DO UPDATE SET kind = excluded.kind, key = excluded.key, text = excluded.text,
    state = excluded.state, conversation_id = excluded.conversation_id, valid_from = excluded.valid_from,
    valid_to = excluded.valid_to, score = excluded.score, origin = excluded.origin, made_by = excluded.made_by,
    body = excluded.body, erased = excluded.erased, revision = revision + 1
"""
PUT_EDGE = """
INSERT INTO edge (ns, source_id, type, target_id, properties, name) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (ns, source_id, type, target_id, name) DO UPDATE SET properties = excluded.properties
"""
ERASED = """
SELECT w.value FROM json_each(?2) w WHERE EXISTS (SELECT 1 FROM message WHERE ns = ?1 AND id = w.value AND erased)
    OR EXISTS (SELECT 1 FROM node WHERE ns = ?1 AND id = w.value AND erased)
    OR EXISTS (SELECT 1 FROM conversation WHERE ns = ?1 AND id = w.value AND erased)
    OR EXISTS (SELECT 1 FROM document WHERE ns = ?1 AND id = w.value AND erased)
"""
CUT_EDGE = "DELETE FROM edge WHERE ns = ? AND source_id = ? AND type = ? AND target_id = ? AND name = ?"


class _There(NamedTuple):
    num: int
    conversation: int
    position: int
    erased: bool


@dataclass(slots=True)
class Put:
    """What putting did: conversations that it touched, by number, owners that have lost their words by it, and nodes
    that live no more.
    """

    touched: set[int] = field(default_factory=set)
    silent: list[NodeId] = field(default_factory=list)
    retired: list[NodeId] = field(default_factory=list)


def put_records(connection: apsw.Connection, ns: int, records: Sequence[Record], revive: bool) -> Put:
    """Puts records by id. Raises StoreError for one without its conversation, or one that would move a message."""
    done = Put()
    conversations, messages = _of(Conversation, records), _of(Message, records)
    calls, turns, chunks = _of(ToolCall, records), _of(Turn, records), _of(Chunk, records)
    belonging: list[Message | ToolCall | Turn] = [*messages, *calls, *turns]
    wanted = {c.id for c in conversations} | {r.conversation_id for r in belonging}
    known = _numbers(connection, FIND_CONVERSATIONS, ns, wanted)
    _put_conversations(connection, ns, conversations, known, revive, done)
    there = _messages(connection, ns, {m.id for m in messages} | {c.message_id for c in calls})
    _put_messages(connection, ns, messages, known, there, revive, done)
    kept_calls = [
        c
        for c in calls
        if not _is_erased(c.conversation_id, known) and not (c.message_id in there and there[c.message_id].erased)
    ]
    connection.executemany(PUT_TOOL_CALL, [_within(ns, c, known, done) for c in kept_calls])
    kept_turns = [t for t in turns if not _is_erased(t.conversation_id, known)]
    connection.executemany(PUT_TURN, [_within(ns, t, known, done) for t in kept_turns])
    given = _of(Document, records)
    documents = _put_whole(connection, ns, given, FIND_DOCUMENTS, PUT_DOCUMENT, revive)
    nodes = _put_whole(connection, ns, _of(Node, records), FIND_NODES, PUT_NODE, revive)
    done.retired = [node.id for node in nodes if node.state != "live"]
    erased = {i for i, found in there.items() if found.erased}
    parents = {m.id for m in messages} - erased | {c.id for c in kept_calls} | {d.id for d in documents}
    _put_chunks(connection, ns, chunks, parents, erased | ({c.id for c in calls} | {d.id for d in given}) - parents)
    return done


def put_edges(connection: apsw.Connection, ns: int, edges: Sequence[Edge]) -> None:
    """Puts edges by source, type, target and name; none of what was erased, which they may tell of."""
    if not edges:
        return
    ends = dict.fromkeys(end for edge in edges for end in (edge.source_id, edge.target_id))
    erased = {row[0] for row in connection.execute(ERASED, (ns, ids_json(ends)))}
    connection.executemany(
        PUT_EDGE,
        [
            (ns, e.source_id, e.type, e.target_id, pack(dict(e.properties)), e.name)
            for e in edges
            if erased.isdisjoint((e.source_id, e.target_id))
        ],
    )


def cut_edges(connection: apsw.Connection, ns: int, keys: Iterable[EdgeKey]) -> None:
    """Removes edges."""
    connection.executemany(CUT_EDGE, [(ns, *key) for key in keys])


def ids_json(ids: Iterable[object]) -> str:
    """A list for json_each."""
    return orjson.dumps(list(ids)).decode()


def _of(kind: type[T], records: Sequence[Record]) -> list[T]:
    """The records of a kind; of those with one id the last."""
    return list({record.id: record for record in records if isinstance(record, kind)}.values())


def _numbers(connection: apsw.Connection, statement: str, ns: int, ids: Iterable[NodeId]) -> dict[NodeId, _There]:
    found: Any = connection.execute(statement, (ns, ids_json(ids)))
    return {found_id: _There(num, num, 0, bool(erased)) for found_id, num, erased in found}


def _messages(connection: apsw.Connection, ns: int, ids: set[NodeId]) -> dict[NodeId, _There]:
    if not ids:
        return {}
    found: Any = connection.execute(FIND_MESSAGES, (ns, ids_json(ids)))
    return {row[0]: _There(row[1], row[2], row[3], bool(row[4])) for row in found}


def _is_erased(conversation_id: NodeId, known: dict[NodeId, _There]) -> bool:
    if conversation_id not in known:
        raise StoreError(f"Conversation {conversation_id} does not exist: add it in the same change.")
    return known[conversation_id].erased


def _put_conversations(
    connection: apsw.Connection,
    ns: int,
    conversations: Sequence[Conversation],
    known: dict[NodeId, _There],
    revive: bool,
    done: Put,
) -> None:
    for conversation in conversations:
        there = known.get(conversation.id)
        values = encode(conversation)
        if there is None:
            num = int(connection.execute(ADD_CONVERSATION, (ns, *values)).get)
        else:
            num = there.num
            if not there.erased or revive:
                connection.execute(REPLACE_CONVERSATION, (*values[1:], num))
        kept_erased = there is not None and there.erased and not revive
        known[conversation.id] = _There(num, num, 0, kept_erased)
        done.touched.add(num)
        if conversation.erased or conversation.deleted:
            done.silent.append(conversation.id)


def _put_messages(
    connection: apsw.Connection,
    ns: int,
    messages: Sequence[Message],
    known: dict[NodeId, _There],
    there: dict[NodeId, _There],
    revive: bool,
    done: Put,
) -> None:
    added, replaced = [], []
    for message in messages:
        if _is_erased(message.conversation_id, known) and not revive:
            there.setdefault(message.id, _There(0, 0, 0, True))
            done.touched.add(known[message.conversation_id].num)
            continue
        num = known[message.conversation_id].num
        found = there.get(message.id)
        done.touched.add(num)
        if found is not None and (found.conversation, found.position) != (num, message.position):
            raise StoreError(f"Message {message.id} already has another position: messages never move.")
        if found is not None and found.erased and not revive:
            continue
        values = encode(message)
        if found is None:
            added.append((ns, num, values[0], *values[2:]))
        else:
            replaced.append((*values[2:], found.num))
            there[message.id] = found._replace(erased=False)
        if message.erased or message.deleted:
            done.silent.append(message.id)
    try:
        connection.executemany(ADD_MESSAGE, added)
    except apsw.ConstraintError as problem:
        raise StoreError("Another message already has this position in the conversation.") from problem
    connection.executemany(REPLACE_MESSAGE, replaced)


def _within(ns: int, record: ToolCall | Turn, known: dict[NodeId, _There], done: Put) -> tuple[Any, ...]:
    """The values of what belongs to a conversation, with its number in place of its id."""
    values = encode(record)
    num = known[record.conversation_id].num
    done.touched.add(num)
    if isinstance(record, ToolCall):
        return (ns, num, values[0], values[1], *values[3:])
    return (ns, num, values[0], *values[2:])


def _put_whole(
    connection: apsw.Connection, ns: int, records: Sequence[Any], find: str, put: str, revive: bool
) -> list[Any]:
    """Puts documents or nodes; returns those that were."""
    if not records:
        return []
    known = _numbers(connection, find, ns, [r.id for r in records])
    kept = [r for r in records if revive or r.id not in known or not known[r.id].erased]
    connection.executemany(put, [(ns, *encode(r)) for r in kept])
    return kept


def _put_chunks(
    connection: apsw.Connection, ns: int, chunks: Sequence[Chunk], parents: set[NodeId], ignored: set[NodeId]
) -> None:
    """The chunks of a parent that is put are those in the change."""
    kept = [c for c in chunks if c.parent_id not in ignored]
    connection.executemany(CLEAR_CHUNKS, [(ns, parent) for parent in sorted(parents | {c.parent_id for c in kept})])
    connection.executemany(PUT_CHUNK, [(ns, *encode(chunk)) for chunk in kept])
