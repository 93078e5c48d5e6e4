"""The texts of passages, cut out of what they were made from."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import orjson

from recollect.store.passages import Owner, PassageText

PASSAGES = """
SELECT p.num, p.owner, p.owner_id, p.part, p.start, p.end,
    coalesce(m.id, t.message_id), c.id, coalesce(m.active, 1),
    CASE WHEN p.part >= 0 THEN m.parts -> p.part ->> 'text'
         WHEN m.num IS NOT NULL THEN m.content
         WHEN t.num IS NOT NULL THEN t.name || ': ' || t.arguments || char(10) || t.result
         WHEN p.owner = 3 THEN o.title
         ELSE d.content END
FROM passage p
LEFT JOIN message m ON p.owner = 0 AND m.ns = p.ns AND m.id = p.owner_id
LEFT JOIN tool_call t ON p.owner = 1 AND t.ns = p.ns AND t.id = p.owner_id
LEFT JOIN document d ON p.owner = 2 AND d.ns = p.ns AND d.id = p.owner_id
LEFT JOIN conversation o ON p.owner = 3 AND o.ns = p.ns AND o.id = p.owner_id
LEFT JOIN conversation c ON c.num = coalesce(m.conversation, t.conversation, o.num)
WHERE p.ns = ?1 AND p.num IN (SELECT value FROM json_each(?2))
"""
WITHOUT_QUALITY = """
SELECT num FROM passage p WHERE ns = ? AND lane = 0 AND NOT dead
  AND NOT EXISTS (SELECT 1 FROM quality_vector q WHERE q.num = p.num) ORDER BY row DESC LIMIT ?
"""


def passage_texts(connection: apsw.Connection, ns: int, numbers: Sequence[int]) -> list[PassageText]:
    """In the order asked for; those that are gone are left out."""
    wanted = orjson.dumps([int(n) for n in numbers]).decode()
    found = {}
    for num, owner, owner_id, part, start, end, message_id, conversation_id, active, text in connection.execute(
        PASSAGES, (ns, wanted)
    ):
        found[num] = PassageText(
            number=num,
            owner=Owner(owner),
            owner_id=owner_id,
            message_id=message_id,
            conversation_id=conversation_id,
            active=bool(active),
            part=part,
            start=start,
            text=(text or "")[start:end],
        )
    return [found[n] for n in map(int, numbers) if n in found]


def without_quality(connection: apsw.Connection, ns: int, limit: int) -> list[int]:
    """Numbers of said passages that have no quality vectors yet, newest first."""
    return [row[0] for row in connection.execute(WITHOUT_QUALITY, (ns, limit))]
