"""How far the background work is, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recollect.faces.cli.session import Session
from recollect.faces.cli.times import number


def worker_state(tasks: Mapping[str, int], *, working: bool) -> list[str]:
    """As in "worker at work: 31 tasks left", "2 tasks failed"."""
    due, dead = tasks.get("due", 0), tasks.get("dead", 0)
    if working:
        told = ["worker at work" + (f": {number(due, 'task')} left" if due else "")]
    else:
        told = [f"worker idle: {number(due, 'task')} to do" if due else "worker idle"]
    return [*told, f"{number(dead, 'task')} failed"] if dead else told


def work_advice(session: Session, tasks: Mapping[str, int], *, working: bool) -> str:
    """What to do about it; empty where there is nothing to be done."""
    if tasks.get("dead", 0):
        return session.out.hint("To see what failed: recollect tasks")
    if tasks.get("due", 0) and not working and not session.settings.background:
        return session.out.hint("To make summaries, facts and the quality mode: recollect worker --once")
    return ""


def work_as_json(tasks: Mapping[str, int], *, working: bool) -> dict[str, Any]:
    """The same for programs."""
    return {"working": working, **{state: tasks.get(state, 0) for state in ("due", "leased", "dead")}}


def is_working(session: Session) -> bool:
    """Whether a worker is at work on this store, on this machine."""
    from recollect import background

    return background.is_working(session.store, session.places)
