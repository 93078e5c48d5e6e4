"""One change, one transaction: compared with what it was planned on, then written whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apsw

from recollect.engines.sqlite import generations
from recollect.engines.sqlite.deaths import kill, owners, with_calls
from recollect.engines.sqlite.indexing import write_index
from recollect.engines.sqlite.put import cut_edges, ids_json, put_edges, put_records
from recollect.engines.sqlite.tasks import finish, put_tasks
from recollect.errors import NotFound
from recollect.record import Conversation, Document, Message, Namespace, Node, NodeId, ToolCall
from recollect.store.change import Change, Mark, Stale
from recollect.store.passages import Owner

FIND_NAMESPACE = "SELECT num FROM namespace WHERE name = ?"
ADD_NAMESPACE = "INSERT INTO namespace (name) VALUES (?) RETURNING num"
REVISIONS = """
SELECT id, revision FROM conversation WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
UNION ALL SELECT id, revision FROM document WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
UNION ALL SELECT id, revision FROM node WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
"""
RAISE_REVISION = "UPDATE conversation SET revision = revision + 1, digest = NULL WHERE num = ?"
SET_DIGEST = "UPDATE conversation SET digest = ? WHERE ns = ? AND id = ?"
FIND_CONVERSATIONS = "SELECT num FROM conversation WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))"
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
        touched |= {row[0] for row in connection.execute(FIND_CONVERSATIONS, (ns, ids_json(change.digests)))}
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
        for gen in generations.in_use(connection, ns):
            kill(connection, gen.num, keys)


def _retire(connection: apsw.Connection, ns: int, ids: Sequence[NodeId]) -> None:
    """Nodes that live no more are found no longer; whoever builds a generation looks at them again."""
    if not ids:
        return
    nodes = {num: node_id for node_id, kind, num, _ in owners(connection, ns, ids) if kind == Owner.NODE}
    for gen in generations.in_use(connection, ns):
        kill(connection, gen.num, [(int(Owner.NODE), num) for num in nodes])
    beside = generations.building(connection, ns)
    if beside is not None:
        generations.note_todo(connection, beside.num, nodes.values())


def _few(ids: Iterable[NodeId]) -> str:
    shown = list(ids)
    return ", ".join(shown[:3]) + (", …" if len(shown) > 3 else "")
