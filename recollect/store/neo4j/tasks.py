"""Work for later: put with a change, claimed by one worker at a time, done by a change under its fence.

A fence is a number that the namespace never gives twice, so that a worker whose lease ran out cannot pass for the next
one, not even where the task was done and put anew. Every step locks the namespace first and compares then.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from recollect.record import to_microseconds
from recollect.record.time import from_microseconds
from recollect.store.base import Fenced
from recollect.store.change import Lease, Task
from recollect.store.neo4j.writing import Writing

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
DONE = "MATCH (t:Task {namespace: $ns, id: $id}) DELETE t"


def put(writing: Writing, tasks: Sequence[Task], now: datetime) -> None:
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
                "ready": to_microseconds(task.due or now),
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
        raise Fenced(lease.task.id)


def keep(writing: Writing, lease: Lease, answer: bytes) -> None:
    """Keeps the answer with the task."""
    writing.tx.run(KEEP, ns=writing.namespace, id=lease.task.id, answer=answer).consume()


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
