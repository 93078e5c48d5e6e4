"""The invariants of the store, each as a statement that returns what breaks it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import apsw

from recollect.engines.codec import ZEROED
from recollect.engines.plans import every_violation, violations_of
from recollect.engines.sqlite import indexing
from recollect.index.source import COLUMNS, SegmentMark, unseal
from recollect.store.change import IndexDamaged
from recollect.store.results import Invariant, Violation

WHOLE_FILE = "PRAGMA integrity_check"
REFERENCES = "PRAGMA foreign_key_check"
# Texts of which a part was lost: SQLite has no checksums.
ZEROED_TEXTS = """
SELECT id FROM message WHERE ns = ?1 AND instr(CAST(content AS BLOB), zeroblob(?2))
UNION ALL SELECT id FROM document WHERE ns = ?1 AND instr(CAST(content AS BLOB), zeroblob(?2))
UNION ALL SELECT id FROM tool_call WHERE ns = ?1
    AND (instr(CAST(result AS BLOB), zeroblob(?2)) OR instr(CAST(arguments AS BLOB), zeroblob(?2)))
"""

# Each returns where it does not hold; ?1 is the namespace.
RECORD: Mapping[Invariant, str] = {
    Invariant.HAS_PARENT: """
        SELECT m.id FROM message m LEFT JOIN message p ON p.ns = m.ns AND p.id = m.parent_id
        WHERE m.ns = ?1 AND m.parent_id IS NOT NULL AND (p.num IS NULL OR p.conversation != m.conversation)""",
    Invariant.ONE_NAMESPACE: """
        SELECT m.id FROM message m JOIN conversation c ON c.num = m.conversation WHERE m.ns = ?1 AND m.ns != c.ns""",
    Invariant.POSITIONS: """
        SELECT c.id FROM conversation c CROSS JOIN message m ON m.conversation = c.num WHERE c.ns = ?1
        GROUP BY c.num HAVING min(m.position) != 0 OR max(m.position) != count(*) - 1""",
    Invariant.ACTIVE_PATH: """
        SELECT m.id FROM message m JOIN message p ON p.ns = m.ns AND p.id = m.parent_id
        WHERE m.ns = ?1 AND m.active AND NOT p.active""",
    Invariant.ACTIVE_END: """
        SELECT c.id FROM conversation c LEFT JOIN message m ON m.ns = c.ns AND m.id = c.leaf_id
        WHERE c.ns = ?1 AND EXISTS (SELECT 1 FROM message x WHERE x.conversation = c.num)
          AND (m.num IS NULL OR m.conversation != c.num OR NOT m.active)""",
    Invariant.TOOL_CALL: """
        SELECT t.id FROM tool_call t WHERE t.ns = ?1
          AND (NOT EXISTS (SELECT 1 FROM message m WHERE m.ns = t.ns AND m.id = t.message_id)
            OR t.result_message_id IS NOT NULL
               AND NOT EXISTS (SELECT 1 FROM message m WHERE m.ns = t.ns AND m.id = t.result_message_id))""",
    Invariant.TURN: """
        SELECT t.id FROM turn t WHERE t.ns = ?1
          AND (NOT EXISTS (SELECT 1 FROM message m WHERE m.ns = t.ns AND m.id = t.query_id)
            OR EXISTS (SELECT 1 FROM json_each(t.response_ids) r
                       WHERE NOT EXISTS (SELECT 1 FROM message m WHERE m.ns = t.ns AND m.id = r.value)))""",
    Invariant.HAS_WHOLE: """
        SELECT k.id FROM chunk k WHERE k.ns = ?1
          AND NOT EXISTS (SELECT 1 FROM message m WHERE m.ns = k.ns AND m.id = k.parent_id)
          AND NOT EXISTS (SELECT 1 FROM tool_call t WHERE t.ns = k.ns AND t.id = k.parent_id)
          AND NOT EXISTS (SELECT 1 FROM document d WHERE d.ns = k.ns AND d.id = k.parent_id)""",
    Invariant.CHUNKS_FOLLOW: """
        SELECT k.parent_id FROM chunk k
        LEFT JOIN chunk b ON b.ns = k.ns AND b.parent_id = k.parent_id AND b.part = k.part AND b.idx = k.idx - 1
        WHERE k.ns = ?1 AND CASE WHEN k.idx = 0 THEN k.start != 0
            ELSE b.num IS NULL OR k.start > b.end OR k.end <= b.end END""",
    Invariant.ERASED: """
        SELECT id FROM message WHERE ns = ?1 AND erased
            AND (content != '' OR parts IS NOT NULL OR versions IS NOT NULL OR NOT deleted)
        UNION ALL SELECT id FROM conversation WHERE ns = ?1 AND erased AND (title != '' OR NOT deleted)
        UNION ALL SELECT id FROM document WHERE ns = ?1 AND erased
            AND (content != '' OR title != '' OR versions IS NOT NULL)
        UNION ALL SELECT id FROM node WHERE ns = ?1 AND erased AND (text != '' OR key != '' OR body IS NOT NULL)
        UNION ALL SELECT t.id FROM tool_call t JOIN message m ON m.ns = t.ns AND m.id = t.message_id
            WHERE t.ns = ?1 AND m.erased""",
}
INDEX: Mapping[Invariant, str] = {
    Invariant.FINDABLE: """
        SELECT m.id FROM message m JOIN generation g ON g.ns = m.ns AND g.state = 'live'
        WHERE m.ns = ?1 AND NOT m.deleted AND trim(m.content, ' ' || char(9, 10, 11, 12, 13)) != ''
          AND NOT EXISTS (SELECT 1 FROM passage p WHERE p.gen = g.num AND p.owner = 0 AND p.owner_num = m.num)""",
    Invariant.UPGRADED: """
        SELECT name FROM namespace WHERE num = ?1 AND unindexed""",
    Invariant.DELETED: """
        SELECT m.id FROM message m JOIN generation g ON g.ns = m.ns AND g.state != 'garbage'
        JOIN passage p ON p.gen = g.num AND p.owner = 0 AND p.owner_num = m.num WHERE m.ns = ?1 AND m.deleted""",
    Invariant.LEADS_SOMEWHERE: """
        SELECT 'passage ' || p.num FROM generation g JOIN passage p ON p.gen = g.num
        WHERE g.ns = ?1 AND g.state != 'garbage' AND NOT CASE p.owner
            WHEN 0 THEN EXISTS (SELECT 1 FROM message x WHERE x.num = p.owner_num AND x.ns = ?1)
            WHEN 1 THEN EXISTS (SELECT 1 FROM tool_call x WHERE x.num = p.owner_num AND x.ns = ?1)
            WHEN 2 THEN EXISTS (SELECT 1 FROM document x WHERE x.num = p.owner_num AND x.ns = ?1)
            WHEN 3 THEN EXISTS (SELECT 1 FROM conversation x WHERE x.num = p.owner_num AND x.ns = ?1)
            ELSE EXISTS (SELECT 1 FROM node x WHERE x.num = p.owner_num AND x.ns = ?1) END""",
    Invariant.ONCE: """
        SELECT 'passage ' || max(p.num) FROM generation g JOIN passage p ON p.gen = g.num
        WHERE g.ns = ?1 AND g.state != 'garbage'
        GROUP BY p.gen, p.owner, p.owner_num, p.part, p.start HAVING count(*) > 1""",
    Invariant.IN_ONE_PLACE: """
        SELECT 'passage ' || p.num FROM generation g JOIN index_state s ON s.gen = g.num
        JOIN passage p ON p.gen = g.num AND p.partition = s.partition
        WHERE g.ns = ?1 AND g.state != 'garbage'
          AND (p.num > s.sealed) != EXISTS (SELECT 1 FROM tail t WHERE t.num = p.num)
        UNION ALL SELECT 'passage ' || t.num FROM generation g JOIN tail t ON t.gen = g.num
            WHERE g.ns = ?1 AND g.state != 'garbage' AND NOT EXISTS (SELECT 1 FROM passage p WHERE p.num = t.num)
        UNION ALL SELECT 'segment ' || s.first FROM generation g JOIN segment s ON s.gen = g.num
            WHERE g.ns = ?1 AND s.state = 1 AND NOT EXISTS (SELECT 1 FROM segment_data d WHERE d.num = s.num)
        UNION ALL SELECT 'passage ' || p.num FROM generation g JOIN index_state s ON s.gen = g.num
            JOIN passage p ON p.gen = g.num AND p.partition = s.partition AND p.num <= s.sealed
            WHERE g.ns = ?1 AND g.state != 'garbage' AND p.num > coalesce((SELECT x.last FROM segment x
                WHERE x.gen = g.num AND x.partition = s.partition AND x.state = 1 AND x.first <= p.num
                ORDER BY x.first DESC LIMIT 1), 0)
        UNION ALL SELECT 'partition ' || s.partition FROM generation g JOIN index_state s ON s.gen = g.num
            WHERE g.ns = ?1 AND g.state != 'garbage' AND s.last < (
                SELECT max(p.num) FROM passage p WHERE p.gen = g.num AND p.partition = s.partition)""",
    Invariant.HAS_WORDS: """
        SELECT 'passage ' || p.num FROM generation g JOIN passage p ON p.gen = g.num
        WHERE g.ns = ?1 AND g.state != 'garbage' AND NOT EXISTS (SELECT 1 FROM words w WHERE w.rowid = p.num)""",
    Invariant.QUALITY: """
        SELECT 'passage ' || q.num FROM generation g JOIN quality_vector q ON q.gen = g.num
        WHERE g.ns = ?1 AND g.state != 'garbage'
          AND (NOT EXISTS (SELECT 1 FROM passage p WHERE p.num = q.num)
            OR NOT EXISTS (SELECT 1 FROM quality_token t WHERE t.seq = q.seq))
        UNION ALL SELECT 'passage ' || p.num FROM generation g JOIN passage p ON p.gen = g.num
            WHERE g.ns = ?1 AND g.state != 'garbage'
              AND p.embedded != EXISTS (SELECT 1 FROM quality_vector q WHERE q.num = p.num)""",
}
SEGMENTS = """
SELECT s.num, s.gen, s.partition, s.first, s.last, s.count, s.checksum, d.data, g.size
FROM generation g CROSS JOIN segment s ON s.gen = g.num JOIN segment_data d ON d.num = s.num
WHERE g.ns = ? AND g.state != 'garbage' AND s.state = 1 ORDER BY s.gen, s.partition, s.first
"""
UNREADABLE = """
SELECT 'passage ' || t.num FROM generation g JOIN tail t ON t.gen = g.num
WHERE g.ns = ?1 AND g.state != 'garbage'
  AND (NOT json_valid(t.terms) OR length(t.columns) != ?2 OR length(t.vector) != g.size)
"""
# Living passages between two numbers, in order.
LIVING = "SELECT num FROM passage WHERE num BETWEEN ? AND ? AND gen = ? AND partition = ? ORDER BY num"

#: What reading damaged rows raises: SQLite, or Python where a text is none.
UNREADABLE_ROWS = (apsw.CorruptError, apsw.SQLError, apsw.IOError, UnicodeDecodeError, ValueError)


def violations(connection: apsw.Connection, ns: int | None) -> list[Violation]:
    """What does not hold in a namespace, and whether the file is whole."""

    def asked(
        invariant: Invariant, remedy: Literal["reindex", "backup"], statement: str, values: tuple[Any, ...]
    ) -> list[Violation]:
        """What a statement finds, or that it cannot be answered."""
        places: list[tuple[str, int]] = []
        try:
            for row in connection.execute(statement, values):
                places.append((" ".join(map(str, row[:2])) if statement is REFERENCES else str(row[0]), 1))  # noqa: PERF401
        except UNREADABLE_ROWS as problem:
            places.append((f"cannot be read: {problem}", 1))
        return violations_of(invariant, remedy, places)

    words = [(place, 1) for place in indexing.words_damage(connection)]
    found = violations_of(Invariant.WORDS_READABLE, "reindex", words)
    whole = asked(Invariant.FILE_IS_WHOLE, "backup", WHOLE_FILE, ())
    found += [one for one in whole if one.where != "ok" and "fts5" not in one.where.lower()]
    found += asked(Invariant.REFERENCES, "backup", REFERENCES, ())
    if ns is None:
        return found
    found += asked(Invariant.FILE_IS_WHOLE, "backup", ZEROED_TEXTS, (ns, len(ZEROED)))
    found += every_violation(RECORD, INDEX, lambda invariant, remedy, text: asked(invariant, remedy, text, (ns,)))
    found += asked(Invariant.TAIL_READABLE, "reindex", UNREADABLE, (ns, COLUMNS.itemsize))
    return found + _segments(connection, ns)


def _segments(connection: apsw.Connection, ns: int) -> list[Violation]:
    """Segments that cannot be read, or lack living passages."""
    unreadable, lacking = [], []
    try:
        for _, gen, partition, first, last, count, checksum, data, size in connection.execute(SEGMENTS, (ns,)):
            where = f"of passages {first} to {last}"
            try:
                segment = unseal(data, where, SegmentMark(first, last, count, checksum))
            except IndexDamaged as problem:
                unreadable.append((problem.message.removesuffix("."), 1))
                continue
            numbers = segment.columns["number"].tolist()
            if segment.vectors.shape[1] != size:
                unreadable.append((f"Segment {where} has vectors of another size", 1))
            living = [row[0] for row in connection.execute(LIVING, (first, last, gen, partition))]
            lacking += [(f"passage {num}", 1) for num in sorted(set(living) - set(numbers))]
    except UNREADABLE_ROWS as problem:
        unreadable.append((f"segments cannot be read: {problem}", 1))
    return [
        *violations_of(Invariant.SEGMENTS_READABLE, "reindex", unreadable),
        *violations_of(Invariant.IN_ONE_PLACE, "reindex", lacking),
    ]
