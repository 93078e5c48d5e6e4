"""Tasks: work for later that is put with what it is about, claimed by one worker at a time, and done exactly once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Literal

import apsw

from recollect.engines.sqlite.put import ids_json
from recollect.record import NodeId, from_microseconds, to_microseconds
from recollect.store.change import Fenced, Lease, Task

PUT = """
INSERT INTO task (ns, id, kind, subject, due, ready, payload) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (ns, id) DO NOTHING
"""
DUE = """
SELECT num FROM task WHERE ns = ?1 AND NOT dead AND ready <= ?2 AND kind IN (SELECT value FROM json_each(?3))
ORDER BY ready, num LIMIT ?4
"""
CLAIM = """
UPDATE task SET fence = fence + 1, attempt = attempt + 1, worker = ?, ready = ? WHERE num = ?
RETURNING id, kind, subject, payload, due, num << 20 | fence, attempt, answer
"""
# A fence holds the number of the task, which is never given again: that of a task that was put anew is another one.
KEEP = """
UPDATE task SET answer = ? WHERE ns = ? AND id = ? AND num << 20 | fence = ? AND worker IS NOT NULL RETURNING num
"""
RENEW = """
UPDATE task SET ready = ? WHERE ns = ? AND id = ? AND num << 20 | fence = ? AND worker IS NOT NULL RETURNING num
"""
REVIVE = """
UPDATE task SET dead = 0, attempt = 0, ready = 0
WHERE ns = ?1 AND dead AND (?2 IS NULL OR id IN (SELECT value FROM json_each(?2))) RETURNING num
"""
RELEASE = """
UPDATE task SET worker = NULL, ready = ?, why = ?, dead = ?
WHERE ns = ? AND id = ? AND num << 20 | fence = ? AND worker IS NOT NULL RETURNING num
"""
FINISH = "DELETE FROM task WHERE ns = ? AND id = ? AND num << 20 | fence = ? AND worker IS NOT NULL RETURNING num"
LIST_DUE = """
SELECT id, kind, subject, payload, due, why FROM task
WHERE ns = ?1 AND NOT dead AND (worker IS NULL OR ready <= ?2) ORDER BY ready, num LIMIT ?3
"""
LIST_LEASED = """
SELECT id, kind, subject, payload, due, why FROM task
WHERE ns = ?1 AND NOT dead AND worker IS NOT NULL AND ready > ?2 ORDER BY num LIMIT ?3
"""
LIST_DEAD = (
    "SELECT id, kind, subject, payload, due, why FROM task WHERE ns = ?1 AND dead AND ?2 = ?2 ORDER BY num LIMIT ?3"
)
_LISTS = {"due": LIST_DUE, "leased": LIST_LEASED, "dead": LIST_DEAD}


def put_tasks(connection: apsw.Connection, ns: int, tasks: Iterable[Task]) -> None:
    """Puts tasks; one that is there already is left as it is."""
    connection.executemany(
        PUT,
        [(ns, t.id, t.kind, t.subject, to_microseconds(t.due), to_microseconds(t.due) or 0, t.payload) for t in tasks],
    )


def claim(
    connection: apsw.Connection, ns: int, worker: str, kinds: Sequence[str], most: int, lease: timedelta, now: datetime
) -> list[Lease]:
    """Due tasks, and those whose lease has run out, now held by this worker."""
    due = connection.execute(DUE, (ns, to_microseconds(now), ids_json(kinds), most)).fetchall()
    until = now + lease
    held = []
    for (num,) in due:
        row: Any = connection.execute(CLAIM, (worker, to_microseconds(until), num)).fetchone()
        held.append(Lease(task=_task(row), fence=row[5], until=until, attempt=row[6], answer=row[7]))
    return held


def keep(connection: apsw.Connection, ns: int, lease: Lease, answer: bytes) -> None:
    """Keeps what was generated. Raises Fenced."""
    _fenced(connection.execute(KEEP, (answer, ns, lease.task.id, lease.fence)).fetchone(), lease)


def renew(
    connection: apsw.Connection, ns: int, leases: Iterable[Lease], length: timedelta, now: datetime
) -> list[Lease]:
    """Holds tasks for longer; returns the leases that are still held."""
    until = now + length
    values = [(lease, (to_microseconds(until), ns, lease.task.id, lease.fence)) for lease in leases]
    held = [lease for lease, row in values if connection.execute(RENEW, row).fetchone() is not None]
    return [replace(lease, until=until) for lease in held]


def revive(connection: apsw.Connection, ns: int, ids: Collection[NodeId] | None) -> int:
    """Makes dead tasks due; returns how many."""
    return len(connection.execute(REVIVE, (ns, None if ids is None else ids_json(ids))).fetchall())


def release(connection: apsw.Connection, ns: int, lease: Lease, why: str, again: datetime | None) -> None:
    """Gives a task back, to be claimed at a time or never. Raises Fenced."""
    ready = to_microseconds(again) if again is not None else 0
    values = (ready, why, int(again is None), ns, lease.task.id, lease.fence)
    _fenced(connection.execute(RELEASE, values).fetchone(), lease)


def finish(connection: apsw.Connection, ns: int, lease: Lease) -> None:
    """The task is done. Raises Fenced where somebody else has it by now."""
    _fenced(connection.execute(FINISH, (ns, lease.task.id, lease.fence)).fetchone(), lease)


def listed(
    connection: apsw.Connection, ns: int, state: Literal["due", "leased", "dead"], limit: int, now: datetime
) -> list[tuple[Task, str]]:
    """Tasks with the reason of their last failure. Due are all that nobody holds, those for later too."""
    found = connection.execute(_LISTS[state], (ns, to_microseconds(now), limit))
    return [(_task(row), row[5]) for row in found]


def _task(row: Sequence[Any]) -> Task:
    return Task(id=row[0], kind=row[1], subject=row[2], payload=row[3], due=from_microseconds(row[4]))


def _fenced(row: object, lease: Lease) -> None:
    if row is None:
        raise Fenced(lease)
