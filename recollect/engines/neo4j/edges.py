"""Reading edges: those that are written and the relations that fields say, a whole frontier at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

import neo4j

from recollect.engines.codec import unpack_map
from recollect.record import Edge, Namespace, NodeId

# Written edges have a name (maybe an empty one), relations that fields say have none.
OUTWARD = """
UNWIND $ids AS id
CALL (id) {
    MATCH (a:Node {namespace: $ns, id: id})-[x]->(b)
    RETURN a.id AS source, type(x) AS type, b.id AS target, x.properties AS properties, coalesce(x.name, '') AS name
    UNION ALL MATCH (e:Edge) WHERE e.namespace = $ns AND e.source_id = id AND e.type IS NOT NULL
      AND e.target_id IS NOT NULL AND e.name IS NOT NULL
    RETURN e.source_id AS source, e.type AS type, e.target_id AS target, e.properties AS properties, e.name AS name
}
WITH source, type, target, properties, name WHERE $types IS NULL OR type IN $types
RETURN source, type, target, properties, name ORDER BY type, source, target, name LIMIT $limit
"""
INWARD = """
UNWIND $ids AS id
CALL (id) {
    MATCH (a)-[x]->(b:Node {namespace: $ns, id: id})
    RETURN a.id AS source, type(x) AS type, b.id AS target, x.properties AS properties, coalesce(x.name, '') AS name
    UNION ALL MATCH (e:Edge) WHERE e.namespace = $ns AND e.target_id = id
    RETURN e.source_id AS source, e.type AS type, e.target_id AS target, e.properties AS properties, e.name AS name
}
WITH source, type, target, properties, name WHERE $types IS NULL OR type IN $types
RETURN source, type, target, properties, name ORDER BY type, source, target, name LIMIT $limit
"""
WRITTEN = """
CALL () {
    MATCH (a:Node)-[x]->(b) WHERE a.namespace = $ns AND a.id IS NOT NULL AND x.name IS NOT NULL
    RETURN a.id AS source, type(x) AS type, b.id AS target, x.properties AS properties, x.name AS name
    UNION ALL MATCH (e:Edge) WHERE e.namespace = $ns AND e.target_id IS NOT NULL
    RETURN e.source_id AS source, e.type AS type, e.target_id AS target, e.properties AS properties, e.name AS name
}
WITH source, type, target, properties, name WHERE $types IS NULL OR type IN $types
RETURN source, type, target, properties, name ORDER BY source, type, target, name
"""


def edges(
    tx: neo4j.Transaction,
    ns: Namespace,
    of: Sequence[NodeId] | None,
    types: Collection[str],
    way: Literal["out", "in"],
    limit: int,
) -> list[Edge]:
    """The edges that leave or enter nodes; of None all written ones."""
    wanted = sorted(types) or None
    if of is None:
        return [_edge(r) for r in tx.run(WRITTEN, ns=ns, types=wanted)]
    statement = OUTWARD if way == "out" else INWARD
    return [_edge(r) for r in tx.run(statement, ns=ns, ids=list(dict.fromkeys(of)), types=wanted, limit=limit)]


def _edge(r: neo4j.Record) -> Edge:
    return Edge(r["source"], r["type"], r["target"], unpack_map(r["properties"]), r["name"])
