"""What to do about what is not ready yet: the search index, the background work."""

from __future__ import annotations

from collections.abc import Mapping

from recollect.faces.cli.terminal.layout import joined
from recollect.faces.cli.terminal.output import Output
from recollect.faces.cli.terminal.session import Invocation
from recollect.faces.present.indexed import index_state
from recollect.store import IndexInfo


def index_advice(info: IndexInfo, messages: int, out: Output) -> str:
    """The state of the search index in sentences, with what to do; empty where there is nothing to say."""
    state = index_state(info, messages)
    if not state:
        return ""
    meanwhile = "search uses the old one" if info.generation else "search uses keywords alone"
    step = "If that was interrupted" if info.building is not None else "To build it"
    if info.building is None and info.generation:
        meanwhile, step = "search works, but misses some words", "To improve it"
    return joined(f"Search index: {state}; {meanwhile}.", out.hint(f"{step}: recollect reindex"), out)


def work_advice(session: Invocation, tasks: Mapping[str, int], *, working: bool) -> str:
    """What to do about tasks; empty where there is nothing to be done."""
    if tasks["dead"]:
        return session.out.hint("To see what failed: recollect tasks")
    if tasks["due"] and not working and not session.settings.background:
        return session.out.hint("To make summaries, facts and the quality mode: recollect worker --once")
    return ""


def is_at_work(session: Invocation) -> bool:
    """Whether a worker is at work on this store, on this machine."""
    from recollect.memory.background.lock import is_working

    return is_working(session.store, session.places.state)
