"""Reading records. Every statement names the namespace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw
import orjson

from recollect.record import Conversation, Document, Edge, Message, NodeId, Thread, ToolCall, Turn, Window
from recollect.record.nodes import Chunk
from recollect.store import rows
from recollect.store.base import ConversationFilter, ConversationRow, Counts, End, Outline, Span, Stand
from recollect.store.rows import unpack_metadata
from recollect.store.sqlite import columns

STANDS = """
SELECT id, revision, digest FROM conversation WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
"""
THREAD_CONVERSATION = (
    f"SELECT {columns.CONVERSATION}, c.num, c.revision FROM conversation c WHERE c.ns = ? AND c.id = ?"
)
THREAD_MESSAGES = f"""
SELECT {columns.MESSAGE} FROM message m JOIN conversation c ON c.num = m.conversation
WHERE m.conversation = ? ORDER BY m.position, m.num
"""
THREAD_TOOL_CALLS = f"""
SELECT {columns.TOOL_CALL} FROM tool_call t JOIN conversation c ON c.num = t.conversation
WHERE t.conversation = ? ORDER BY t.position, t.id
"""
THREAD_TURNS = f"""
SELECT {columns.TURN} FROM turn t JOIN conversation c ON c.num = t.conversation
WHERE t.conversation = ? ORDER BY t.position, t.id
"""
THREAD_CHUNKS = f"""
SELECT {columns.CHUNK} FROM chunk WHERE ns = ?1 AND parent_id IN (
    SELECT id FROM message WHERE conversation = ?2 UNION ALL SELECT id FROM tool_call WHERE conversation = ?2)
ORDER BY parent_id, part, idx
"""
THREAD_WINDOWS = "SELECT idx, start, end FROM window WHERE conversation = ? ORDER BY idx"
END_LEAF = f"""
SELECT {columns.MESSAGE} FROM message m JOIN conversation c ON c.num = m.conversation WHERE m.ns = ? AND m.id = ?
"""
END_POSITION = "SELECT max(position) FROM message WHERE conversation = ?"
END_TURN = f"""
SELECT {columns.TURN} FROM turn t JOIN conversation c ON c.num = t.conversation
WHERE t.conversation = ? ORDER BY t.position DESC LIMIT 1
"""
END_WINDOW = "SELECT idx, start, end FROM window WHERE conversation = ? ORDER BY idx DESC LIMIT 1"
END_NAMED = (
    "SELECT EXISTS (SELECT 1 FROM message WHERE conversation = ? AND speaker IS NOT NULL AND kind = 'said' LIMIT 1)"
)
OUTLINES = f"""
SELECT {columns.CONVERSATION}, (SELECT max(m.position) FROM message m WHERE m.conversation = c.num),
  (SELECT json_group_array(json_array(w.idx, w.start, w.end) ORDER BY w.idx) FROM window w
   WHERE w.conversation = c.num AND w.start <= s.value ->> 2 AND w.end >= s.value ->> 1)
FROM json_each(?2) s CROSS JOIN conversation c WHERE c.ns = ?1 AND c.id = s.value ->> 0
"""
LIST_CONVERSATIONS = f"""
SELECT {columns.CONVERSATION}, (SELECT count(*) FROM message m WHERE m.conversation = c.num AND NOT m.deleted)
FROM conversation c
WHERE c.ns = ?1 AND NOT c.deleted
  AND (?2 IS NULL OR c.source IN (SELECT value FROM json_each(?2)))
  AND (?3 = '' OR instr(lower(c.title), lower(?3)))
  AND (?4 IS NULL OR coalesce(c.updated, c.created) >= ?4)
  AND (?5 IS NULL OR coalesce(c.created, c.updated) < ?5)
ORDER BY coalesce(c.updated, c.created) DESC NULLS LAST, c.num DESC LIMIT ?6 OFFSET ?7
"""
CONVERSATION_IDS = "SELECT id FROM conversation WHERE ns = ? ORDER BY id"
MESSAGES = f"""
SELECT {columns.MESSAGE} FROM message m JOIN conversation c ON c.num = m.conversation
WHERE m.ns = ?1 AND m.id IN (SELECT value FROM json_each(?2))
"""
AROUND = f"""
SELECT {columns.MESSAGE}
FROM json_each(?2) s CROSS JOIN conversation c CROSS JOIN message m ON m.conversation = c.num
WHERE c.ns = ?1 AND c.id = s.value ->> 0 AND m.position BETWEEN s.value ->> 1 AND s.value ->> 2
ORDER BY s.key, m.position, m.num
"""
IDS_ENDING = """
SELECT id FROM conversation WHERE ns = ?1 AND (id LIKE '%' || ?2 OR source_id = ?3)
UNION ALL SELECT id FROM message WHERE ns = ?1 AND (id LIKE '%' || ?2 OR source_id = ?3) LIMIT ?4
"""
IDS_EXACT = """
SELECT id FROM conversation WHERE ns = ?1 AND (id = ?2 OR source_id = ?3)
UNION ALL SELECT id FROM message WHERE ns = ?1 AND (id = ?2 OR source_id = ?3) LIMIT ?4
"""
TOOL_CALLS = f"""
SELECT {columns.TOOL_CALL}, r.content FROM tool_call t JOIN conversation c ON c.num = t.conversation
LEFT JOIN message r ON r.ns = t.ns AND r.id = t.result_message_id
WHERE t.ns = ?1 AND t.id IN (SELECT value FROM json_each(?2))
"""
CALLS_OF = "SELECT id FROM tool_call WHERE ns = ?1 AND message_id IN (SELECT value FROM json_each(?2))"
DOCUMENT_IDS = "SELECT id FROM document WHERE ns = ? ORDER BY id"
DOCUMENTS = f"""
SELECT {columns.DOCUMENT} FROM document WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2)) ORDER BY id
"""
CHUNKS = f"SELECT {columns.CHUNK} FROM chunk WHERE ns = ? AND parent_id = ? ORDER BY part, idx"
EDGES = "SELECT source_id, type, target_id, properties FROM edge WHERE ns = ? ORDER BY source_id, type, target_id"
# The relations that fields say, beside those written as edges; one face for both.
OUTWARD = """
SELECT source_id, type, target_id, properties FROM edge WHERE ns = ?1 AND source_id = ?2
UNION ALL SELECT id, 'REPLIES_TO', parent_id, '{}' FROM message WHERE ns = ?1 AND id = ?2 AND parent_id IS NOT NULL
UNION ALL SELECT id, 'CALLED_BY', message_id, '{}' FROM tool_call WHERE ns = ?1 AND id = ?2
UNION ALL SELECT id, 'CHUNK_OF', parent_id, '{}' FROM chunk WHERE ns = ?1 AND id = ?2
UNION ALL SELECT c.id, 'HAS_TURN', t.id, '{}' FROM conversation c JOIN turn t ON t.conversation = c.num
    WHERE c.ns = ?1 AND c.id = ?2
UNION ALL SELECT t.id, 'NEXT_TURN', n.id, '{}' FROM turn t JOIN turn n
    ON n.conversation = t.conversation AND n.position = t.position + 1 WHERE t.ns = ?1 AND t.id = ?2
UNION ALL SELECT id, 'HAS_QUERY', query_id, '{}' FROM turn WHERE ns = ?1 AND id = ?2
UNION ALL SELECT t.id, 'HAS_RESPONSE', r.value, '{}' FROM turn t, json_each(t.response_ids) r
    WHERE t.ns = ?1 AND t.id = ?2
"""
INWARD = """
SELECT source_id, type, target_id, properties FROM edge WHERE ns = ?1 AND target_id = ?2
UNION ALL SELECT id, 'REPLIES_TO', parent_id, '{}' FROM message WHERE ns = ?1 AND parent_id = ?2
UNION ALL SELECT id, 'CALLED_BY', message_id, '{}' FROM tool_call WHERE ns = ?1 AND message_id = ?2
UNION ALL SELECT id, 'CHUNK_OF', parent_id, '{}' FROM chunk WHERE ns = ?1 AND parent_id = ?2
UNION ALL SELECT c.id, 'HAS_TURN', t.id, '{}' FROM turn t JOIN conversation c ON c.num = t.conversation
    WHERE t.ns = ?1 AND t.id = ?2
UNION ALL SELECT p.id, 'NEXT_TURN', t.id, '{}' FROM turn t JOIN turn p
    ON p.conversation = t.conversation AND p.position = t.position - 1 WHERE t.ns = ?1 AND t.id = ?2
UNION ALL SELECT id, 'HAS_QUERY', query_id, '{}' FROM turn WHERE ns = ?1 AND query_id = ?2
UNION ALL SELECT t.id, 'HAS_RESPONSE', ?2, '{}' FROM message m JOIN turn t ON t.conversation = m.conversation
    WHERE m.ns = ?1 AND m.id = ?2 AND EXISTS (SELECT 1 FROM json_each(t.response_ids) r WHERE r.value = ?2)
"""
# ?2: a JSON list of conversation numbers, NULL for all.
COUNTED = "SELECT json_group_array(num) FROM conversation WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))"
COUNT_CONVERSATIONS = """
SELECT source, count(*) FROM conversation
WHERE ns = ?1 AND NOT deleted AND (?2 IS NULL OR num IN (SELECT value FROM json_each(?2)))
GROUP BY source ORDER BY count(*) DESC, source
"""
COUNT_MESSAGES = """
SELECT kind, count(*), sum(active), min(timestamp), max(timestamp) FROM message
WHERE ns = ?1 AND NOT deleted AND (?2 IS NULL OR conversation IN (SELECT value FROM json_each(?2)))
GROUP BY kind
"""
COUNT_PARTS = """
SELECT count(*) FROM message m, json_each(m.parts) p
WHERE m.ns = ?1 AND (?2 IS NULL OR m.conversation IN (SELECT value FROM json_each(?2)))
  AND m.parts IS NOT NULL AND NOT m.deleted AND p.value ->> 'kind' != 'reasoning'
"""
COUNT_REST = """
SELECT (SELECT count(*) FROM tool_call WHERE ns = ?1
            AND (?2 IS NULL OR conversation IN (SELECT value FROM json_each(?2)))),
       (SELECT count(*) FROM document WHERE ns = ?1),
       (SELECT count(*) FROM turn WHERE ns = ?1 AND (?2 IS NULL OR conversation IN (SELECT value FROM json_each(?2)))),
       (SELECT count(*) FROM chunk WHERE ns = ?1),
       (SELECT count(*) FROM window w JOIN conversation c ON c.num = w.conversation WHERE c.ns = ?1
            AND (?2 IS NULL OR c.num IN (SELECT value FROM json_each(?2)))),
       (SELECT count(*) FROM passage WHERE ns = ?1 AND NOT dead), (SELECT count(*) FROM quality_vector WHERE ns = ?1),
       (SELECT count(*) FROM passage WHERE ns = ?1 AND lane = 0 AND NOT dead)
"""


def stands(connection: apsw.Connection, ns: int, ids: Sequence[NodeId]) -> dict[NodeId, Stand]:
    """Revision and digest of those conversations that are there."""
    return {row[0]: Stand(row[1], row[2]) for row in connection.execute(STANDS, (ns, _json(ids)))}


def thread(connection: apsw.Connection, ns: int, conversation_id: NodeId) -> Thread | None:
    """A conversation with everything in it."""
    found = connection.execute(THREAD_CONVERSATION, (ns, conversation_id)).fetchone()
    if found is None:
        return None
    num = found[9]
    return Thread(
        conversation=rows.conversation(found),
        messages=tuple(map(rows.message, connection.execute(THREAD_MESSAGES, (num,)))),
        tool_calls=tuple(map(rows.tool_call, connection.execute(THREAD_TOOL_CALLS, (num,)))),
        turns=tuple(map(rows.turn, connection.execute(THREAD_TURNS, (num,)))),
        chunks=tuple(map(rows.chunk, connection.execute(THREAD_CHUNKS, (ns, num)))),
        windows=tuple(Window(conversation_id, *row) for row in connection.execute(THREAD_WINDOWS, (num,))),
    )


def end(connection: apsw.Connection, ns: int, conversation_id: NodeId) -> End | None:
    """The growing end of a conversation: a few index look-ups, whatever its length."""
    found = connection.execute(THREAD_CONVERSATION, (ns, conversation_id)).fetchone()
    if found is None:
        return None
    conversation: Conversation = rows.conversation(found)
    num = found[9]
    leaf = connection.execute(END_LEAF, (ns, conversation.leaf_id)).fetchone()
    last_turn: Turn | None = next(map(rows.turn, connection.execute(END_TURN, (num,))), None)
    last_window = connection.execute(END_WINDOW, (num,)).fetchone()
    last = connection.execute(END_POSITION, (num,)).get
    return End(
        conversation=conversation,
        revision=found[10],
        message_count=0 if last is None else last + 1,
        leaf=rows.message(leaf) if leaf else None,
        turn=last_turn,
        window=Window(conversation_id, *last_window) if last_window else None,
        named=bool(connection.execute(END_NAMED, (num,)).get),
    )


def outlines(connection: apsw.Connection, ns: int, spans: Sequence[Span]) -> dict[NodeId, Outline]:
    """Conversations with the windows that touch a span of each."""
    return {
        row[0]: Outline(
            rows.conversation(row),
            0 if row[9] is None else row[9] + 1,
            tuple(Window(row[0], *window) for window in orjson.loads(row[10])),
        )
        for row in connection.execute(OUTLINES, (ns, _json(spans)))
    }


def conversations(
    connection: apsw.Connection, ns: int, wanted: ConversationFilter, limit: int, offset: int
) -> list[ConversationRow]:
    """Newest first."""
    sources = _json(wanted.sources) if wanted.sources else None
    values = (ns, sources, wanted.title, wanted.since, wanted.until, limit, offset)
    return [ConversationRow(rows.conversation(row), row[9]) for row in connection.execute(LIST_CONVERSATIONS, values)]


def conversation_ids(connection: apsw.Connection, ns: int) -> list[NodeId]:
    """All, sorted."""
    return [row[0] for row in connection.execute(CONVERSATION_IDS, (ns,))]


def messages(connection: apsw.Connection, ns: int, ids: Sequence[NodeId]) -> list[Message]:
    """Those that are there, in the order asked for."""
    found = {row[0]: rows.message(row) for row in connection.execute(MESSAGES, (ns, _json(ids)))}
    return [found[i] for i in ids if i in found]


def around(connection: apsw.Connection, ns: int, spans: Sequence[Span]) -> list[Message]:
    """The messages at these positions."""
    return list(map(rows.message, connection.execute(AROUND, (ns, _json(spans)))))


def ids_ending(connection: apsw.Connection, ns: int, suffix: str, limit: int) -> list[NodeId]:
    """Ids that are this, or else that end so; source ids that are this."""
    wanted = suffix.upper()
    exact = [row[0] for row in connection.execute(IDS_EXACT, (ns, wanted, suffix, limit))]
    if exact or not wanted.isalnum():
        return exact
    return [row[0] for row in connection.execute(IDS_ENDING, (ns, wanted, suffix, limit))]


def tool_calls(connection: apsw.Connection, ns: int, ids: Sequence[NodeId]) -> list[ToolCall]:
    """Those that are there, in the order asked for, with their results."""
    found: dict[NodeId, ToolCall] = {}
    for row in connection.execute(TOOL_CALLS, (ns, _json(ids))):
        values = list(row[:10])
        values[5] = values[5] or row[10] or ""
        found[row[0]] = rows.tool_call(values)
    return [found[i] for i in ids if i in found]


def with_calls(connection: apsw.Connection, ns: int, message_ids: Sequence[NodeId]) -> list[NodeId]:
    """These messages and their tool calls: what dies with them."""
    return [*message_ids, *(row[0] for row in connection.execute(CALLS_OF, (ns, _json(message_ids))))]


def document_ids(connection: apsw.Connection, ns: int) -> list[NodeId]:
    """All, sorted."""
    return [row[0] for row in connection.execute(DOCUMENT_IDS, (ns,))]


def documents(connection: apsw.Connection, ns: int, ids: Sequence[NodeId]) -> list[Document]:
    """Those that are there, sorted by id."""
    return list(map(rows.document, connection.execute(DOCUMENTS, (ns, _json(ids)))))


def chunks(connection: apsw.Connection, ns: int, parent_id: NodeId) -> list[Chunk]:
    """The chunks of one parent."""
    return list(map(rows.chunk, connection.execute(CHUNKS, (ns, parent_id))))


def edges(connection: apsw.Connection, ns: int) -> list[Edge]:
    """The edges written as such."""
    return [_edge(row) for row in connection.execute(EDGES, (ns,))]


def neighbours(connection: apsw.Connection, ns: int, node_id: NodeId, types: Iterable[str], inward: bool) -> list[Edge]:
    """Edges that leave a node, or enter it."""
    wanted = set(types)
    found = (_edge(row) for row in connection.execute(INWARD if inward else OUTWARD, (ns, node_id)))
    return sorted(
        (edge for edge in found if not wanted or edge.type in wanted), key=lambda e: (e.type, e.source_id, e.target_id)
    )


def counts(connection: apsw.Connection, ns: int, conversation_ids: Sequence[NodeId] | None = None) -> Counts:
    """What is in the namespace, or in some of its conversations (documents and passages: always all)."""
    chosen = None
    if conversation_ids is not None:
        chosen = connection.execute(COUNTED, (ns, _json(conversation_ids))).get
    sources: Any = connection.execute(COUNT_CONVERSATIONS, (ns, chosen)).fetchall()
    by_source: dict[str, int] = dict(sources)
    by_kind: Any = connection.execute(COUNT_MESSAGES, (ns, chosen)).fetchall()
    rest: Any = connection.execute(COUNT_REST, (ns, chosen)).fetchone()
    times = [t for row in by_kind for t in row[3:] if t is not None]
    return Counts(
        conversations=sum(by_source.values()),
        messages=sum(row[1] for row in by_kind),
        active=sum(row[2] for row in by_kind),
        by_kind={row[0]: row[1] for row in by_kind},
        by_source=by_source,
        tool_calls=rest[0],
        attachments=connection.execute(COUNT_PARTS, (ns, chosen)).get,
        documents=rest[1],
        turns=rest[2],
        chunks=rest[3],
        windows=rest[4],
        passages=rest[5],
        quality=rest[6],
        said_passages=rest[7],
        first=min(times, default=None),
        last=max(times, default=None),
    )


def _edge(row: Sequence[Any]) -> Edge:
    return Edge(row[0], row[1], row[2], unpack_metadata(row[3]))


def _json(values: Sequence[object]) -> str:
    return orjson.dumps(list(values)).decode()
