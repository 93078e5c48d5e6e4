"""`recollect tasks`: what the worker has to do, is doing, or has given up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from recollect.errors import InvalidInput
from recollect.faces.cli.parser import Command, Option, Words, whole
from recollect.faces.cli.terminal.session import Session
from recollect.faces.present.working import task_counts
from recollect.record import utc_now

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.store import Task

_LIMIT = 50
_MOST = 10_000  # tasks that are looked at

#: Its state, the task, and why it failed last.
_Row = tuple[str, "Task", str]
#: The states, with what they are called; what needs somebody's attention first.
_TOLD = {"dead": "failed", "leased": "in work", "due": "to do", "later": "later"}


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
    rows = _rows(memory)
    more, rows = len(rows) > limit, rows[:limit]
    numbers = task_counts(memory, memory.upkeep.stats())
    if session.json:
        found = [_as_json(state, task, why) for state, task, why in rows]
        session.out.document({**numbers, "tasks": found, "more": more})
    else:
        _print(session, numbers, rows, more=more)
    return 0


def _rows(memory: Memory) -> list[_Row]:
    now = utc_now()
    states: tuple[Literal["dead", "leased", "due"], ...] = ("dead", "leased", "due")
    found = [(state, task, why) for state in states for task, why in memory.upkeep.tasks(state, limit=_MOST)]
    rows = [("later" if task.due and task.due > now else state, task, why) for state, task, why in found]
    return sorted(rows, key=lambda row: list(_TOLD).index(row[0]))


def _retry(session: Session, names: list[str]) -> int:
    from recollect.errors import NotFound
    from recollect.faces.present.times import number

    memory = session.existing_memory()
    dead = [task.id for task, _ in memory.upkeep.tasks("dead", limit=1_000_000)]
    meant = [i for name in names for i in dead if i.endswith(name.upper())]
    if unknown := [name for name in names if not any(i.endswith(name.upper()) for i in dead)]:
        raise NotFound(f"No failed task has the ID {unknown[0]}.", hint="To see what failed: recollect tasks")
    revived = memory.upkeep.retry(*meant) if names else memory.upkeep.retry()
    if session.json:
        session.out.document({"retried": revived})
    elif revived:
        session.out.line(session.out.hint(f"{number(revived, 'task')} will be tried again: recollect worker --once"))
    else:
        session.out.line("No task has failed.")
    return 0


def _print(session: Session, numbers: dict[str, int], rows: list[_Row], *, more: bool) -> None:
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.cli.terminal.wrapping import padded, shortened
    from recollect.faces.present.names import short
    from recollect.faces.present.times import moment_after

    out = session.out
    told = [f"{numbers[state]:,} {words}" for state, words in _TOLD.items() if numbers[state]]
    if not any(numbers[state] for state in ("dead", "leased", "due")):
        told = ["Nothing to do now", *told]
    out.line(out.bold(", ".join(told)))
    now = utc_now()
    for state, task, why in rows:
        about = short(task.subject) if task.subject else ""
        facts = f"{padded(_TOLD[state], 8)} {padded(task.kind, 14)} {padded(about, 7)} "
        if state == "later":
            why = f"from {moment_after(task.due, now)}"
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
