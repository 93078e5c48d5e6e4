"""Edges: those written as such, and the relations that fields say. One face for both, a whole frontier at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal

import apsw

from recollect.engines.codec import unpack_map
from recollect.engines.sqlite.put import ids_json
from recollect.record import Edge, NodeId
from recollect.store.results import OF_FIELDS

WRITTEN = """
SELECT source_id, type, target_id, properties, name FROM edge WHERE ns = ?1 ORDER BY source_id, type, target_id, name
"""
WRITTEN_TYPES = """
SELECT source_id, type, target_id, properties, name FROM edge
WHERE ns = ?1 AND type IN (SELECT value FROM json_each(?2)) ORDER BY source_id, type, target_id, name
"""
# ?2: the nodes, ?3: the types or NULL for all, ?4: the limit. Where a table has several indexes that begin with the
# namespace, the nodes are joined first and the index is named: without statistics SQLite takes another, and reads all
# edges of the namespace.
OUTWARD = """
SELECT e.source_id, e.type, e.target_id, e.properties, e.name
    FROM json_each(?2) w CROSS JOIN edge e ON e.ns = ?1 AND e.source_id = w.value
    WHERE ?3 IS NULL OR e.type IN (SELECT value FROM json_each(?3))
UNION ALL SELECT m.id, 'REPLIES_TO', m.parent_id, NULL, ''
    FROM json_each(?2) w CROSS JOIN message m ON m.ns = ?1 AND m.id = w.value
    WHERE m.parent_id IS NOT NULL AND (?3 IS NULL OR 'REPLIES_TO' IN (SELECT value FROM json_each(?3)))
UNION ALL SELECT id, 'CALLED_BY', message_id, NULL, '' FROM tool_call
    WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
    AND (?3 IS NULL OR 'CALLED_BY' IN (SELECT value FROM json_each(?3)))
UNION ALL SELECT id, 'CHUNK_OF', parent_id, NULL, '' FROM chunk
    WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
    AND (?3 IS NULL OR 'CHUNK_OF' IN (SELECT value FROM json_each(?3)))
UNION ALL SELECT c.id, 'HAS_TURN', t.id, NULL, '' FROM conversation c CROSS JOIN turn t ON t.conversation = c.num
    WHERE c.ns = ?1 AND c.id IN (SELECT value FROM json_each(?2))
    AND (?3 IS NULL OR 'HAS_TURN' IN (SELECT value FROM json_each(?3)))
UNION ALL SELECT t.id, 'NEXT_TURN', n.id, NULL, '' FROM turn t CROSS JOIN turn n
    ON n.conversation = t.conversation AND n.position = t.position + 1
    WHERE t.ns = ?1 AND t.id IN (SELECT value FROM json_each(?2))
    AND (?3 IS NULL OR 'NEXT_TURN' IN (SELECT value FROM json_each(?3)))
UNION ALL SELECT id, 'HAS_QUERY', query_id, NULL, '' FROM turn
    WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
    AND (?3 IS NULL OR 'HAS_QUERY' IN (SELECT value FROM json_each(?3)))
UNION ALL SELECT t.id, 'HAS_RESPONSE', r.value, NULL, '' FROM turn t CROSS JOIN json_each(t.response_ids) r
    WHERE t.ns = ?1 AND t.id IN (SELECT value FROM json_each(?2))
    AND (?3 IS NULL OR 'HAS_RESPONSE' IN (SELECT value FROM json_each(?3)))
ORDER BY 2, 1, 3, 5 LIMIT ?4
"""
INWARD = """
SELECT e.source_id, e.type, e.target_id, e.properties, e.name
    FROM json_each(?2) w CROSS JOIN edge e INDEXED BY edge_inward ON e.ns = ?1 AND e.target_id = w.value
    WHERE ?3 IS NULL OR e.type IN (SELECT value FROM json_each(?3))
UNION ALL SELECT id, 'REPLIES_TO', parent_id, NULL, '' FROM message
    WHERE ns = ?1 AND parent_id IN (SELECT value FROM json_each(?2))
    AND (?3 IS NULL OR 'REPLIES_TO' IN (SELECT value FROM json_each(?3)))
UNION ALL SELECT id, 'CALLED_BY', message_id, NULL, '' FROM tool_call
    WHERE ns = ?1 AND message_id IN (SELECT value FROM json_each(?2))
    AND (?3 IS NULL OR 'CALLED_BY' IN (SELECT value FROM json_each(?3)))
UNION ALL SELECT id, 'CHUNK_OF', parent_id, NULL, '' FROM chunk
    WHERE ns = ?1 AND parent_id IN (SELECT value FROM json_each(?2))
    AND (?3 IS NULL OR 'CHUNK_OF' IN (SELECT value FROM json_each(?3)))
UNION ALL SELECT c.id, 'HAS_TURN', t.id, NULL, '' FROM turn t CROSS JOIN conversation c ON c.num = t.conversation
    WHERE t.ns = ?1 AND t.id IN (SELECT value FROM json_each(?2))
    AND (?3 IS NULL OR 'HAS_TURN' IN (SELECT value FROM json_each(?3)))
UNION ALL SELECT p.id, 'NEXT_TURN', t.id, NULL, '' FROM turn t CROSS JOIN turn p
    ON p.conversation = t.conversation AND p.position = t.position - 1
    WHERE t.ns = ?1 AND t.id IN (SELECT value FROM json_each(?2))
    AND (?3 IS NULL OR 'NEXT_TURN' IN (SELECT value FROM json_each(?3)))
UNION ALL SELECT id, 'HAS_QUERY', query_id, NULL, '' FROM turn
    WHERE ns = ?1 AND query_id IN (SELECT value FROM json_each(?2))
    AND (?3 IS NULL OR 'HAS_QUERY' IN (SELECT value FROM json_each(?3)))
UNION ALL SELECT t.id, 'HAS_RESPONSE', m.id, NULL, ''
    FROM message m CROSS JOIN turn t ON t.conversation = m.conversation
    WHERE m.ns = ?1 AND m.id IN (SELECT value FROM json_each(?2)) AND instr(t.response_ids, m.id)
    AND EXISTS (SELECT 1 FROM json_each(t.response_ids) r WHERE r.value = m.id)
    AND (?3 IS NULL OR 'HAS_RESPONSE' IN (SELECT value FROM json_each(?3)))
ORDER BY 2, 1, 3, 5 LIMIT ?4
"""
# The same of types that no field says.
OUTWARD_WRITTEN = """
SELECT e.source_id, e.type, e.target_id, e.properties, e.name
FROM json_each(?2) w CROSS JOIN json_each(?3) t
CROSS JOIN edge e ON e.ns = ?1 AND e.source_id = w.value AND e.type = t.value
ORDER BY 2, 1, 3, 5 LIMIT ?4
"""
INWARD_WRITTEN = """
SELECT e.source_id, e.type, e.target_id, e.properties, e.name
FROM json_each(?2) w CROSS JOIN json_each(?3) t
CROSS JOIN edge e INDEXED BY edge_inward ON e.ns = ?1 AND e.target_id = w.value AND e.type = t.value
ORDER BY 2, 1, 3, 5 LIMIT ?4
"""

_STATEMENTS = {
    ("out", True): OUTWARD_WRITTEN,
    ("out", False): OUTWARD,
    ("in", True): INWARD_WRITTEN,
    ("in", False): INWARD,
}


def edges(
    connection: apsw.Connection,
    ns: int,
    of: Sequence[NodeId] | None,
    types: Collection[str],
    way: Literal["out", "in"],
    limit: int,
) -> list[Edge]:
    """The edges that leave or enter nodes; of None all written ones."""
    wanted = ids_json(sorted(set(types))) if types else None
    if of is not None:
        written = wanted is not None and OF_FIELDS.isdisjoint(types)
        return _edges(connection.execute(_STATEMENTS[way, written], (ns, ids_json(dict.fromkeys(of)), wanted, limit)))
    if wanted is not None:
        return _edges(connection.execute(WRITTEN_TYPES, (ns, wanted)))
    return _edges(connection.execute(WRITTEN, (ns,)))


def _edges(rows: Any) -> list[Edge]:
    return [Edge(row[0], row[1], row[2], unpack_map(row[3]), row[4]) for row in rows]
