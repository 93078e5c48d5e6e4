"""One change, one transaction: compared with what it was planned on, then written whole; and the tasks of workers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Literal

import apsw

from recollect.engines import plans
from recollect.engines.codec import encode, ids_json, pack
from recollect.engines.sqlite.indexing import SQLiteIndexWriter
from recollect.engines.sqlite.schema import IDS, RECORDS, columns
from recollect.errors import StoreError
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
from recollect.store.change import Change, Fenced, Lease, Mark, Record, Task

FIND_NAMESPACE = "SELECT num FROM namespace WHERE name = ?"
ADD_NAMESPACE = "INSERT INTO namespace (name) VALUES (?) RETURNING num"
REVISIONS = f"""
SELECT id, revision FROM conversation WHERE ns = ?1 AND id IN {IDS}
UNION ALL SELECT id, revision FROM document WHERE ns = ?1 AND id IN {IDS}
UNION ALL SELECT id, revision FROM node WHERE ns = ?1 AND id IN {IDS}
"""
FIND: dict[type[Record], str] = {
    Conversation: f"SELECT id, num, erased, id, 0 FROM conversation WHERE ns = ?1 AND id IN {IDS}",
    Message: f"""
SELECT m.id, m.num, m.erased, c.id, m.position FROM message m JOIN conversation c ON c.num = m.conversation
WHERE m.ns = ?1 AND m.id IN {IDS}""",
    Document: f"SELECT id, num, erased, NULL, NULL FROM document WHERE ns = ?1 AND id IN {IDS}",
    Node: f"SELECT id, num, erased, NULL, NULL FROM node WHERE ns = ?1 AND id IN {IDS}",
}


def _put(table: str, revision: int | None = None) -> str:
    """The statement that puts a record of a table by its id; what has a revision of its own begins with this one."""
    own, more, begins = columns(table), "", ""
    changes = ", ".join(f"{name} = excluded.{name}" for name in own[1:])
    if revision is not None:
        more, begins, changes = ", revision", f", {revision}", changes + ", revision = revision + 1" * revision
    return f"""
INSERT INTO {table} (ns, {", ".join(own)}{more}) VALUES (?{", ?" * len(own)}{begins})
ON CONFLICT (ns, id) DO UPDATE SET {changes}
"""


PUT: dict[type[Record], str] = {
    Conversation: _put("conversation", 0) + " RETURNING num",  # each change to what is in it raises its revision
    Message: _put("message"),
    ToolCall: _put("tool_call"),
    Turn: _put("turn"),
    Chunk: _put("chunk"),
    Document: _put("document", 1),
    Node: _put("node", 1),
}
CLEAR_CHUNKS = "DELETE FROM chunk WHERE ns = ? AND parent_id = ?"
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
RAISE_REVISION = "UPDATE conversation SET revision = revision + 1, digest = ? WHERE ns = ? AND id = ?"
# What was erased stays deleted.
MARK_MESSAGE = """
UPDATE message SET deleted = max(erased, coalesce(?3, deleted)), active = coalesce(?4, active) WHERE ns = ?1 AND id = ?2
RETURNING (SELECT id FROM conversation c WHERE c.num = message.conversation)
"""
MARK_CONVERSATION = """
UPDATE conversation SET deleted = max(erased, coalesce(?3, deleted)) WHERE ns = ?1 AND id = ?2 RETURNING id
"""
MARK_NODE = """
UPDATE node SET state = coalesce(?3, state), revision = revision + 1 WHERE ns = ?1 AND id = ?2 RETURNING num
"""

#: Where in the values of a record the id of its conversation stands, of which tables hold the number.
_OWNED = {
    kind: columns(table).index("conversation") for table, kind in RECORDS.items() if "conversation" in columns(table)
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
    if change.expect:
        found: Any = connection.execute(REVISIONS, (ns, ids_json(change.expect)))
        plans.refuse_stale(change.expect, dict(found).get)
    for lease in change.leases:
        finish(connection, ns, lease)
    put = put_records(connection, ns, change)
    touched = {**put.touched, **dict.fromkeys(change.digests)}
    for mark in change.mark:
        touched |= dict.fromkeys(_mark(connection, ns, mark))
    connection.executemany(RAISE_REVISION, [(change.digests.get(owner), ns, owner) for owner in touched])
    _put_edges(connection, ns, change.edges)
    connection.executemany(CUT_EDGE, [(ns, *key) for key in change.cut])
    if change.index is not None or put.silenced or put.retired:
        given = {(record.id, type(record)) for record in change.put}
        plans.write_index(SQLiteIndexWriter(connection, ns, given), change.index, put.silenced, put.retired)
    _put_tasks(connection, ns, change.tasks)


def put_records(connection: apsw.Connection, ns: int, change: Change) -> plans.Put:
    """Puts the records of a change. Raises StoreError for one without its conversation, or one that would move."""
    wanted: dict[type[Record], dict[NodeId, None]] = {kind: {} for kind in FIND}
    for record in change.put:
        if isinstance(record, Message | ToolCall | Turn):
            wanted[Conversation][record.conversation_id] = None
        if isinstance(record, ToolCall):
            wanted[Message][record.message_id] = None
        elif isinstance(record, Turn):
            wanted[Message].update(dict.fromkeys(plans.told_of(record)))
        elif isinstance(record, Chunk):
            wanted[Message][record.parent_id] = None
        else:
            wanted[type(record)][record.id] = None
    there: dict[tuple[type[Record], NodeId], plans.There] = {}
    numbers: dict[Any, int] = {}  # of conversations
    for kind, ids in wanted.items():
        if ids:
            found: list[Any] = connection.execute(FIND[kind], (ns, ids_json(ids))).fetchall()
            there |= {(kind, id_): plans.There(bool(erased), of, at) for id_, _, erased, of, at in found}
            numbers |= {id_: num for id_, num, *_ in found} if kind is Conversation else {}
    put = plans.put_plan(change, lambda kind, id_: there.get((kind, id_)))
    for conversation in put.of(Conversation):
        numbers[conversation.id] = int(connection.execute(PUT[Conversation], (ns, *encode(conversation))).get)
    try:
        for kind, at in _OWNED.items():
            rows = [(ns, *(values := encode(r))[:at], numbers[values[at]], *values[at + 1 :]) for r in put.of(kind)]
            connection.executemany(PUT[kind], rows)
    except apsw.ConstraintError as problem:
        raise StoreError("Another message already has this position in the conversation.") from problem
    connection.executemany(PUT[Document], [(ns, *encode(document)) for document in put.of(Document)])
    connection.executemany(PUT[Node], [(ns, *encode(node)) for node in put.of(Node)])
    chunks = put.of(Chunk)
    parents = dict.fromkeys([*put.parents, *(chunk.parent_id for chunk in chunks)])
    connection.executemany(CLEAR_CHUNKS, [(ns, parent) for parent in parents])
    connection.executemany(PUT[Chunk], [(ns, *encode(chunk)) for chunk in chunks])
    return put


def _mark(connection: apsw.Connection, ns: int, mark: Mark) -> list[NodeId]:
    """Marks messages, conversations, nodes; returns the conversations that were touched. Raises NotFound."""
    deleted = None if mark.deleted is None else int(mark.deleted)
    active = None if mark.active is None else int(mark.active)
    touched: list[NodeId] = []
    missing: list[NodeId] = []
    for marked in mark.ids:
        found = connection.execute(MARK_MESSAGE, (ns, marked, deleted, active)).fetchone()
        found = found or connection.execute(MARK_CONVERSATION, (ns, marked, deleted)).fetchone()
        if found is not None:
            touched.append(NodeId(found[0]))
        elif connection.execute(MARK_NODE, (ns, marked, mark.state)).fetchone() is None:
            missing.append(marked)
    plans.require_all(missing, ())
    return touched


def _put_edges(connection: apsw.Connection, ns: int, edges: Sequence[Edge]) -> None:
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


# --- tasks ----------------------------------------------------------------------------------------------------------
# Tasks: work for later that is put with what it is about, claimed by one worker at a time, and done exactly once.

PUT_TASK = """
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


def _put_tasks(connection: apsw.Connection, ns: int, tasks: Iterable[Task]) -> None:
    """Puts tasks; one that is there already is left as it is."""
    connection.executemany(
        PUT_TASK,
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
