"""Passages that die: out of everything that holds their words but the segments, and into the log that searches read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from recollect.engines.sqlite.put import ids_json
from recollect.engines.sqlite.quality import remove_quality
from recollect.record import NodeId
from recollect.store.passages import Owner

#: What may own passages, of these ids: id, kind of owner, its number, whether it may be found.
OWNERS = """
SELECT id, 0, num, NOT deleted FROM message WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
UNION ALL SELECT t.id, 1, t.num, coalesce(NOT m.deleted, 1) FROM tool_call t
    LEFT JOIN message m ON m.ns = t.ns AND m.id = t.message_id
    WHERE t.ns = ?1 AND t.id IN (SELECT value FROM json_each(?2))
UNION ALL SELECT id, 2, num, NOT erased FROM document WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
UNION ALL SELECT id, 3, num, NOT deleted FROM conversation WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
UNION ALL SELECT id, 4, num, NOT erased AND state IN ('live', 'superseded') FROM node
    WHERE ns = ?1 AND id IN (SELECT value FROM json_each(?2))
"""
CALLS_OF = """
SELECT num FROM tool_call WHERE ns = ?1 AND message_id IN (SELECT value FROM json_each(?2))
"""
OF_OWNER = "SELECT num, partition, owner, owner_num FROM passage WHERE gen = ? AND owner = ? AND owner_num = ?"
REMOVE = "DELETE FROM passage WHERE num = ?"
REMOVE_TAIL = "DELETE FROM tail WHERE num = ?"
REMOVE_WORDS = "DELETE FROM words WHERE rowid = ?"
REMOVE_RUNS = "DELETE FROM run_vector WHERE num = ?"
SEALED = "SELECT partition, sealed FROM index_state WHERE gen = ?"
LOG = "INSERT INTO death (gen, partition, num, sealed, owner, owner_num) VALUES (?, ?, ?, ?, ?, ?) RETURNING seq"
NOTE = "UPDATE index_state SET deaths = ? WHERE gen = ? AND partition = ?"

#: An owner as the tables of the index know it: what kind, and its number.
OwnerKey = tuple[int, int]


def owners(connection: apsw.Connection, ns: int, ids: Iterable[NodeId]) -> list[tuple[NodeId, int, int, bool]]:
    """What has these ids: id, kind, number, whether it may be found."""
    found: Any = connection.execute(OWNERS, (ns, ids_json(ids)))
    return [(owner_id, kind, num, bool(living)) for owner_id, kind, num, living in found]


def with_calls(connection: apsw.Connection, ns: int, ids: Sequence[NodeId]) -> list[OwnerKey]:
    """What has these ids, and the tool calls of those that are messages: what is silenced with them."""
    found: list[OwnerKey] = [(kind, num) for _, kind, num, _ in owners(connection, ns, ids)]
    calls = connection.execute(CALLS_OF, (ns, ids_json(ids)))
    return list(dict.fromkeys([*found, *((int(Owner.TOOL_CALL), row[0]) for row in calls)]))


def kill(connection: apsw.Connection, gen: int, keys: Iterable[OwnerKey]) -> int:
    """The passages of these owners are found no longer. Returns how many there were."""
    found: list[Any] = connection.executemany(OF_OWNER, [(gen, *key) for key in keys]).fetchall()
    if not found:
        return 0
    numbers = [(num,) for num, *_ in found]
    remove_quality(connection, gen, [num for num, *_ in found])
    for statement in (REMOVE, REMOVE_TAIL, REMOVE_WORDS, REMOVE_RUNS):
        connection.executemany(statement, numbers)
    states: list[Any] = connection.execute(SEALED, (gen,)).fetchall()
    sealed: dict[int, int] = dict(states)
    last: dict[int, int] = {}
    for num, partition, *owner in sorted(found):
        in_segment = int(num <= sealed.get(partition, 0))
        last[partition] = int(connection.execute(LOG, (gen, partition, num, in_segment, *owner)).get)
    connection.executemany(NOTE, [(seq, gen, partition) for partition, seq in last.items()])
    return len(found)
