"""How far the background work is, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from recollect.faces.present.times import number

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.store import Counts

#: The states of tasks. `later`: not to be begun before a time, as the summary of a day that has not ended.
STATES = ("due", "leased", "later", "dead")

_MOST = 10_000  # tasks that are looked at


def task_counts(memory: Memory, counts: Counts) -> dict[str, int]:
    """How many tasks are in which state."""
    from recollect.record import utc_now

    now, found = utc_now(), counts.tasks
    waiting = memory.upkeep.tasks("due", limit=_MOST) if found.get("due", 0) else []
    later = sum(task.due is not None and task.due > now for task, _ in waiting)
    return {
        "due": found.get("due", 0) - later,
        "leased": found.get("leased", 0),
        "later": later,
        "dead": found.get("dead", 0),
    }


def worker_state(tasks: Mapping[str, int], *, working: bool) -> list[str]:
    """As in "worker at work: 31 tasks left", "2 tasks failed"."""
    due, dead = tasks["due"], tasks["dead"]
    if working:
        told = ["worker at work" + (f": {number(due, 'task')} left" if due else "")]
    else:
        told = [f"worker idle: {number(due, 'task')} to do" if due else "worker idle"]
    return [*told, f"{number(dead, 'task')} failed"] if dead else told
