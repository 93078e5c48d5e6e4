"""What is in a namespace, counted by reading it. What is deleted or erased does not count."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import apsw

from recollect.engines.sqlite.put import ids_json
from recollect.record import REPORTS, NodeId, from_microseconds, to_microseconds
from recollect.store.results import Counts

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
