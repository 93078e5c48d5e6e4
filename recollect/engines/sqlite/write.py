"""One change, one transaction: compared with what it was planned on, then written whole."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, TypeVar

import apsw

from recollect.engines.codec import encode, ids_json, pack
from recollect.engines.sqlite import indexing
from recollect.engines.sqlite.indexing import kill, owners, with_calls, write_index
from recollect.errors import NotFound, StoreError
from recollect.record import (
    Chunk,
    Conversation,
    Document,
    Edge,
    Message,
    Namespace,
    Node,
    NodeId,
    ToolCall,
    Turn,
    from_microseconds,
    to_microseconds,
)
from recollect.store.change import Change, EdgeKey, Fenced, Lease, Mark, Record, Stale, Task
from recollect.store.passages import Owner

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


# Tasks: work for later that is put with what it is about, claimed by one worker at a time, and done exactly once.

PUT = """
INSERT INTO task (ns, id, kind, subject, due, ready, payload) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (ns, id) DO NOTHING
"""
DUE = """
SELECT num FROM task WHERE ns = ?1 AND NOT dead AND ready <= ?2 AND kind IN (SELECT value FROM json_each(?3))
ORDER BY ready, num LIMIT ?4
"""
CLAIM = """
UPDATE task SET fence = fence + 1, attempt = attempt + 1, worker = ?, ready = ? WHERE num = ?
RETURNING id, kind, subject, payload, due, num << 20 | fence, attempt, answer
"""
# A fence holds the number of the task, which is never given again: that of a task that was put anew is another one.
KEEP = """
UPDATE task SET answer = ? WHERE ns = ? AND id = ? AND num << 20 | fence = ? AND worker IS NOT NULL RETURNING num
"""
RENEW = """
UPDATE task SET ready = ? WHERE ns = ? AND id = ? AND num << 20 | fence = ? AND worker IS NOT NULL RETURNING num
"""
REVIVE = """
UPDATE task SET dead = 0, attempt = 0, ready = 0
WHERE ns = ?1 AND dead AND (?2 IS NULL OR id IN (SELECT value FROM json_each(?2))) RETURNING num
"""
RELEASE = """
UPDATE task SET worker = NULL, ready = ?, why = ?, dead = ?
WHERE ns = ? AND id = ? AND num << 20 | fence = ? AND worker IS NOT NULL RETURNING num
"""
FINISH = "DELETE FROM task WHERE ns = ? AND id = ? AND num << 20 | fence = ? AND worker IS NOT NULL RETURNING num"
LIST_DUE = """
SELECT id, kind, subject, payload, due, why FROM task
WHERE ns = ?1 AND NOT dead AND (worker IS NULL OR ready <= ?2) ORDER BY ready, num LIMIT ?3
"""
LIST_LEASED = """
SELECT id, kind, subject, payload, due, why FROM task
WHERE ns = ?1 AND NOT dead AND worker IS NOT NULL AND ready > ?2 ORDER BY num LIMIT ?3
"""
LIST_DEAD = (
    "SELECT id, kind, subject, payload, due, why FROM task WHERE ns = ?1 AND dead AND ?2 = ?2 ORDER BY num LIMIT ?3"
)
_LISTS = {"due": LIST_DUE, "leased": LIST_LEASED, "dead": LIST_DEAD}


def put_tasks(connection: apsw.Connection, ns: int, tasks: Iterable[Task]) -> None:
    """Puts tasks; one that is there already is left as it is."""
    connection.executemany(
        PUT,
        [(ns, t.id, t.kind, t.subject, to_microseconds(t.due), to_microseconds(t.due) or 0, t.payload) for t in tasks],
    )


def claim(
    connection: apsw.Connection, ns: int, worker: str, kinds: Sequence[str], most: int, lease: timedelta, now: datetime
) -> list[Lease]:
    """Due tasks, and those whose lease has run out, now held by this worker."""
    due = connection.execute(DUE, (ns, to_microseconds(now), ids_json(kinds), most)).fetchall()
    until = now + lease
    held = []
    for (num,) in due:
        row: Any = connection.execute(CLAIM, (worker, to_microseconds(until), num)).fetchone()
        held.append(Lease(task=_task(row), fence=row[5], until=until, attempt=row[6], answer=row[7]))
    return held


def keep(connection: apsw.Connection, ns: int, lease: Lease, answer: bytes) -> None:
    """Keeps what was generated. Raises Fenced."""
    _fenced(connection.execute(KEEP, (answer, ns, lease.task.id, lease.fence)).fetchone(), lease)


def renew(
    connection: apsw.Connection, ns: int, leases: Iterable[Lease], length: timedelta, now: datetime
) -> list[Lease]:
    """Holds tasks for longer; returns the leases that are still held."""
    until = now + length
    values = [(lease, (to_microseconds(until), ns, lease.task.id, lease.fence)) for lease in leases]
    held = [lease for lease, row in values if connection.execute(RENEW, row).fetchone() is not None]
    return [replace(lease, until=until) for lease in held]


def revive(connection: apsw.Connection, ns: int, ids: Collection[NodeId] | None) -> int:
    """Makes dead tasks due; returns how many."""
    return len(connection.execute(REVIVE, (ns, None if ids is None else ids_json(ids))).fetchall())


def release(connection: apsw.Connection, ns: int, lease: Lease, why: str, again: datetime | None) -> None:
    """Gives a task back, to be claimed at a time or never. Raises Fenced."""
    ready = to_microseconds(again) if again is not None else 0
    values = (ready, why, int(again is None), ns, lease.task.id, lease.fence)
    _fenced(connection.execute(RELEASE, values).fetchone(), lease)


def finish(connection: apsw.Connection, ns: int, lease: Lease) -> None:
    """The task is done. Raises Fenced where somebody else has it by now."""
    _fenced(connection.execute(FINISH, (ns, lease.task.id, lease.fence)).fetchone(), lease)


def listed(
    connection: apsw.Connection, ns: int, state: Literal["due", "leased", "dead"], limit: int, now: datetime
) -> list[tuple[Task, str]]:
    """Tasks with the reason of their last failure. Due are all that nobody holds, those for later too."""
    found = connection.execute(_LISTS[state], (ns, to_microseconds(now), limit))
    return [(_task(row), row[5]) for row in found]


def _task(row: Sequence[Any]) -> Task:
    return Task(id=row[0], kind=row[1], subject=row[2], payload=row[3], due=from_microseconds(row[4]))


def _fenced(row: object, lease: Lease) -> None:
    if row is None:
        raise Fenced(lease)


FIND_NAMESPACE = "SELECT num FROM namespace WHERE name = ?"
ADD_NAMESPACE = "INSERT INTO namespace (name) VALUES (?) RETURNING num"
REVISIONS = """
SELECT id, revision FROM conversation WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
UNION ALL SELECT id, revision FROM document WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
UNION ALL SELECT id, revision FROM node WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
"""
RAISE_REVISION = "UPDATE conversation SET revision = revision + 1, digest = NULL WHERE num = ?"
SET_DIGEST = "UPDATE conversation SET digest = ? WHERE ns = ? AND id = ?"
# What was erased stays deleted.
MARK_MESSAGE = """
UPDATE message SET deleted = max(erased, coalesce(?3, deleted)), active = coalesce(?4, active) WHERE ns = ?1 AND id = ?2
RETURNING conversation
"""
MARK_CONVERSATION = """
UPDATE conversation SET deleted = max(erased, coalesce(?3, deleted)) WHERE ns = ?1 AND id = ?2 RETURNING num
"""
MARK_NODE = """
UPDATE node SET state = coalesce(?3, state), revision = revision + 1 WHERE ns = ?1 AND id = ?2 RETURNING num
"""

_OWNERS: dict[type[object], Owner] = {
    Message: Owner.MESSAGE,
    ToolCall: Owner.TOOL_CALL,
    Document: Owner.DOCUMENT,
    Conversation: Owner.CONVERSATION,
    Node: Owner.NODE,
}


def namespace_number(connection: apsw.Connection, name: Namespace) -> int | None:
    """The number of a namespace; None where nothing was ever written to it."""
    found: int | None = connection.execute(FIND_NAMESPACE, (name,)).get
    return found


def made_namespace(connection: apsw.Connection, name: Namespace) -> int:
    """The number of a namespace, made at first use."""
    return namespace_number(connection, name) or int(connection.execute(ADD_NAMESPACE, (name,)).get)


def write_change(connection: apsw.Connection, ns: int, change: Change) -> None:
    """Writes a change. Raises Stale, Fenced, WrongEmbedder, NotFound, StoreError; the caller then rolls back."""
    _compare(connection, ns, change.expect)
    for lease in change.leases:
        finish(connection, ns, lease)
    done = put_records(connection, ns, change.put, change.revive)
    touched, silent, retired = done.touched, done.silent, done.retired
    for mark in change.mark:
        touched |= _mark(connection, ns, mark)
        if mark.deleted:
            silent += mark.ids
        if mark.state not in (None, "live"):
            retired += mark.ids
    _silence(connection, ns, silent)
    _retire(connection, ns, retired)
    put_edges(connection, ns, change.edges)
    cut_edges(connection, ns, change.cut)
    if change.digests:
        touched |= {row[1] for row in connection.execute(FIND_CONVERSATIONS, (ns, ids_json(change.digests)))}
    connection.executemany(RAISE_REVISION, [(num,) for num in sorted(touched)])
    connection.executemany(
        SET_DIGEST, [(digest, ns, conversation_id) for conversation_id, digest in change.digests.items()]
    )
    if change.index is not None:
        put = {(record.id, int(kind)) for record in change.put if (kind := _OWNERS.get(type(record))) is not None}
        write_index(connection, ns, change.index, put)
    put_tasks(connection, ns, change.tasks)


def _compare(connection: apsw.Connection, ns: int, expect: Mapping[NodeId, int]) -> None:
    if not expect:
        return
    found: Any = connection.execute(REVISIONS, (ns, ids_json(expect))).fetchall()
    there: dict[NodeId, int] = dict(found)
    stale = [planned for planned, revision in expect.items() if there.get(planned, 0) != revision]
    if stale:
        raise Stale(stale)


def _mark(connection: apsw.Connection, ns: int, mark: Mark) -> set[int]:
    """Marks messages, conversations, nodes; returns the conversations that were touched. Raises NotFound."""
    deleted = None if mark.deleted is None else int(mark.deleted)
    active = None if mark.active is None else int(mark.active)
    touched: set[int] = set()
    missing: list[NodeId] = []
    for marked in mark.ids:
        found = connection.execute(MARK_MESSAGE, (ns, marked, deleted, active)).fetchone()
        found = found or connection.execute(MARK_CONVERSATION, (ns, marked, deleted)).fetchone()
        if found is not None:
            touched.add(found[0])
        elif connection.execute(MARK_NODE, (ns, marked, mark.state)).fetchone() is None:
            missing.append(marked)
    if missing:
        raise NotFound(f"Nothing has the ID {_few(missing)}.")
    return touched


def _silence(connection: apsw.Connection, ns: int, ids: Sequence[NodeId]) -> None:
    """What is deleted is found no longer, in any generation."""
    if ids:
        keys = with_calls(connection, ns, ids)
        for gen in indexing.in_use(connection, ns):
            kill(connection, gen.num, keys)


def _retire(connection: apsw.Connection, ns: int, ids: Sequence[NodeId]) -> None:
    """Nodes that live no more are found no longer; whoever builds a generation looks at them again."""
    if not ids:
        return
    nodes = {num: node_id for node_id, kind, num, _ in owners(connection, ns, ids) if kind == Owner.NODE}
    for gen in indexing.in_use(connection, ns):
        kill(connection, gen.num, [(int(Owner.NODE), num) for num in nodes])
    beside = indexing.building(connection, ns)
    if beside is not None:
        indexing.note_todo(connection, beside.num, nodes.values())


def _few(ids: Iterable[NodeId]) -> str:
    shown = list(ids)
    return ", ".join(shown[:3]) + (", …" if len(shown) > 3 else "")
