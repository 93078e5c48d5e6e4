"""Work for later: put with a change, claimed by one worker at a time, done by a change under its fence.

A fence is a number that the namespace never gives twice, so that a worker whose lease ran out cannot pass for the next
one, not even where the task was done and put anew. Every step locks the namespace first and compares then.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from recollect.engines.neo4j.writing import Writing
from recollect.record import NodeId, to_microseconds
from recollect.record.ids import from_microseconds
from recollect.store.change import Fenced, Lease, Task

PUT = """
UNWIND $rows AS r MERGE (t:Task {namespace: $ns, id: r.id})
ON CREATE SET t += r.values, t.state = 'due', t.number = r.number, t.attempt = 0
"""
CLAIM = """
MATCH (t:Task) WHERE t.namespace = $ns AND t.state IN ['due', 'leased'] AND t.kind IN $kinds AND t.ready <= $now
WITH t ORDER BY t.ready, t.number LIMIT $most
RETURN properties(t) AS task ORDER BY t.ready, t.number
"""
LEASE = """
UNWIND $rows AS r MATCH (t:Task {namespace: $ns, id: r.id})
SET t.state = 'leased', t.worker = $worker, t.ready = $ready, t.fence = r.fence, t.attempt = t.attempt + 1
"""
HELD = "MATCH (t:Task {namespace: $ns, id: $id}) RETURN t.state = 'leased' AND t.fence = $fence AS held"
KEEP = "MATCH (t:Task {namespace: $ns, id: $id}) SET t.answer = $answer"
RELEASE = """
MATCH (t:Task {namespace: $ns, id: $id})
SET t.state = $state, t.ready = coalesce($ready, t.ready), t.why = $why, t.fence = NULL, t.worker = NULL
"""
RENEW = """
UNWIND $rows AS r MATCH (t:Task {namespace: $ns, id: r.id}) WHERE t.state = 'leased' AND t.fence = r.fence
SET t.ready = $ready RETURN t.id AS id, t.fence AS fence
"""
REVIVE = """
MATCH (t:Task) WHERE t.namespace = $ns AND t.state = 'dead' AND ($ids IS NULL OR t.id IN $ids)
SET t.state = 'due', t.attempt = 0, t.ready = 0 RETURN count(t) AS number
"""
DONE = "MATCH (t:Task {namespace: $ns, id: $id}) DELETE t"


def put(writing: Writing, tasks: Sequence[Task]) -> None:
    """Puts tasks; one that is there already is left as it is."""
    numbers = writing.numbers(len(tasks))
    rows = [
        {
            "id": task.id,
            "number": number,
            "values": {
                "kind": task.kind,
                "subject": task.subject,
                "payload": task.payload,
                "due": to_microseconds(task.due),
                "ready": to_microseconds(task.due) or 0,
            },
        }
        for task, number in zip(tasks, numbers, strict=True)
    ]
    writing.put(PUT, rows)


def claim(
    writing: Writing, worker: str, kinds: Sequence[str], most: int, lease: timedelta, now: datetime
) -> list[Lease]:
    """Due tasks, oldest first, now held by this worker."""
    found = list(writing.tx.run(CLAIM, ns=writing.namespace, kinds=list(kinds), most=most, now=to_microseconds(now)))
    until = now + lease
    numbers = writing.numbers(len(found))
    leases = [
        Lease(
            task=task_of(record["task"]),
            fence=fence,
            until=until,
            attempt=record["task"]["attempt"] + 1,
            answer=record["task"].get("answer"),
        )
        for record, fence in zip(found, numbers, strict=True)
    ]
    rows = [{"id": held.task.id, "fence": held.fence} for held in leases]
    writing.put(LEASE, rows, worker=worker, ready=to_microseconds(until))
    return leases


def require(writing: Writing, lease: Lease) -> None:
    """Raises Fenced where the task is not held under this lease any more."""
    found = writing.tx.run(HELD, ns=writing.namespace, id=lease.task.id, fence=lease.fence).single()
    if found is None or not found["held"]:
        raise Fenced(lease)


def keep(writing: Writing, lease: Lease, answer: bytes) -> None:
    """Keeps the answer with the task."""
    writing.tx.run(KEEP, ns=writing.namespace, id=lease.task.id, answer=answer).consume()


def renew(writing: Writing, leases: Sequence[Lease], length: timedelta, now: datetime) -> list[Lease]:
    """Holds tasks for longer; returns the leases that are still held."""
    until = now + length
    rows = [{"id": lease.task.id, "fence": lease.fence} for lease in leases]
    found = writing.tx.run(RENEW, ns=writing.namespace, rows=rows, ready=to_microseconds(until))
    held = {(record["id"], record["fence"]) for record in found}
    return [replace(lease, until=until) for lease in leases if (lease.task.id, lease.fence) in held]


def revive(writing: Writing, ids: Collection[NodeId] | None) -> int:
    """Makes dead tasks due; returns how many."""
    found = writing.tx.run(REVIVE, ns=writing.namespace, ids=None if ids is None else list(ids)).single()
    return int(found["number"]) if found else 0


def release(writing: Writing, lease: Lease, why: str, again: datetime | None) -> None:
    """Due again, or dead."""
    state = "dead" if again is None else "due"
    ready = to_microseconds(again)
    writing.tx.run(RELEASE, ns=writing.namespace, id=lease.task.id, state=state, ready=ready, why=why).consume()


def done(writing: Writing, lease: Lease) -> None:
    """The task goes."""
    writing.tx.run(DONE, ns=writing.namespace, id=lease.task.id).consume()


def task_of(node: Any) -> Task:
    """From the properties of its node."""
    return Task(
        id=node["id"],
        kind=node["kind"],
        subject=node.get("subject"),
        payload=node.get("payload") or b"",
        due=from_microseconds(node.get("due")),
    )
