"""Reading records by id, by position, by what they hang on. Every statement names the namespace."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import apsw
import numpy as np

from recollect.engines.codec import decode, ids_json, unpack_map
from recollect.engines.sqlite.schema import (
    CHUNK_COLUMNS,
    CONVERSATION_COLUMNS,
    DOCUMENT_COLUMNS,
    IDS,
    MESSAGE_COLUMNS,
    NODE_COLUMNS,
    RECORDS,
    TOOL_CALL_COLUMNS,
    TURN_COLUMNS,
    selected,
)
from recollect.record import (
    Chunk,
    Conversation,
    Document,
    Edge,
    Message,
    Node,
    NodeId,
    Thread,
    ToolCall,
    Turn,
    to_microseconds,
)
from recollect.store.change import Record
from recollect.store.passages import Owner, PassageText, TokenRows
from recollect.store.results import OF_FIELDS, End, R, Revision, Span

# The tables that records are read from, each with what its columns need.
MESSAGES = "message m JOIN conversation c ON c.num = m.conversation"
TOOL_CALLS = """
tool_call t JOIN conversation c ON c.num = t.conversation
LEFT JOIN message r ON r.ns = t.ns AND r.id = t.result_message_id
"""
TURNS = "turn t JOIN conversation c ON c.num = t.conversation"

GET_CHUNKS = f"""
SELECT {CHUNK_COLUMNS}
FROM json_each(?2) w CROSS JOIN chunk k ON k.ns = ?1 AND k.parent_id = w.value ORDER BY w.key, k.part, k.idx
"""
GET: Mapping[type[Record], str] = {
    Conversation: f"SELECT {CONVERSATION_COLUMNS} FROM conversation c WHERE c.ns = ?1 AND c.id IN {IDS}",
    Message: f"SELECT {MESSAGE_COLUMNS} FROM {MESSAGES} WHERE m.ns = ?1 AND m.id IN {IDS}",
    ToolCall: f"SELECT {TOOL_CALL_COLUMNS} FROM {TOOL_CALLS} WHERE t.ns = ?1 AND t.id IN {IDS}",
    Turn: f"SELECT {TURN_COLUMNS} FROM {TURNS} WHERE t.ns = ?1 AND t.id IN {IDS}",
    Chunk: GET_CHUNKS,
    Document: f"SELECT {DOCUMENT_COLUMNS} FROM document d WHERE d.ns = ?1 AND d.id IN {IDS}",
    Node: f"SELECT {NODE_COLUMNS} FROM node n WHERE n.ns = ?1 AND n.id IN {IDS}",
}
REVISIONS = f"""
SELECT id, revision, digest, erased FROM conversation WHERE ns = ?1 AND id IN {IDS}
UNION ALL SELECT id, revision, NULL, erased FROM document WHERE ns = ?1 AND id IN {IDS}
UNION ALL SELECT id, revision, NULL, erased FROM node WHERE ns = ?1 AND id IN {IDS}
"""
KINDS = " UNION ALL ".join(f"SELECT id, '{table}' FROM {table} WHERE ns = ?1 AND id IN {IDS}" for table in RECORDS)
CONVERSATION = f"SELECT {CONVERSATION_COLUMNS}, c.num, c.revision FROM conversation c WHERE c.ns = ? AND c.id = ?"
THREAD_MESSAGES = f"SELECT {MESSAGE_COLUMNS} FROM {MESSAGES} WHERE m.conversation = ? ORDER BY m.position"
THREAD_TOOL_CALLS = f"""
SELECT {selected("tool_call", "t")}
FROM tool_call t JOIN conversation c ON c.num = t.conversation WHERE t.conversation = ? ORDER BY t.position, t.id
"""
THREAD_TURNS = f"SELECT {TURN_COLUMNS} FROM {TURNS} WHERE t.conversation = ? ORDER BY t.position, t.id"
THREAD_CHUNKS = f"""
SELECT {CHUNK_COLUMNS} FROM chunk k WHERE k.ns = ?1 AND k.parent_id IN (
    SELECT id FROM message WHERE conversation = ?2 UNION ALL SELECT id FROM tool_call WHERE conversation = ?2)
ORDER BY k.parent_id, k.part, k.idx
"""
LAST_POSITION = "SELECT max(position) FROM message WHERE conversation = ?"
LAST_TURN = f"""
SELECT {TURN_COLUMNS} FROM {TURNS} WHERE t.conversation = ? ORDER BY t.position DESC, t.id DESC LIMIT 1
"""
NAMED = "SELECT EXISTS (SELECT 1 FROM message WHERE conversation = ? AND speaker IS NOT NULL AND kind = 'said')"
ABOVE = f"""
WITH RECURSIVE up (depth, id) AS (
    SELECT 1, parent_id FROM message WHERE ns = ?1 AND id = ?2 AND parent_id IS NOT NULL
    UNION ALL SELECT up.depth + 1, m.parent_id FROM up CROSS JOIN message m ON m.ns = ?1 AND m.id = up.id
    WHERE up.depth < ?3 AND m.parent_id IS NOT NULL)
SELECT {MESSAGE_COLUMNS}
FROM up CROSS JOIN message m ON m.ns = ?1 AND m.id = up.id JOIN conversation c ON c.num = m.conversation
ORDER BY up.depth LIMIT ?3
"""
AROUND = f"""
SELECT {MESSAGE_COLUMNS}
FROM json_each(?2) s CROSS JOIN conversation c ON c.ns = ?1 AND c.id = s.value ->> 0
CROSS JOIN message m ON m.conversation = c.num AND m.position BETWEEN s.value ->> 1 AND s.value ->> 2
ORDER BY s.key, m.position
"""
SIZES = f"""
SELECT c.id, (SELECT count(*) FROM message m WHERE m.conversation = c.num),
    (SELECT count(*) FROM message m WHERE m.conversation = c.num AND m.deleted)
FROM conversation c WHERE c.ns = ?1 AND c.id IN {IDS}
"""
ORIGINS = f"""
SELECT num, id, source FROM conversation WHERE ns = ?1 AND num IN {IDS}
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


# Edges: those written as such, and the relations that fields say. One face for both, a whole frontier at a time.

EDGE_COLUMNS = "e.source_id, e.type, e.target_id, e.properties, e.name"
WRITTEN = f"SELECT {EDGE_COLUMNS} FROM edge e WHERE e.ns = ?1 ORDER BY e.source_id, e.type, e.target_id, e.name"
WRITTEN_TYPES = f"""
SELECT {EDGE_COLUMNS} FROM edge e
WHERE e.ns = ?1 AND e.type IN {IDS} ORDER BY e.source_id, e.type, e.target_id, e.name
"""


def _of_field(type: str, source: str, target: str, found: str) -> str:
    """The edges that a field says, as a part of a statement."""
    return f"""
UNION ALL SELECT {source}, '{type}', {target}, NULL, '' FROM {found}
    AND (?3 IS NULL OR '{type}' IN (SELECT value FROM json_each(?3)))"""


# ?2: the nodes, ?3: the types or NULL for all, ?4: the limit. Where a table has several indexes that begin with the
# namespace, the nodes are joined first and the index is named: without statistics SQLite takes another, and reads all
# edges of the namespace.
IN_ORDER = "ORDER BY 2, 1, 3, 5 LIMIT ?4"
REPLY = "json_each(?2) w CROSS JOIN message m ON m.ns = ?1 AND m.id = w.value WHERE m.parent_id IS NOT NULL"
TURNS_OF = f"conversation c CROSS JOIN turn t ON t.conversation = c.num WHERE c.ns = ?1 AND c.id IN {IDS}"
CONVERSATION_OF = f"turn t CROSS JOIN conversation c ON c.num = t.conversation WHERE t.ns = ?1 AND t.id IN {IDS}"
NEXT_TURN = f"""turn t CROSS JOIN turn n ON n.conversation = t.conversation AND n.position = t.position + 1
    WHERE t.ns = ?1 AND t.id IN {IDS}"""
TURN_BEFORE = f"""turn t CROSS JOIN turn p ON p.conversation = t.conversation AND p.position = t.position - 1
    WHERE t.ns = ?1 AND t.id IN {IDS}"""
RESPONSES = f"turn t CROSS JOIN json_each(t.response_ids) r WHERE t.ns = ?1 AND t.id IN {IDS}"
RESPONSE_OF = f"""message m CROSS JOIN turn t ON t.conversation = m.conversation
    WHERE m.ns = ?1 AND m.id IN {IDS} AND instr(t.response_ids, m.id)
    AND EXISTS (SELECT 1 FROM json_each(t.response_ids) r WHERE r.value = m.id)"""
OUTWARD = f"""
SELECT {EDGE_COLUMNS} FROM json_each(?2) w CROSS JOIN edge e ON e.ns = ?1 AND e.source_id = w.value
    WHERE ?3 IS NULL OR e.type IN (SELECT value FROM json_each(?3))
{_of_field("REPLIES_TO", "m.id", "m.parent_id", REPLY)}
{_of_field("CALLED_BY", "id", "message_id", f"tool_call WHERE ns = ?1 AND id IN {IDS}")}
{_of_field("CHUNK_OF", "id", "parent_id", f"chunk WHERE ns = ?1 AND id IN {IDS}")}
{_of_field("HAS_TURN", "c.id", "t.id", TURNS_OF)}
{_of_field("NEXT_TURN", "t.id", "n.id", NEXT_TURN)}
{_of_field("HAS_QUERY", "id", "query_id", f"turn WHERE ns = ?1 AND id IN {IDS}")}
{_of_field("HAS_RESPONSE", "t.id", "r.value", RESPONSES)}
{IN_ORDER}
"""
INWARD = f"""
SELECT {EDGE_COLUMNS}
    FROM json_each(?2) w CROSS JOIN edge e INDEXED BY edge_inward ON e.ns = ?1 AND e.target_id = w.value
    WHERE ?3 IS NULL OR e.type IN (SELECT value FROM json_each(?3))
{_of_field("REPLIES_TO", "id", "parent_id", f"message WHERE ns = ?1 AND parent_id IN {IDS}")}
{_of_field("CALLED_BY", "id", "message_id", f"tool_call WHERE ns = ?1 AND message_id IN {IDS}")}
{_of_field("CHUNK_OF", "id", "parent_id", f"chunk WHERE ns = ?1 AND parent_id IN {IDS}")}
{_of_field("HAS_TURN", "c.id", "t.id", CONVERSATION_OF)}
{_of_field("NEXT_TURN", "p.id", "t.id", TURN_BEFORE)}
{_of_field("HAS_QUERY", "id", "query_id", f"turn WHERE ns = ?1 AND query_id IN {IDS}")}
{_of_field("HAS_RESPONSE", "t.id", "m.id", RESPONSE_OF)}
{IN_ORDER}
"""
# The same of types that no field says.
OUTWARD_WRITTEN = f"""
SELECT {EDGE_COLUMNS} FROM json_each(?2) w CROSS JOIN json_each(?3) t
CROSS JOIN edge e ON e.ns = ?1 AND e.source_id = w.value AND e.type = t.value
{IN_ORDER}
"""
INWARD_WRITTEN = f"""
SELECT {EDGE_COLUMNS} FROM json_each(?2) w CROSS JOIN json_each(?3) t
CROSS JOIN edge e INDEXED BY edge_inward ON e.ns = ?1 AND e.target_id = w.value AND e.type = t.value
{IN_ORDER}
"""

_STATEMENTS = {
    ("out", True): OUTWARD_WRITTEN,
    ("out", False): OUTWARD,
    ("in", True): INWARD_WRITTEN,
    ("in", False): INWARD,
}


def _edges(rows: Any) -> list[Edge]:
    return [Edge(row[0], row[1], row[2], unpack_map(row[3]), row[4]) for row in rows]


# Who speaks in a namespace, and in which years, as of a view.

SPEAKERS = """
SELECT s.name FROM speaker s WHERE s.ns = ?1
  AND EXISTS (SELECT 1 FROM message m WHERE m.ns = ?1 AND m.speaker = s.name AND NOT m.deleted) ORDER BY s.name
"""
# The first of what was said from a moment on.
NEXT = """
SELECT timestamp FROM message
WHERE ns = ?1 AND coalesce(timestamp, -9223372036854775808) >= ?2 AND kind = 'said' AND NOT deleted
ORDER BY coalesce(timestamp, -9223372036854775808) LIMIT 1
"""

_MICROSECONDS = 1_000_000
_FIRST_YEAR, _LAST_YEAR = 1, 9999


# The texts of passages, cut out of what they were made from; and a slow search in the record itself.

PASSAGES = """
SELECT p.num, p.owner, coalesce(m.id, t.id, d.id, o.id, n.id), coalesce(m.id, t.message_id), c.id,
    coalesce(m.active, a.active, 1), p.part, p.start, p.end,
    CASE WHEN p.owner = 0 AND p.part >= 0 THEN m.parts -> p.part ->> 'text'
         WHEN p.owner = 0 THEN m.content
         WHEN p.owner = 1 THEN t.name || ': ' || t.arguments || char(10) || t.result
         WHEN p.owner = 2 THEN d.content
         WHEN p.owner = 3 THEN o.title
         ELSE n.text END
FROM json_each(?2) w CROSS JOIN passage p ON p.num = w.value
JOIN generation g ON g.num = p.gen AND g.ns = ?1
LEFT JOIN message m ON p.owner = 0 AND m.num = p.owner_num
LEFT JOIN tool_call t ON p.owner = 1 AND t.num = p.owner_num
LEFT JOIN message a ON a.ns = t.ns AND a.id = t.message_id
LEFT JOIN document d ON p.owner = 2 AND d.num = p.owner_num
LEFT JOIN conversation o ON p.owner = 3 AND o.num = p.owner_num
LEFT JOIN node n ON p.owner = 4 AND n.num = p.owner_num
LEFT JOIN conversation c ON c.num = coalesce(m.conversation, t.conversation, o.num)
ORDER BY w.key
"""
DOCUMENTS_OF = """
SELECT p.num, d.id, d.source FROM json_each(?2) w CROSS JOIN passage p ON p.num = w.value AND p.owner = 2
JOIN generation g ON g.num = p.gen AND g.ns = ?1 JOIN document d ON d.num = p.owner_num
"""
TOKENS = """
SELECT q.num, k.pieces, k.vectors FROM json_each(?2) w CROSS JOIN quality_vector q ON q.num = w.value
JOIN generation g ON g.num = q.gen AND g.ns = ?1 JOIN quality_token k ON k.seq = q.seq
"""
UNEMBEDDED = """
SELECT num FROM passage
WHERE gen = (SELECT num FROM generation WHERE ns = ? AND state = 'live') AND partition = 0 AND NOT embedded
ORDER BY num DESC LIMIT ?
"""
SCAN = f"""
SELECT {MESSAGE_COLUMNS}, words_held(m.content, ?2) AS held
FROM message m JOIN conversation c ON c.num = m.conversation
WHERE m.ns = ?1 AND NOT m.deleted AND held > 0
ORDER BY held DESC, m.timestamp DESC NULLS LAST, m.id DESC LIMIT ?3
"""

_TOKEN_WIDTH = 128


class SQLiteRecords:
    """The half of a view that reads the record, and the texts of passages, in one transaction."""

    def __init__(self, connection: apsw.Connection, ns: int) -> None:
        self._connection, self._ns = connection, ns

    def get(self, kind: type[R], ids: Sequence[NodeId]) -> list[R]:
        """Those that are there, in the order asked for; of Chunk those of the parents."""
        rows = self._connection.execute(GET[kind], (self._ns, ids_json(dict.fromkeys(ids))))
        if kind is Chunk:
            return [decode(kind, row) for row in rows]
        found = {row[0]: decode(kind, row) for row in rows}
        return [found[i] for i in ids if i in found]

    def revisions(self, ids: Sequence[NodeId]) -> dict[NodeId, Revision]:
        """Of those conversations, documents and nodes that are there."""
        return {
            row[0]: Revision(row[1], row[2], bool(row[3]))
            for row in self._connection.execute(REVISIONS, (self._ns, ids_json(ids)))
        }

    def kinds(self, ids: Sequence[NodeId]) -> dict[NodeId, type[Record]]:
        """What they stand for."""
        return {row[0]: RECORDS[row[1]] for row in self._connection.execute(KINDS, (self._ns, ids_json(ids)))}

    def thread(self, id: NodeId) -> Thread | None:
        """A conversation with everything in it."""
        found = self._connection.execute(CONVERSATION, (self._ns, id)).fetchone()
        if found is None:
            return None
        num = found[10]
        return Thread(
            conversation=decode(Conversation, found),
            messages=tuple(decode(Message, row) for row in self._connection.execute(THREAD_MESSAGES, (num,))),
            tool_calls=tuple(decode(ToolCall, row) for row in self._connection.execute(THREAD_TOOL_CALLS, (num,))),
            turns=tuple(decode(Turn, row) for row in self._connection.execute(THREAD_TURNS, (num,))),
            chunks=tuple(decode(Chunk, row) for row in self._connection.execute(THREAD_CHUNKS, (self._ns, num))),
        )

    def end(self, id: NodeId) -> End | None:
        """The growing end of a conversation: a few look-ups, whatever its length."""
        found = self._connection.execute(CONVERSATION, (self._ns, id)).fetchone()
        if found is None:
            return None
        conversation, num = decode(Conversation, found), found[10]
        leaf = self.get(Message, [conversation.leaf_id]) if conversation.leaf_id else []
        turn = self._connection.execute(LAST_TURN, (num,)).fetchone()
        last = self._connection.execute(LAST_POSITION, (num,)).get
        return End(
            conversation=conversation,
            revision=found[11],
            message_count=0 if last is None else last + 1,
            leaf=leaf[0] if leaf else None,
            turn=decode(Turn, turn) if turn else None,
            named=bool(self._connection.execute(NAMED, (num,)).get),
        )

    def above(self, id: NodeId, most: int) -> list[Message]:
        """What stands above a message, its parent first."""
        return [decode(Message, row) for row in self._connection.execute(ABOVE, (self._ns, id, most))]

    def around(self, spans: Sequence[Span]) -> list[Message]:
        """The messages at these positions."""
        return [decode(Message, row) for row in self._connection.execute(AROUND, (self._ns, ids_json(spans)))]

    def sizes(self, ids: Sequence[NodeId]) -> dict[NodeId, tuple[int, int]]:
        """How many messages these conversations have: those that are not deleted, and all."""
        found: Any = self._connection.execute(SIZES, (self._ns, ids_json(ids)))
        return {row[0]: (row[1] - row[2], row[1]) for row in found}

    def origins(self, numbers: Sequence[int]) -> dict[int, tuple[NodeId, str]]:
        """The ids and the sources of conversations by number."""
        found: Any = self._connection.execute(ORIGINS, (self._ns, ids_json(numbers)))
        return {row[0]: (row[1], row[2]) for row in found}

    def named(self, text: str, limit: int = 5) -> list[NodeId]:
        """Ids and source ids that are this: as typed, else in another case, else ids that end so."""
        if not text:
            return []
        for typed in ([text], [text.upper(), text.lower()]):
            exact = [row[0] for row in self._connection.execute(EXACT, (self._ns, ids_json(typed), limit))]
            if exact:
                return exact
        if len(text) == _SHORT_ENDING and (
            short := [row[0] for row in self._connection.execute(SHORT_ENDING, (self._ns, text, limit))]
        ):
            return short
        found: list[Any] = self._connection.execute(ENDING, (self._ns, text, len(text), limit)).fetchall()
        return [row[0] for row in found if row[1]] or [row[0] for row in found]

    def edges(
        self,
        of: Sequence[NodeId] | None,
        types: Collection[str] = (),
        way: Literal["out", "in"] = "out",
        limit: int = 10_000,
    ) -> list[Edge]:
        """The edges that leave or enter nodes; of None all written ones."""
        wanted = ids_json(sorted(set(types))) if types else None
        if of is not None:
            written = wanted is not None and OF_FIELDS.isdisjoint(types)
            return _edges(
                self._connection.execute(
                    _STATEMENTS[way, written], (self._ns, ids_json(dict.fromkeys(of)), wanted, limit)
                )
            )
        if wanted is not None:
            return _edges(self._connection.execute(WRITTEN_TYPES, (self._ns, wanted)))
        return _edges(self._connection.execute(WRITTEN, (self._ns,)))

    def passages(self, numbers: Sequence[int], *, tokens: bool = False) -> list[PassageText]:
        """In the order asked for; those that are gone are left out."""
        wanted = ids_json(int(n) for n in numbers)
        vectors: dict[int, TokenRows] = {}
        if tokens:
            for num, pieces, packed in self._connection.execute(TOKENS, (self._ns, wanted)):
                vectors[num] = TokenRows(
                    np.frombuffer(pieces, np.uint16), np.frombuffer(packed, np.int8).reshape(-1, _TOKEN_WIDTH)
                )
        rows: Any = self._connection.execute(PASSAGES, (self._ns, wanted))
        return [
            PassageText(
                number=num,
                owner=Owner(owner),
                owner_id=owner_id,
                message_id=message_id,
                conversation_id=conversation_id,
                active=bool(active),
                part=part,
                start=start,
                text=(text or "")[start:end],
                tokens=vectors.get(num),
            )
            for num, owner, owner_id, message_id, conversation_id, active, part, start, end, text in rows
        ]

    def documents_of(self, passages: Sequence[int]) -> dict[int, tuple[NodeId, str]]:
        """The documents that passages are chunks of."""
        found: Any = self._connection.execute(DOCUMENTS_OF, (self._ns, ids_json(int(n) for n in passages)))
        return {number: (NodeId(own), source) for number, own, source in found}

    def unembedded(self, limit: int) -> list[PassageText]:
        """Said passages that have no quality vectors yet, newest first."""
        return self.passages([row[0] for row in self._connection.execute(UNEMBEDDED, (self._ns, limit))])

    def scan(self, words: Sequence[str], limit: int) -> list[Message]:
        """Living messages that hold these words, by reading them all."""
        folded = ids_json(dict.fromkeys(word.casefold() for word in words if word))
        rows: Any = self._connection.execute(SCAN, (self._ns, folded, limit)).fetchall()
        return [decode(Message, row) for row in rows]

    def speakers(self) -> list[str]:
        """The names of people who speak in messages that are not deleted."""
        return [row[0] for row in self._connection.execute(SPEAKERS, (self._ns,))]

    def years(self) -> list[int]:
        """The years in which something was said: a look-up each."""
        found: list[int] = []
        after = to_microseconds(datetime(_FIRST_YEAR, 1, 1, tzinfo=UTC))
        while (moment := self._connection.execute(NEXT, (self._ns, after)).get) is not None:
            year = datetime.fromtimestamp(moment // _MICROSECONDS, UTC).year
            found.append(year)
            if year == _LAST_YEAR:
                break
            after = to_microseconds(datetime(year + 1, 1, 1, tzinfo=UTC))
        return found
