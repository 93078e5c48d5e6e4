"""How far things are, in words: the index, the background work, recording, what lies on this machine unread."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.faces.present.names import number, percent
from recollect.importers.found import FoundSource, found_on_this_machine
from recollect.memory.recording import VARIABLE, Pause, Recording, is_marked
from recollect.record import utc_now
from recollect.watching.imported_files import ImportedFiles, not_in

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.runtime.files import Place
    from recollect.store import Counts, IndexInfo


def quality_state(counts: Counts) -> str:
    """As in "quality mode: 12% built"."""
    if is_complete(counts):
        return "quality mode: built"
    if not counts.quality:
        return "quality mode: not built yet"
    return f"quality mode: {percent(counts.quality, counts.said_passages)} built"


def is_complete(counts: Counts) -> bool:
    """Whether all that was said has its quality vectors."""
    return 0 < counts.said_passages <= counts.quality


def is_missing(info: IndexInfo, messages: int) -> bool:
    """Whether there is no search index yet for so many messages, as after an upgrade from 0.1.0."""
    return bool(messages) and not info.generation


def index_state(info: IndexInfo, messages: int) -> str:
    """What is to be said of the search index, for so many messages; empty where it is simply in use."""
    if info.building is not None:
        return "being rebuilt" if info.generation else "being built"
    if info.embedder is not None and info.embedder.is_outdated:
        return "made by an earlier version"
    return "not built yet" if is_missing(info, messages) else ""


# How far the background work is, in words.

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


# Whether recording is paused, in words.


def pause_words() -> str:
    """Why nothing is recorded now, as in "Recording is paused until 14:30."; empty where it is. Raises StoreError."""
    if is_marked(os.environ):
        return f"Nothing is recorded: {VARIABLE}=no is set."
    pause = Recording.own().paused()
    return f"Recording is paused {until(pause)}." if pause else ""


def until(pause: Pause) -> str:
    """As in "until 14:30", "until 3 Mar 2026 14:30", "until you resume"."""
    if pause.ends is None:
        return "until you resume"
    ends, now = pause.ends.astimezone(), utc_now().astimezone()
    return f"until {ends:%H:%M}" if ends.date() == now.date() else f"until {ends.day} {ends:%b %Y %H:%M}"


# Exports and sessions that lie on this machine: which of them are not in the memory yet, and what they are called.


def newer_than(last: datetime | None, counts: Counts | None, kept: ImportedFiles | None = None) -> list[FoundSource]:
    """What lies on this machine, of sources that have nothing in the memory or have changed since they were imported:
    by the last import or, as far as it is `kept`, by `recollect watch` or a hook.
    """
    from recollect.faces.present.names import source_of_label

    known = counts.by_source if counts else {}
    return [
        found
        for found in found_on_this_machine(Path.home(), os.environ)
        if not known.get(source_of_label(found.label)) or _is_newer(found, last, kept)
    ]


def _is_newer(found: FoundSource, last: datetime | None, kept: ImportedFiles | None) -> bool:
    if last is not None and (found.newest is None or found.newest <= last):
        return False
    if not kept or not found.path.is_dir():
        return last is not None
    return bool(not_in(found.path, kept, last))


def found_labels(found: Sequence[FoundSource]) -> str:
    """As in "Codex sessions (31), ChatGPT export"."""
    files: dict[str, int] = {}
    for one in found:
        files[_named(one)] = files.get(_named(one), 0) + one.files
    return ", ".join(f"{name} ({count:,})" if count > 1 else name for name, count in files.items())


def _named(found: FoundSource) -> str:
    return f"{found.label} sessions" if found.path.is_dir() else f"{found.label} export"


def tilde(place: Place) -> str:
    """A place as one types it: ~ for the home."""
    home = Path.home()
    if isinstance(place, Path) and place.is_relative_to(home):
        return f"~/{place.relative_to(home).as_posix()}"
    return str(place)
