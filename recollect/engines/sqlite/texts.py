"""The texts of passages, cut out of what they were made from; and a slow search in the record itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw
import numpy as np

from recollect.engines.codec import decode
from recollect.engines.sqlite.put import ids_json
from recollect.record import Message, NodeId
from recollect.store.passages import Owner, PassageText, TokenRows

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
SCAN = """
SELECT m.id, c.id, m.role, m.content, m.kind, m.speaker, m.timestamp, m.parent_id, m.source_id, m.position, m.active,
    m.model, m.tokens, m.parts, m.metadata, m.versions, m.deleted, m.erased, words_held(m.content, ?2) AS held
FROM message m JOIN conversation c ON c.num = m.conversation
WHERE m.ns = ?1 AND NOT m.deleted AND held > 0
ORDER BY held DESC, m.timestamp DESC NULLS LAST, m.id DESC LIMIT ?3
"""

_TOKEN_WIDTH = 128


def passage_texts(connection: apsw.Connection, ns: int, numbers: Sequence[int], tokens: bool) -> list[PassageText]:
    """In the order asked for; those that are gone are left out."""
    wanted = ids_json(int(n) for n in numbers)
    vectors: dict[int, TokenRows] = {}
    if tokens:
        for num, pieces, rows in connection.execute(TOKENS, (ns, wanted)):
            vectors[num] = TokenRows(
                np.frombuffer(pieces, np.uint16), np.frombuffer(rows, np.int8).reshape(-1, _TOKEN_WIDTH)
            )
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
        for num, owner, owner_id, message_id, conversation_id, active, part, start, end, text in connection.execute(
            PASSAGES, (ns, wanted)
        )
    ]


def documents_of(connection: apsw.Connection, ns: int, passages: Sequence[int]) -> dict[int, tuple[NodeId, str]]:
    """The documents that passages are chunks of."""
    found: Any = connection.execute(DOCUMENTS_OF, (ns, ids_json(int(n) for n in passages)))
    return {number: (NodeId(own), source) for number, own, source in found}


def unembedded(connection: apsw.Connection, ns: int, limit: int) -> list[int]:
    """Numbers of said passages that have no quality vectors yet, newest first."""
    return [row[0] for row in connection.execute(UNEMBEDDED, (ns, limit))]


def scan(connection: apsw.Connection, ns: int, words: Sequence[str], limit: int) -> list[Message]:
    """Living messages that hold these words, by reading them all."""
    folded = ids_json(dict.fromkeys(word.casefold() for word in words if word))
    rows: Any = connection.execute(SCAN, (ns, folded, limit)).fetchall()
    return [decode(Message, row) for row in rows]
