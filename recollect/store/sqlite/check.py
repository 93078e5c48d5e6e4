"""The invariants of the store, each as a statement that returns what breaks it."""

from __future__ import annotations

from typing import Any

import apsw

from recollect.store.base import Violation

# Each returns (where, count) rows; ?1 is the namespace, or NULL for all of them.
INVARIANTS = {
    "every parent of a message is a message of the same conversation": """
        SELECT m.id, 1 FROM message m LEFT JOIN message p ON p.ns = m.ns AND p.id = m.parent_id
        WHERE m.parent_id IS NOT NULL AND (p.num IS NULL OR p.conversation != m.conversation)
          AND (?1 IS NULL OR m.ns = ?1)""",
    "a parent stands before its children (so there is no cycle)": """
        SELECT m.id, 1 FROM message m JOIN message p ON p.ns = m.ns AND p.id = m.parent_id
        WHERE p.position >= m.position AND (?1 IS NULL OR m.ns = ?1)""",
    "the positions of a conversation run from 0 without gap": """
        SELECT c.id, 1 FROM conversation c JOIN message m ON m.conversation = c.num WHERE (?1 IS NULL OR c.ns = ?1)
        GROUP BY c.num HAVING min(m.position) != 0 OR max(m.position) != count(*) - 1
            OR count(DISTINCT m.position) != count(*)""",
    "a message and its conversation are of one namespace": """
        SELECT m.id, 1 FROM message m JOIN conversation c ON c.num = m.conversation
        WHERE m.ns != c.ns AND (?1 IS NULL OR m.ns = ?1)""",
    "the parent of an active message is active": """
        SELECT m.id, 1 FROM message m JOIN message p ON p.ns = m.ns AND p.id = m.parent_id
        WHERE m.active AND NOT p.active AND (?1 IS NULL OR m.ns = ?1)""",
    "the active path ends at the conversation's leaf": """
        SELECT c.id, 1 FROM conversation c LEFT JOIN message m ON m.ns = c.ns AND m.id = c.leaf_id
        WHERE (?1 IS NULL OR c.ns = ?1) AND EXISTS (SELECT 1 FROM message x WHERE x.conversation = c.num)
          AND (m.num IS NULL OR m.conversation != c.num OR NOT m.active)""",
    "every tool call belongs to a message, and names a result that is there": """
        SELECT t.id, 1 FROM tool_call t WHERE (?1 IS NULL OR t.ns = ?1)
          AND (NOT EXISTS (SELECT 1 FROM message m WHERE m.ns = t.ns AND m.id = t.message_id)
            OR t.result_message_id IS NOT NULL
               AND NOT EXISTS (SELECT 1 FROM message m WHERE m.ns = t.ns AND m.id = t.result_message_id))""",
    "every turn names messages that are there": """
        SELECT t.id, 1 FROM turn t WHERE (?1 IS NULL OR t.ns = ?1)
          AND (NOT EXISTS (SELECT 1 FROM message m WHERE m.ns = t.ns AND m.id = t.query_id)
            OR EXISTS (SELECT 1 FROM json_each(t.response_ids) r
                       WHERE NOT EXISTS (SELECT 1 FROM message m WHERE m.ns = t.ns AND m.id = r.value)))""",
    "every chunk has its parent": """
        SELECT k.id, 1 FROM chunk k WHERE (?1 IS NULL OR k.ns = ?1)
          AND NOT EXISTS (SELECT 1 FROM message m WHERE m.ns = k.ns AND m.id = k.parent_id)
          AND NOT EXISTS (SELECT 1 FROM tool_call t WHERE t.ns = k.ns AND t.id = k.parent_id)
          AND NOT EXISTS (SELECT 1 FROM document d WHERE d.ns = k.ns AND d.id = k.parent_id)""",
    "the chunks of a text follow each other without gap": """
        SELECT k.parent_id, 1 FROM chunk k
        LEFT JOIN chunk b ON b.ns = k.ns AND b.parent_id = k.parent_id AND b.part = k.part AND b.idx = k.idx - 1
        WHERE (?1 IS NULL OR k.ns = ?1)
          AND (k.idx = 0 AND k.start != 0 OR k.idx > 0 AND (b.num IS NULL OR k.start > b.end OR k.end <= b.end))""",
    "every window lies within its conversation": """
        SELECT c.id, 1 FROM window w JOIN conversation c ON c.num = w.conversation
        WHERE (?1 IS NULL OR c.ns = ?1)
          AND (w.start > w.end OR w.end > (SELECT max(position) FROM message m WHERE m.conversation = c.num))""",
    "everything that has words can be found": """
        SELECT m.id, 1 FROM message m WHERE NOT m.deleted AND m.content != '' AND (?1 IS NULL OR m.ns = ?1)
          AND EXISTS (SELECT 1 FROM namespace n WHERE n.ns = m.ns AND n.embedder IS NOT NULL)
          AND NOT EXISTS (SELECT 1 FROM passage p WHERE p.ns = m.ns AND p.owner_id = m.id AND NOT p.dead)""",
    "nothing that is deleted can be found": """
        SELECT m.id, 1 FROM message m JOIN passage p ON p.ns = m.ns AND p.owner_id = m.id AND p.owner = 0
        WHERE m.deleted AND NOT p.dead AND (?1 IS NULL OR m.ns = ?1)""",
    "every passage leads to something that is there": """
        SELECT p.owner_id, 1 FROM passage p WHERE NOT p.dead AND (?1 IS NULL OR p.ns = ?1)
          AND NOT CASE p.owner
            WHEN 0 THEN EXISTS (SELECT 1 FROM message x WHERE x.ns = p.ns AND x.id = p.owner_id)
            WHEN 1 THEN EXISTS (SELECT 1 FROM tool_call x WHERE x.ns = p.ns AND x.id = p.owner_id)
            WHEN 3 THEN EXISTS (SELECT 1 FROM conversation x WHERE x.ns = p.ns AND x.id = p.owner_id)
            ELSE EXISTS (SELECT 1 FROM document x WHERE x.ns = p.ns AND x.id = p.owner_id) END""",
    "no passage is there twice": """
        SELECT owner_id, count(*) - 1 FROM passage WHERE NOT dead AND (?1 IS NULL OR ns = ?1)
        GROUP BY ns, owner_id, part, start HAVING count(*) > 1""",
    "the rows of the search index run from 0 without gap": """
        SELECT n.name || ' lane ' || p.lane, max(p.row) + 1 - count(*) FROM passage p JOIN namespace n ON n.ns = p.ns
        WHERE (?1 IS NULL OR p.ns = ?1) GROUP BY p.ns, p.lane HAVING max(p.row) + 1 != count(*)""",
    "every row of the search index is in one segment or in the tail": """
        SELECT n.name || ' lane ' || p.lane, 1 FROM (SELECT ns, lane, count(*) AS rows FROM passage GROUP BY ns, lane) p
        JOIN namespace n ON n.ns = p.ns WHERE (?1 IS NULL OR p.ns = ?1)
          AND p.rows != (SELECT count(*) FROM tail t WHERE t.ns = p.ns AND t.lane = p.lane)
            + (SELECT coalesce(sum(last - first + 1), 0) FROM segment s WHERE s.ns = p.ns AND s.lane = p.lane)""",
    "every living passage has its words, no dead one has": """
        SELECT p.owner_id, 1 FROM passage p WHERE (?1 IS NULL OR p.ns = ?1)
          AND p.dead = EXISTS (SELECT 1 FROM words w WHERE w.rowid = p.num)""",
    "quality vectors belong to living passages, and come with their tokens": """
        SELECT q.num, 1 FROM quality_vector q WHERE (?1 IS NULL OR q.ns = ?1)
          AND (NOT EXISTS (SELECT 1 FROM passage p WHERE p.num = q.num AND NOT p.dead)
            OR NOT EXISTS (SELECT 1 FROM quality_token t WHERE t.num = q.num))""",
}

_SHOWN = 20


def violations(connection: apsw.Connection, ns: int | None) -> list[Violation]:
    """What does not hold: of each invariant at most 20 places, and a last line that counts the rest."""
    found = [
        Violation("the file is whole", str(row[0]))
        for row in connection.execute("PRAGMA integrity_check")
        if row[0] != "ok"
    ]
    found += [
        Violation("no row refers to a missing one", f"{row[0]} {row[1]}")
        for row in connection.execute("PRAGMA foreign_key_check")
    ]
    for invariant, statement in INVARIANTS.items():
        rows: list[Any] = connection.execute(statement, (ns,)).fetchall()
        found += [Violation(invariant, str(where), count) for where, count in rows[:_SHOWN]]
        if len(rows) > _SHOWN:
            found.append(Violation(invariant, "and elsewhere", len(rows) - _SHOWN))
    return found
