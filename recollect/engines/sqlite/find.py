"""Finding records page by page. A page begins after the last record of the one before, whatever comes between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import apsw

from recollect.engines.codec import decode, ids_json, page_begin, page_end
from recollect.engines.sqlite.connection import fold
from recollect.engines.sqlite.read import MESSAGES, TOOL_CALLS, TURNS
from recollect.engines.sqlite.schema import (
    CHUNK_COLUMNS,
    CONVERSATION_COLUMNS,
    DOCUMENT_COLUMNS,
    MESSAGE_COLUMNS,
    NODE_COLUMNS,
    TOOL_CALL_COLUMNS,
    TURN_COLUMNS,
)
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

# In all of them ?1 is the namespace, ?2 the limit, ?3 the id after which to go on; of the newest ?4 is the time of that
# one. Without a time a record is older than all others.
EARLIEST = "-9223372036854775808"
CONVERSATION_TIME = f"coalesce(c.updated, c.created, {EARLIEST})"
DOCUMENT_TIME = f"coalesce(d.created, {EARLIEST})"
MESSAGE_TIME = f"coalesce(m.timestamp, {EARLIEST})"
TOOL_CALL_TIME = f"coalesce(t.timestamp, {EARLIEST})"
NODE_TIME = f"coalesce(n.valid_from, {EARLIEST})"

CONVERSATION_FILTER = """
  AND (?5 IS NULL OR c.source IN (SELECT value FROM json_each(?5))) AND (?6 = '' OR instr(fold(c.title), ?6))
  AND (?7 IS NULL OR coalesce(c.updated, c.created) >= ?7) AND (?8 IS NULL OR coalesce(c.created, c.updated) < ?8)
  AND (?9 IS NULL OR c.deleted = ?9)
"""
DOCUMENT_FILTER = """
  AND (?5 IS NULL OR d.source IN (SELECT value FROM json_each(?5))) AND (?6 = '' OR instr(fold(d.title), ?6))
  AND (?7 IS NULL OR d.created >= ?7) AND (?8 IS NULL OR d.created < ?8) AND (?9 IS NULL OR d.erased = ?9)
"""
MESSAGE_FILTER = """
  AND (?5 IS NULL OR c.id = ?5) AND (?6 IS NULL OR m.timestamp >= ?6) AND (?7 IS NULL OR m.timestamp < ?7)
  AND (?8 IS NULL OR m.deleted = ?8) AND (?9 IS NULL OR m.kind IN (SELECT value FROM json_each(?9)))
"""
TOOL_CALL_FILTER = """
  AND (?5 IS NULL OR c.id = ?5) AND (?6 IS NULL OR t.timestamp >= ?6) AND (?7 IS NULL OR t.timestamp < ?7)
"""
TURN_FILTER = "AND (?5 IS NULL OR c.id = ?5)"
#: What a fact tells of somebody, whoever that is. An index has that.
ATTRIBUTE = "substr(n.body ->> 'attribute', 1, instr((n.body ->> 'attribute') || ' of ', ' of ') - 1)"
NODE_FILTER = f"""
  AND (?5 IS NULL OR n.kind IN (SELECT value FROM json_each(?5)))
  AND (?6 IS NULL OR n.key IN (SELECT value FROM json_each(?6)))
  AND (?7 IS NULL OR n.state IN (SELECT value FROM json_each(?7)))
  AND (?8 IS NULL OR n.conversation_id = ?8)
  AND (?9 IS NULL OR coalesce(n.valid_from, ?9) <= ?9 AND ?9 < coalesce(n.valid_to, 9223372036854775807))
  AND (?10 IS NULL OR n.valid_from >= ?10) AND (?11 IS NULL OR n.valid_from < ?11) AND (?12 IS NULL OR n.erased = ?12)
  AND (?13 IS NULL OR {ATTRIBUTE} IN (SELECT value FROM json_each(?13))) AND (?14 = 0 OR n.body ->> 'pinned')
"""
#: Of few nodes, found by an index and sorted afterwards; ?15: the newest first.
EITHER_PAGE = f"CASE WHEN ?15 THEN ({NODE_TIME}, n.id) < (?4, ?3) ELSE n.id > ?3 END"
EITHER_ORDER = """
ORDER BY iif(?15, -coalesce(n.valid_from, -9223372036854775807), 0), iif(?15, NULL, n.id), n.id DESC LIMIT ?2
"""

SELECT_CONVERSATIONS = f"SELECT {CONVERSATION_COLUMNS}, {CONVERSATION_TIME} FROM conversation c WHERE c.ns = ?1"
SELECT_DOCUMENTS = f"SELECT {DOCUMENT_COLUMNS}, {DOCUMENT_TIME} FROM document d WHERE d.ns = ?1"
SELECT_MESSAGES = f"SELECT {MESSAGE_COLUMNS}, {MESSAGE_TIME} FROM {MESSAGES} WHERE m.ns = ?1"
SELECT_TOOL_CALLS = f"SELECT {TOOL_CALL_COLUMNS}, {TOOL_CALL_TIME} FROM {TOOL_CALLS} WHERE t.ns = ?1"
SELECT_TURNS = f"SELECT {TURN_COLUMNS}, t.position FROM {TURNS} WHERE t.ns = ?1"
SELECT_NODES = f"SELECT {NODE_COLUMNS}, {NODE_TIME}"

CONVERSATIONS_BY_ID = f"{SELECT_CONVERSATIONS} AND c.id > ?3 {CONVERSATION_FILTER} ORDER BY c.id LIMIT ?2"
CONVERSATIONS_NEWEST = f"""
{SELECT_CONVERSATIONS} AND ({CONVERSATION_TIME}, c.id) < (?4, ?3) {CONVERSATION_FILTER}
ORDER BY {CONVERSATION_TIME} DESC, c.id DESC LIMIT ?2
"""
DOCUMENTS_BY_ID = f"{SELECT_DOCUMENTS} AND d.id > ?3 {DOCUMENT_FILTER} ORDER BY d.id LIMIT ?2"
DOCUMENTS_NEWEST = f"""
{SELECT_DOCUMENTS} AND ({DOCUMENT_TIME}, d.id) < (?4, ?3) {DOCUMENT_FILTER}
ORDER BY {DOCUMENT_TIME} DESC, d.id DESC LIMIT ?2
"""
MESSAGES_BY_ID = f"{SELECT_MESSAGES} AND m.id > ?3 {MESSAGE_FILTER} ORDER BY m.id LIMIT ?2"
MESSAGES_NEWEST = f"""
{SELECT_MESSAGES} AND ({MESSAGE_TIME}, m.id) < (?4, ?3) AND {MESSAGE_TIME} >= coalesce(?6, {EARLIEST}) {MESSAGE_FILTER}
ORDER BY {MESSAGE_TIME} DESC, m.id DESC LIMIT ?2
"""
MESSAGES_OF = f"""
SELECT {MESSAGE_COLUMNS}, {MESSAGE_TIME} FROM conversation c CROSS JOIN message m ON m.conversation = c.num
WHERE c.ns = ?1 AND c.id = ?5 AND m.id > ?3 {MESSAGE_FILTER} ORDER BY m.id LIMIT ?2
"""
TOOL_CALLS_BY_ID = f"{SELECT_TOOL_CALLS} AND t.id > ?3 {TOOL_CALL_FILTER} ORDER BY t.id LIMIT ?2"
TOOL_CALLS_NEWEST = f"""
{SELECT_TOOL_CALLS} AND ({TOOL_CALL_TIME}, t.id) < (?4, ?3) {TOOL_CALL_FILTER}
ORDER BY {TOOL_CALL_TIME} DESC, t.id DESC LIMIT ?2
"""
TURNS_BY_ID = f"{SELECT_TURNS} AND t.id > ?3 {TURN_FILTER} ORDER BY t.id LIMIT ?2"
TURNS_NEWEST = f"""
{SELECT_TURNS} AND (t.position, t.id) < (?4, ?3) {TURN_FILTER} ORDER BY t.position DESC, t.id DESC LIMIT ?2
"""
CHUNKS_BY_ID = f"""
SELECT {CHUNK_COLUMNS}, 0 FROM chunk k WHERE k.ns = ?1 AND k.id > ?3 AND ?4 = ?4 ORDER BY k.id LIMIT ?2
"""
NODES_BY_ID = f"{SELECT_NODES} FROM node n WHERE n.ns = ?1 AND n.id > ?3 {NODE_FILTER} ORDER BY n.id LIMIT ?2"
NODES_NEWEST = f"""
{SELECT_NODES} FROM node n WHERE n.ns = ?1 AND ({NODE_TIME}, n.id) < (?4, ?3) {NODE_FILTER}
ORDER BY {NODE_TIME} DESC, n.id DESC LIMIT ?2
"""
# The newest of one kind, in the order of an index.
NODES_OF_KIND_NEWEST = f"""
{SELECT_NODES} FROM node n WHERE n.ns = ?1 AND n.kind = ?5 ->> 0 AND ({NODE_TIME}, n.id) < (?4, ?3) {NODE_FILTER}
ORDER BY {NODE_TIME} DESC, n.id DESC LIMIT ?2
"""
NODES_OF_CONVERSATION = f"""
{SELECT_NODES} FROM node n WHERE n.ns = ?1 AND n.conversation_id = ?8 AND n.id > ?3 {NODE_FILTER} ORDER BY n.id LIMIT ?2
"""
# Of a long conversation the newest few: in the order of an index, which need not be read to its end.
NODES_OF_CONVERSATION_NEWEST = f"""
{SELECT_NODES} FROM node n
WHERE n.ns = ?1 AND n.conversation_id = ?8 AND ({NODE_TIME}, n.id) < (?4, ?3) {NODE_FILTER}
ORDER BY {NODE_TIME} DESC, n.id DESC LIMIT ?2
"""
NODES_OF_KEYS = f"""
{SELECT_NODES} FROM json_each(?6) w CROSS JOIN node n ON n.ns = ?1 AND n.key = w.value
WHERE {EITHER_PAGE} {NODE_FILTER} {EITHER_ORDER}
"""
FACTS_OF_ATTRIBUTES = f"""
{SELECT_NODES} FROM json_each(?13) w CROSS JOIN node n ON n.ns = ?1 AND n.kind = 'fact' AND {ATTRIBUTE} = w.value
WHERE {EITHER_PAGE} {NODE_FILTER} {EITHER_ORDER}
"""
# Few facts are pinned; an index holds those alone.
PINNED_FACTS = f"""
{SELECT_NODES} FROM node n WHERE n.ns = ?1 AND n.kind = 'fact' AND n.body ->> 'pinned'
  AND {EITHER_PAGE} {NODE_FILTER} {EITHER_ORDER}
"""
# Of each kind by id, and the newest first.
PAGES: Mapping[Any, tuple[str, str]] = {
    Conversation: (CONVERSATIONS_BY_ID, CONVERSATIONS_NEWEST),
    Document: (DOCUMENTS_BY_ID, DOCUMENTS_NEWEST),
    Message: (MESSAGES_BY_ID, MESSAGES_NEWEST),
    ToolCall: (TOOL_CALLS_BY_ID, TOOL_CALLS_NEWEST),
    Turn: (TURNS_BY_ID, TURNS_NEWEST),
}


def find(connection: apsw.Connection, ns: int, kind: type[R], where: Where, after: str | None, limit: int) -> Page[R]:
    """A page of records. Raises InvalidInput for an order that they have not, or a cursor that no page gave."""
    newest = where.order == "newest"
    asked: tuple[str, tuple[Any, ...]] = _statement(kind, where, newest)
    time, last_id = page_begin(after, newest)
    rows = connection.execute(asked[0], (ns, limit + 1, last_id, time, *asked[1])).fetchall()
    more = len(rows) > limit > 0
    return Page([decode(kind, row) for row in rows[:limit]], page_end(rows[limit - 1], newest) if more else None)


def _statement(kind: Any, where: Where, newest: bool) -> tuple[str, tuple[Any, ...]]:
    deleted = None if where.deleted is None else int(where.deleted)
    of, period = where.conversation, (where.since, where.until)
    if kind is Node:
        lists = (_list(where.kinds), _list(where.keys), _list(where.states))
        told = (_list(where.attributes), int(where.pinned))
        of_nodes = (*lists, of, where.current, *period, deleted, *told)
        if of is None and where.kinds == (NodeKind.FACT.value,) and (where.pinned or where.attributes):
            return (PINNED_FACTS if where.pinned else FACTS_OF_ATTRIBUTES), (*of_nodes, int(newest))
        if where.keys:
            return NODES_OF_KEYS, (*of_nodes, int(newest))
        if of is not None:
            return (NODES_OF_CONVERSATION_NEWEST if newest else NODES_OF_CONVERSATION), of_nodes
        if newest:
            return (NODES_OF_KIND_NEWEST if len(where.kinds) == 1 else NODES_NEWEST), of_nodes
        return NODES_BY_ID, of_nodes
    if kind is Chunk:
        if newest:
            raise InvalidInput("Chunks have no time.")
        return CHUNKS_BY_ID, ()
    own: dict[Any, tuple[Any, ...]] = {
        Message: (of, *period, deleted, _list(where.kinds)),
        ToolCall: (of, *period),
        Turn: (of,),
    }
    titled = (_list(where.sources), fold(where.title), *period, deleted)
    statement = MESSAGES_OF if kind is Message and of is not None and not newest else PAGES[kind][newest]
    return statement, own.get(kind, titled)


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
