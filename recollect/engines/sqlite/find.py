"""Finding records page by page. A page begins after the last record of the one before, whatever comes between."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import apsw

from recollect.engines.codec import decode, from_cursor, ids_json, to_cursor
from recollect.engines.sqlite.connection import fold
from recollect.errors import InvalidInput
from recollect.record import (
    REPORTS,
    Chunk,
    Conversation,
    Document,
    Message,
    Node,
    NodeId,
    NodeKind,
    ToolCall,
    Turn,
    from_microseconds,
    to_microseconds,
)
from recollect.store.results import Counts, Page, R, Where

# In all of them ?1 is the namespace, ?2 the limit, ?3 the id after which to go on; by time ?4 is the time of that one.
# Without a time a record is older than all others.
CONVERSATIONS_BY_ID = """
SELECT c.id, c.source, c.source_id, c.title, c.created, c.updated, c.leaf_id, c.metadata, c.deleted, c.erased,
    coalesce(c.updated, c.created, -9223372036854775808)
FROM conversation c WHERE c.ns = ?1 AND c.id > ?3 AND ?4 = ?4
  AND (?5 IS NULL OR c.source IN (SELECT value FROM json_each(?5))) AND (?6 = '' OR instr(fold(c.title), ?6))
  AND (?7 IS NULL OR coalesce(c.updated, c.created) >= ?7) AND (?8 IS NULL OR coalesce(c.created, c.updated) < ?8)
  AND (?9 IS NULL OR c.deleted = ?9)
ORDER BY c.id LIMIT ?2
"""
CONVERSATIONS_NEWEST = """
SELECT c.id, c.source, c.source_id, c.title, c.created, c.updated, c.leaf_id, c.metadata, c.deleted, c.erased,
    coalesce(c.updated, c.created, -9223372036854775808)
FROM conversation c
WHERE c.ns = ?1 AND (coalesce(c.updated, c.created, -9223372036854775808), c.id) < (?4, ?3)
  AND (?5 IS NULL OR c.source IN (SELECT value FROM json_each(?5))) AND (?6 = '' OR instr(fold(c.title), ?6))
  AND (?7 IS NULL OR coalesce(c.updated, c.created) >= ?7) AND (?8 IS NULL OR coalesce(c.created, c.updated) < ?8)
  AND (?9 IS NULL OR c.deleted = ?9)
ORDER BY coalesce(c.updated, c.created, -9223372036854775808) DESC, c.id DESC LIMIT ?2
"""
DOCUMENTS_BY_ID = """
SELECT d.id, d.source, d.title, d.content, d.source_id, d.created, d.metadata, d.versions, d.erased,
    coalesce(d.created, -9223372036854775808)
FROM document d WHERE d.ns = ?1 AND d.id > ?3 AND ?4 = ?4
  AND (?5 IS NULL OR d.source IN (SELECT value FROM json_each(?5))) AND (?6 = '' OR instr(fold(d.title), ?6))
  AND (?7 IS NULL OR d.created >= ?7) AND (?8 IS NULL OR d.created < ?8) AND (?9 IS NULL OR d.erased = ?9)
ORDER BY d.id LIMIT ?2
"""
DOCUMENTS_NEWEST = """
SELECT d.id, d.source, d.title, d.content, d.source_id, d.created, d.metadata, d.versions, d.erased,
    coalesce(d.created, -9223372036854775808)
FROM document d WHERE d.ns = ?1 AND (coalesce(d.created, -9223372036854775808), d.id) < (?4, ?3)
  AND (?5 IS NULL OR d.source IN (SELECT value FROM json_each(?5))) AND (?6 = '' OR instr(fold(d.title), ?6))
  AND (?7 IS NULL OR d.created >= ?7) AND (?8 IS NULL OR d.created < ?8) AND (?9 IS NULL OR d.erased = ?9)
ORDER BY coalesce(d.created, -9223372036854775808) DESC, d.id DESC LIMIT ?2
"""
MESSAGES_BY_ID = """
SELECT m.id, c.id, m.role, m.content, m.kind, m.speaker, m.timestamp, m.parent_id, m.source_id, m.position, m.active,
    m.model, m.tokens, m.parts, m.metadata, m.versions, m.deleted, m.erased,
    coalesce(m.timestamp, -9223372036854775808)
FROM message m JOIN conversation c ON c.num = m.conversation
WHERE m.ns = ?1 AND m.id > ?3 AND ?4 = ?4 AND (?5 IS NULL OR c.id = ?5) AND (?6 IS NULL OR m.timestamp >= ?6)
  AND (?7 IS NULL OR m.timestamp < ?7) AND (?8 IS NULL OR m.deleted = ?8)
  AND (?9 IS NULL OR m.kind IN (SELECT value FROM json_each(?9)))
ORDER BY m.id LIMIT ?2
"""
MESSAGES_NEWEST = """
SELECT m.id, c.id, m.role, m.content, m.kind, m.speaker, m.timestamp, m.parent_id, m.source_id, m.position, m.active,
    m.model, m.tokens, m.parts, m.metadata, m.versions, m.deleted, m.erased,
    coalesce(m.timestamp, -9223372036854775808)
FROM message m JOIN conversation c ON c.num = m.conversation
WHERE m.ns = ?1 AND (coalesce(m.timestamp, -9223372036854775808), m.id) < (?4, ?3)
  AND coalesce(m.timestamp, -9223372036854775808) >= coalesce(?6, -9223372036854775808)
  AND (?5 IS NULL OR c.id = ?5) AND (?6 IS NULL OR m.timestamp >= ?6)
  AND (?7 IS NULL OR m.timestamp < ?7) AND (?8 IS NULL OR m.deleted = ?8)
  AND (?9 IS NULL OR m.kind IN (SELECT value FROM json_each(?9)))
ORDER BY coalesce(m.timestamp, -9223372036854775808) DESC, m.id DESC LIMIT ?2
"""
MESSAGES_OF = """
SELECT m.id, c.id, m.role, m.content, m.kind, m.speaker, m.timestamp, m.parent_id, m.source_id, m.position, m.active,
    m.model, m.tokens, m.parts, m.metadata, m.versions, m.deleted, m.erased,
    coalesce(m.timestamp, -9223372036854775808)
FROM conversation c CROSS JOIN message m ON m.conversation = c.num
WHERE c.ns = ?1 AND c.id = ?5 AND m.id > ?3 AND ?4 = ?4 AND (?6 IS NULL OR m.timestamp >= ?6)
  AND (?7 IS NULL OR m.timestamp < ?7) AND (?8 IS NULL OR m.deleted = ?8)
  AND (?9 IS NULL OR m.kind IN (SELECT value FROM json_each(?9)))
ORDER BY m.id LIMIT ?2
"""
TOOL_CALLS_BY_ID = """
SELECT t.id, t.message_id, c.id, t.name, t.arguments, coalesce(nullif(t.result, ''), r.content, ''),
    t.result_message_id, t.timestamp, t.position, t.metadata, coalesce(t.timestamp, -9223372036854775808)
FROM tool_call t JOIN conversation c ON c.num = t.conversation
LEFT JOIN message r ON r.ns = t.ns AND r.id = t.result_message_id
WHERE t.ns = ?1 AND t.id > ?3 AND ?4 = ?4 AND (?5 IS NULL OR c.id = ?5) AND (?6 IS NULL OR t.timestamp >= ?6)
  AND (?7 IS NULL OR t.timestamp < ?7)
ORDER BY t.id LIMIT ?2
"""
TOOL_CALLS_NEWEST = """
SELECT t.id, t.message_id, c.id, t.name, t.arguments, coalesce(nullif(t.result, ''), r.content, ''),
    t.result_message_id, t.timestamp, t.position, t.metadata, coalesce(t.timestamp, -9223372036854775808)
FROM tool_call t JOIN conversation c ON c.num = t.conversation
LEFT JOIN message r ON r.ns = t.ns AND r.id = t.result_message_id
WHERE t.ns = ?1 AND (coalesce(t.timestamp, -9223372036854775808), t.id) < (?4, ?3) AND (?5 IS NULL OR c.id = ?5)
  AND (?6 IS NULL OR t.timestamp >= ?6) AND (?7 IS NULL OR t.timestamp < ?7)
ORDER BY coalesce(t.timestamp, -9223372036854775808) DESC, t.id DESC LIMIT ?2
"""
TURNS_BY_ID = """
SELECT t.id, c.id, t.position, t.query_id, t.response_ids, t.resolved_query, t.entities, t.source_chunk_ids, t.position
FROM turn t JOIN conversation c ON c.num = t.conversation
WHERE t.ns = ?1 AND t.id > ?3 AND ?4 = ?4 AND (?5 IS NULL OR c.id = ?5) ORDER BY t.id LIMIT ?2
"""
TURNS_NEWEST = """
SELECT t.id, c.id, t.position, t.query_id, t.response_ids, t.resolved_query, t.entities, t.source_chunk_ids, t.position
FROM turn t JOIN conversation c ON c.num = t.conversation
WHERE t.ns = ?1 AND (t.position, t.id) < (?4, ?3) AND (?5 IS NULL OR c.id = ?5)
ORDER BY t.position DESC, t.id DESC LIMIT ?2
"""
CHUNKS_BY_ID = """
SELECT k.id, k.parent_id, k.idx, k.start, k.end, k.tokens, k.part, 0
FROM chunk k WHERE k.ns = ?1 AND k.id > ?3 AND ?4 = ?4 ORDER BY k.id LIMIT ?2
"""
NODES_BY_ID = """
SELECT n.id, n.kind, n.key, n.text, n.state, n.conversation_id, n.valid_from, n.valid_to, n.score, n.origin, n.made_by,
    n.body, n.erased, coalesce(n.valid_from, -9223372036854775808)
FROM node n WHERE n.ns = ?1 AND n.id > ?3 AND ?4 = ?4
  AND (?5 IS NULL OR n.kind IN (SELECT value FROM json_each(?5)))
  AND (?6 IS NULL OR n.key IN (SELECT value FROM json_each(?6)))
  AND (?7 IS NULL OR n.state IN (SELECT value FROM json_each(?7)))
  AND (?8 IS NULL OR n.conversation_id = ?8)
  AND (?9 IS NULL OR coalesce(n.valid_from, ?9) <= ?9 AND ?9 < coalesce(n.valid_to, 9223372036854775807))
  AND (?10 IS NULL OR n.valid_from >= ?10) AND (?11 IS NULL OR n.valid_from < ?11) AND (?12 IS NULL OR n.erased = ?12)
  AND (?13 IS NULL OR substr(n.body ->> 'attribute', 1, instr((n.body ->> 'attribute') || ' of ', ' of ') - 1)
    IN (SELECT value FROM json_each(?13))) AND (?14 = 0 OR n.body ->> 'pinned')
ORDER BY n.id LIMIT ?2
"""
NODES_NEWEST = """
SELECT n.id, n.kind, n.key, n.text, n.state, n.conversation_id, n.valid_from, n.valid_to, n.score, n.origin, n.made_by,
    n.body, n.erased, coalesce(n.valid_from, -9223372036854775808)
FROM node n WHERE n.ns = ?1 AND (coalesce(n.valid_from, -9223372036854775808), n.id) < (?4, ?3)
  AND (?5 IS NULL OR n.kind IN (SELECT value FROM json_each(?5)))
  AND (?6 IS NULL OR n.key IN (SELECT value FROM json_each(?6)))
  AND (?7 IS NULL OR n.state IN (SELECT value FROM json_each(?7)))
  AND (?8 IS NULL OR n.conversation_id = ?8)
  AND (?9 IS NULL OR coalesce(n.valid_from, ?9) <= ?9 AND ?9 < coalesce(n.valid_to, 9223372036854775807))
  AND (?10 IS NULL OR n.valid_from >= ?10) AND (?11 IS NULL OR n.valid_from < ?11) AND (?12 IS NULL OR n.erased = ?12)
  AND (?13 IS NULL OR substr(n.body ->> 'attribute', 1, instr((n.body ->> 'attribute') || ' of ', ' of ') - 1)
    IN (SELECT value FROM json_each(?13))) AND (?14 = 0 OR n.body ->> 'pinned')
ORDER BY coalesce(n.valid_from, -9223372036854775808) DESC, n.id DESC LIMIT ?2
"""
# The newest of one kind, in the order of an index.
NODES_OF_KIND_NEWEST = """
SELECT n.id, n.kind, n.key, n.text, n.state, n.conversation_id, n.valid_from, n.valid_to, n.score, n.origin, n.made_by,
    n.body, n.erased, coalesce(n.valid_from, -9223372036854775808)
FROM node n WHERE n.ns = ?1 AND n.kind = ?5 ->> 0 AND (coalesce(n.valid_from, -9223372036854775808), n.id) < (?4, ?3)
  AND (?6 IS NULL OR n.key IN (SELECT value FROM json_each(?6)))
  AND (?7 IS NULL OR n.state IN (SELECT value FROM json_each(?7)))
  AND (?8 IS NULL OR n.conversation_id = ?8)
  AND (?9 IS NULL OR coalesce(n.valid_from, ?9) <= ?9 AND ?9 < coalesce(n.valid_to, 9223372036854775807))
  AND (?10 IS NULL OR n.valid_from >= ?10) AND (?11 IS NULL OR n.valid_from < ?11) AND (?12 IS NULL OR n.erased = ?12)
  AND (?13 IS NULL OR substr(n.body ->> 'attribute', 1, instr((n.body ->> 'attribute') || ' of ', ' of ') - 1)
    IN (SELECT value FROM json_each(?13))) AND (?14 = 0 OR n.body ->> 'pinned')
ORDER BY coalesce(n.valid_from, -9223372036854775808) DESC, n.id DESC LIMIT ?2
"""
# The same by the keys, or by the conversation, that they are looked up by; those of keys are few, sorted afterwards.
NODES_OF_KEYS = """
SELECT n.id, n.kind, n.key, n.text, n.state, n.conversation_id, n.valid_from, n.valid_to, n.score, n.origin, n.made_by,
    n.body, n.erased, coalesce(n.valid_from, -9223372036854775808)
FROM json_each(?6) w CROSS JOIN node n ON n.ns = ?1 AND n.key = w.value
WHERE CASE WHEN ?15 THEN (coalesce(n.valid_from, -9223372036854775808), n.id) < (?4, ?3) ELSE n.id > ?3 END
  AND (?5 IS NULL OR n.kind IN (SELECT value FROM json_each(?5)))
  AND (?7 IS NULL OR n.state IN (SELECT value FROM json_each(?7)))
  AND (?8 IS NULL OR n.conversation_id = ?8)
  AND (?9 IS NULL OR coalesce(n.valid_from, ?9) <= ?9 AND ?9 < coalesce(n.valid_to, 9223372036854775807))
  AND (?10 IS NULL OR n.valid_from >= ?10) AND (?11 IS NULL OR n.valid_from < ?11) AND (?12 IS NULL OR n.erased = ?12)
  AND (?13 IS NULL OR substr(n.body ->> 'attribute', 1, instr((n.body ->> 'attribute') || ' of ', ' of ') - 1)
    IN (SELECT value FROM json_each(?13))) AND (?14 = 0 OR n.body ->> 'pinned')
ORDER BY iif(?15, -coalesce(n.valid_from, -9223372036854775807), 0), iif(?15, NULL, n.id), n.id DESC LIMIT ?2
"""
# Facts by what they tell of somebody, whoever that is: an index has that out of their bodies.
FACTS_OF_ATTRIBUTES = """
SELECT n.id, n.kind, n.key, n.text, n.state, n.conversation_id, n.valid_from, n.valid_to, n.score, n.origin, n.made_by,
    n.body, n.erased, coalesce(n.valid_from, -9223372036854775808)
FROM json_each(?13) w CROSS JOIN node n ON n.ns = ?1 AND n.kind = 'fact'
  AND substr(n.body ->> 'attribute', 1, instr((n.body ->> 'attribute') || ' of ', ' of ') - 1) = w.value
WHERE CASE WHEN ?15 THEN (coalesce(n.valid_from, -9223372036854775808), n.id) < (?4, ?3) ELSE n.id > ?3 END
  AND ?5 = ?5 AND (?6 IS NULL OR n.key IN (SELECT value FROM json_each(?6)))
  AND (?7 IS NULL OR n.state IN (SELECT value FROM json_each(?7))) AND ?8 IS NULL
  AND (?9 IS NULL OR coalesce(n.valid_from, ?9) <= ?9 AND ?9 < coalesce(n.valid_to, 9223372036854775807))
  AND (?10 IS NULL OR n.valid_from >= ?10) AND (?11 IS NULL OR n.valid_from < ?11) AND (?12 IS NULL OR n.erased = ?12)
  AND (?14 = 0 OR n.body ->> 'pinned')
ORDER BY iif(?15, -coalesce(n.valid_from, -9223372036854775807), 0), iif(?15, NULL, n.id), n.id DESC LIMIT ?2
"""
# Few facts are pinned; an index holds those alone.
PINNED_FACTS = """
SELECT n.id, n.kind, n.key, n.text, n.state, n.conversation_id, n.valid_from, n.valid_to, n.score, n.origin, n.made_by,
    n.body, n.erased, coalesce(n.valid_from, -9223372036854775808)
FROM node n WHERE n.ns = ?1 AND n.kind = 'fact' AND n.body ->> 'pinned'
  AND CASE WHEN ?15 THEN (coalesce(n.valid_from, -9223372036854775808), n.id) < (?4, ?3) ELSE n.id > ?3 END
  AND ?5 = ?5 AND (?6 IS NULL OR n.key IN (SELECT value FROM json_each(?6)))
  AND (?7 IS NULL OR n.state IN (SELECT value FROM json_each(?7))) AND ?8 IS NULL
  AND (?9 IS NULL OR coalesce(n.valid_from, ?9) <= ?9 AND ?9 < coalesce(n.valid_to, 9223372036854775807))
  AND (?10 IS NULL OR n.valid_from >= ?10) AND (?11 IS NULL OR n.valid_from < ?11) AND (?12 IS NULL OR n.erased = ?12)
  AND ?14 = ?14
  AND (?13 IS NULL OR substr(n.body ->> 'attribute', 1, instr((n.body ->> 'attribute') || ' of ', ' of ') - 1)
    IN (SELECT value FROM json_each(?13)))
ORDER BY iif(?15, -coalesce(n.valid_from, -9223372036854775807), 0), iif(?15, NULL, n.id), n.id DESC LIMIT ?2
"""
NODES_OF_CONVERSATION = """
SELECT n.id, n.kind, n.key, n.text, n.state, n.conversation_id, n.valid_from, n.valid_to, n.score, n.origin, n.made_by,
    n.body, n.erased, coalesce(n.valid_from, -9223372036854775808)
FROM node n WHERE n.ns = ?1 AND n.conversation_id = ?8 AND n.id > ?3 AND ?4 = ?4
  AND (?5 IS NULL OR n.kind IN (SELECT value FROM json_each(?5)))
  AND (?6 IS NULL OR n.key IN (SELECT value FROM json_each(?6)))
  AND (?7 IS NULL OR n.state IN (SELECT value FROM json_each(?7)))
  AND (?9 IS NULL OR coalesce(n.valid_from, ?9) <= ?9 AND ?9 < coalesce(n.valid_to, 9223372036854775807))
  AND (?10 IS NULL OR n.valid_from >= ?10) AND (?11 IS NULL OR n.valid_from < ?11) AND (?12 IS NULL OR n.erased = ?12)
  AND (?13 IS NULL OR substr(n.body ->> 'attribute', 1, instr((n.body ->> 'attribute') || ' of ', ' of ') - 1)
    IN (SELECT value FROM json_each(?13))) AND (?14 = 0 OR n.body ->> 'pinned')
ORDER BY n.id LIMIT ?2
"""
# Of a long conversation the newest few: in the order of an index, which need not be read to its end.
NODES_OF_CONVERSATION_NEWEST = """
SELECT n.id, n.kind, n.key, n.text, n.state, n.conversation_id, n.valid_from, n.valid_to, n.score, n.origin, n.made_by,
    n.body, n.erased, coalesce(n.valid_from, -9223372036854775808)
FROM node n
WHERE n.ns = ?1 AND n.conversation_id = ?8 AND (coalesce(n.valid_from, -9223372036854775808), n.id) < (?4, ?3)
  AND (?5 IS NULL OR n.kind IN (SELECT value FROM json_each(?5)))
  AND (?6 IS NULL OR n.key IN (SELECT value FROM json_each(?6)))
  AND (?7 IS NULL OR n.state IN (SELECT value FROM json_each(?7)))
  AND (?9 IS NULL OR coalesce(n.valid_from, ?9) <= ?9 AND ?9 < coalesce(n.valid_to, 9223372036854775807))
  AND (?10 IS NULL OR n.valid_from >= ?10) AND (?11 IS NULL OR n.valid_from < ?11) AND (?12 IS NULL OR n.erased = ?12)
  AND (?13 IS NULL OR substr(n.body ->> 'attribute', 1, instr((n.body ->> 'attribute') || ' of ', ' of ') - 1)
    IN (SELECT value FROM json_each(?13))) AND (?14 = 0 OR n.body ->> 'pinned')
ORDER BY coalesce(n.valid_from, -9223372036854775808) DESC, n.id DESC LIMIT ?2
"""

_LAST_TIME, _LAST_ID = (1 << 63) - 1, "\U0010ffff"  # before the first of the newest


def find(connection: apsw.Connection, ns: int, kind: type[R], where: Where, after: str | None, limit: int) -> Page[R]:
    """A page of records. Raises InvalidInput for an order that they have not, or a cursor that no page gave."""
    rows = _rows(connection, ns, kind, where, after, limit + 1)
    return Page([decode(kind, row) for row in rows[:limit]], _next(rows, where, limit))


def _rows(connection: apsw.Connection, ns: int, kind: Any, where: Where, after: str | None, limit: int) -> list[Any]:
    newest = where.order == "newest"
    statement, values = _statement(kind, where, newest)
    return connection.execute(statement, (ns, limit, *_begin(after, newest), *values)).fetchall()


def _next(rows: list[Any], where: Where, limit: int) -> str | None:
    """Where the page after these rows begins."""
    if len(rows) <= limit or limit < 1:
        return None
    last = rows[limit - 1]
    return to_cursor(last[-1], last[0]) if where.order == "newest" else str(last[0])


def _statement(kind: Any, where: Where, newest: bool) -> tuple[str, tuple[Any, ...]]:
    deleted = None if where.deleted is None else int(where.deleted)
    period = (where.since, where.until)
    titled = (_list(where.sources), fold(where.title), *period, deleted)
    if kind is Conversation:
        return (CONVERSATIONS_NEWEST if newest else CONVERSATIONS_BY_ID), titled
    if kind is Document:
        return (DOCUMENTS_NEWEST if newest else DOCUMENTS_BY_ID), titled
    if kind is Message:
        of = where.conversation
        by_id = MESSAGES_OF if of is not None else MESSAGES_BY_ID
        return (MESSAGES_NEWEST if newest else by_id), (of, *period, deleted, _list(where.kinds))
    if kind is ToolCall:
        return (TOOL_CALLS_NEWEST if newest else TOOL_CALLS_BY_ID), (where.conversation, *period)
    if kind is Turn:
        return (TURNS_NEWEST if newest else TURNS_BY_ID), (where.conversation,)
    if kind is Node:
        lists = (_list(where.kinds), _list(where.keys), _list(where.states))
        told = (_list(where.attributes), int(where.pinned))
        of_nodes = (*lists, where.conversation, where.current, *period, deleted, *told)
        if where.conversation is None and where.kinds == (NodeKind.FACT.value,) and (where.pinned or where.attributes):
            return (PINNED_FACTS if where.pinned else FACTS_OF_ATTRIBUTES), (*of_nodes, int(newest))
        if where.keys:
            return NODES_OF_KEYS, (*of_nodes, int(newest))
        if where.conversation is not None:
            return (NODES_OF_CONVERSATION_NEWEST if newest else NODES_OF_CONVERSATION), of_nodes
        if newest:
            return (NODES_OF_KIND_NEWEST if len(where.kinds) == 1 else NODES_NEWEST), of_nodes
        return NODES_BY_ID, of_nodes
    if kind is Chunk and not newest:
        return CHUNKS_BY_ID, ()
    raise InvalidInput(f"{kind.__name__} has no such order.")


def _begin(after: str | None, newest: bool) -> tuple[str, int]:
    """Where a page begins: an id, and of the newest a time."""
    if after is None:
        return (_LAST_ID, _LAST_TIME) if newest else ("", 0)
    if not newest:
        return after, 0
    time, last_id = from_cursor(after)
    return last_id, time


def _list(values: tuple[str, ...]) -> str | None:
    return ids_json(values) if values else None


# What is in a namespace, counted by reading it. What is deleted or erased does not count.

CHOSEN = "SELECT json_group_array(num) FROM conversation WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))"
#: What is counted: of a namespace, or of the conversations that were chosen in it. SQLite would else read all of it.
ALL, AMONG = "{table}ns = ?1", "{table}{column} IN (SELECT value FROM json_each(?1))"
CONVERSATIONS = """
SELECT source, count(*) FROM conversation WHERE {chosen} AND NOT deleted
GROUP BY source ORDER BY count(*) DESC, source
"""
MESSAGES = """
SELECT kind, count(*), sum(active), min(timestamp), max(timestamp) FROM message
WHERE {chosen} AND NOT deleted GROUP BY kind ORDER BY kind
"""
ATTACHMENTS = """
SELECT count(*) FROM message m, json_each(m.parts) p
WHERE {chosen} AND m.parts IS NOT NULL AND NOT m.deleted AND p.value ->> 'kind' != 'reasoning'
"""
TOOL_CALLS = """
SELECT count(*) FROM tool_call t LEFT JOIN message m ON m.ns = t.ns AND m.id = t.message_id
WHERE {chosen} AND m.deleted IS NOT 1
"""
TURNS = """
SELECT count(*) FROM turn t LEFT JOIN message m ON m.ns = t.ns AND m.id = t.query_id
WHERE {chosen} AND m.deleted IS NOT 1
"""
REST = """
SELECT (SELECT count(*) FROM document WHERE ns = ?1 AND NOT erased AND source != ?2),
    (SELECT count(*) FROM chunk WHERE ns = ?1)
"""
NODES = """
SELECT CASE state WHEN 'live' THEN kind ELSE 'past' END, count(*) FROM node
WHERE ns = ? AND (state = 'live' OR state = 'superseded' AND kind = 'fact') AND NOT erased GROUP BY 1 ORDER BY 1
"""
PASSAGES = """
SELECT count(*), coalesce(sum(p.partition = 0), 0) FROM generation g JOIN passage p ON p.gen = g.num
WHERE g.ns = ? AND g.state = 'live' AND p.partition != 3
"""
QUALITY = """
SELECT count(*) FROM generation g JOIN quality_vector q ON q.gen = g.num AND q.partition = 0
WHERE g.ns = ? AND g.state = 'live'
"""
TASKS = """
SELECT CASE WHEN dead THEN 'dead' WHEN worker IS NOT NULL AND ready > ?2 THEN 'leased' ELSE 'due' END, count(*)
FROM task WHERE ns = ?1 GROUP BY 1 ORDER BY 1
"""


def counts(connection: apsw.Connection, ns: int, of: Sequence[NodeId] | None, now: datetime) -> Counts:
    """What is in the namespace, or in some of its conversations (documents, nodes, passages, tasks: always all)."""
    chosen = None if of is None else connection.execute(CHOSEN, (ns, ids_json(of))).get

    def counted(statement: str, table: str = "", column: str = "conversation") -> apsw.Cursor:
        which, value = (ALL, ns) if chosen is None else (AMONG, chosen)
        return connection.execute(statement.format(chosen=which.format(table=table, column=column)), (value,))

    by_source = _numbers(counted(CONVERSATIONS, column="num"))
    by_kind: Any = counted(MESSAGES).fetchall()
    rest: Any = connection.execute(REST, (ns, REPORTS)).fetchone()
    found: Any = connection.execute(PASSAGES, (ns,)).fetchone()
    times = [t for row in by_kind for t in row[3:] if isinstance(t, int)]  # a damaged file may hold other things
    return Counts(
        conversations=sum(by_source.values()),
        messages=sum(row[1] for row in by_kind),
        active=sum(row[2] for row in by_kind),
        by_kind={row[0]: row[1] for row in by_kind},
        by_source=by_source,
        by_node=_numbers(connection.execute(NODES, (ns,))),
        tool_calls=counted(TOOL_CALLS, "t.").get,
        attachments=counted(ATTACHMENTS, "m.").get,
        documents=rest[0],
        turns=counted(TURNS, "t.").get,
        chunks=rest[1],
        passages=found[0],
        said_passages=found[1],
        quality=connection.execute(QUALITY, (ns,)).get,
        tasks=_numbers(connection.execute(TASKS, (ns, to_microseconds(now)))),
        first=from_microseconds(min(times, default=None)),
        last=from_microseconds(max(times, default=None)),
    )


def _numbers(rows: Any) -> dict[str, int]:
    return dict(rows)
