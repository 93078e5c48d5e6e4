"""`recollect tasks`: what the worker has to do, is doing, or has given up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.faces.cli.parser import Command, Option, Words, whole
from recollect.faces.cli.session import Session

if TYPE_CHECKING:
    from recollect.store import Task

_LIMIT = 50
#: The states, with what they are called; what needs somebody's attention first.
_STATES = {"dead": "failed", "leased": "in work", "due": "to do"}


def tasks(session: Session, ids: list[str] | None = None, retry: bool = False, limit: int = _LIMIT) -> int:
    """List what the worker has still to do, and what failed.

    A task that fails is tried again later, each time after a longer pause, and given up after some attempts. With
    --retry what was given up is tried again: all of it, or the tasks whose ids you give.
    """
    memory = session.existing_memory()
    if ids and not retry:
        raise InvalidInput("Tasks are named only to be retried.", hint=f"recollect tasks --retry {' '.join(ids)}")
    if retry:
        return _retry(session, ids or [])
    rows = [(state, task, why) for state in _STATES for task, why in memory.tasks(state, limit=limit + 1)]  # type: ignore[arg-type]
    more, rows = len(rows) > limit, rows[:limit]
    counted = memory.stats().tasks
    numbers = {state: counted.get(state, 0) for state in _STATES}
    if session.json:
        found = [_as_json(state, task, why) for state, task, why in rows]
        session.out.document({**numbers, "tasks": found, "more": more})
    else:
        _print(session, numbers, rows, more=more)
    return 0


def _retry(session: Session, names: list[str]) -> int:
    from recollect.errors import NotFound
    from recollect.faces.cli.times import number

    memory = session.existing_memory()
    dead = [task.id for task, _ in memory.tasks("dead", limit=1_000_000)]
    meant = [i for name in names for i in dead if i.endswith(name.upper())]
    if unknown := [name for name in names if not any(i.endswith(name.upper()) for i in dead)]:
        raise NotFound(f"No failed task has the ID {unknown[0]}.", hint="To see what failed: recollect tasks")
    revived = memory.retry(*meant) if names else memory.retry()
    if session.json:
        session.out.document({"retried": revived})
    elif revived:
        session.out.line(session.out.hint(f"{number(revived, 'task')} will be tried again: recollect worker --once"))
    else:
        session.out.line("No task has failed.")
    return 0


def _print(session: Session, numbers: dict[str, int], rows: list[tuple[str, Task, str]], *, more: bool) -> None:
    from recollect.faces.cli.layout import padded, shortened
    from recollect.faces.cli.names import short
    from recollect.faces.cli.output import harmless

    out = session.out
    told = [f"{count:,} {_STATES[state]}" for state, count in numbers.items() if count]
    out.line(out.bold(", ".join(told)) if told else "Nothing to do.")
    for state, task, why in rows:
        about = short(task.subject) if task.subject else ""
        facts = f"{padded(_STATES[state], 8)} {padded(task.kind, 14)} {padded(about, 7)} "
        room = None if out.width is None else out.width - len(facts) - len(short(task.id)) - 2
        out.line(f"{short(task.id)}  {out.dim(facts)}{shortened(harmless(why), room)}".rstrip())
    if more:
        out.note(f"There are more: add -n {2 * len(rows)}")
    if numbers["dead"]:
        out.line(out.hint("To try again what failed: recollect tasks --retry"))


def _as_json(state: str, task: Task, why: str) -> dict[str, Any]:
    from recollect.record import iso

    return {
        "id": task.id,
        "kind": task.kind,
        "subject": task.subject,
        "state": state,
        "due": iso(task.due),
        "reason": why or None,
    }


COMMAND = Command(
    tasks,
    ("recollect tasks", "recollect tasks --retry", "recollect tasks --retry 7Q2KAB"),
    (
        Option(("--retry",), "Try again what failed.", default=False),
        Option(("--limit", "-n"), "How many are listed.", "N", default=_LIMIT, read=whole(1)),
    ),
    Words("ID", "ids", several=True),
)
