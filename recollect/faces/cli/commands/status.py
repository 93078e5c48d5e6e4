"""The bare command: what is in the memory, what could be, and what to type next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recollect.faces.cli.terminal.layout import gap, in_a_row
from recollect.faces.cli.terminal.session import Session
from recollect.faces.cli.terminal.wrapping import wrapped
from recollect.faces.cli.views.advice import index_advice, is_at_work, work_advice
from recollect.faces.cli.views.pausing import tell_pause
from recollect.faces.present.found import found_as_json, found_labels, newer_than, tilde
from recollect.faces.present.indexed import quality_state
from recollect.faces.present.pausing import pause_words
from recollect.faces.present.times import ago, number, size, span
from recollect.faces.present.working import STATES, task_counts, worker_state
from recollect.importers.found import Found
from recollect.record import iso, utc_now
from recollect.watching.kept import Kept
from recollect.watching.waiting import expiring, not_in

if TYPE_CHECKING:
    from recollect.store import Counts

_HOW_TO_GET = (
    (
        "ChatGPT",
        "Settings, Data controls, Export data. A link comes by email, may take days, and expires after 24 hours.",
    ),
    ("Claude", "Settings, Privacy, Export data. A link comes by email, and expires after 24 hours."),
    ("Claude Code, Codex", "on the machine where they run: recollect import --found"),
)

_INDENT = 22  # of how to get it


def show_status(session: Session) -> None:
    """Prints the status page, or how to begin where nothing is stored."""
    counts = _counts(session)
    found = not_yet_in(session, counts)
    if session.json:
        session.out.document(_document(session, counts, found))
    elif counts is None or not (counts.conversations or counts.documents):
        _print_empty(session, found, counts.facts if counts is not None else 0)
    else:
        _print_status(session, counts, found)


def not_yet_in(session: Session, counts: Counts | None) -> list[Found]:
    """What lies on this machine and is not in the memory, or is newer."""
    return newer_than(session.state.last_import(), counts, _kept(session))


def _kept(session: Session) -> Kept:
    return Kept(session.places.state, session.store, session.settings.namespace)


def _counts(session: Session) -> Counts | None:
    return session.memory().upkeep.stats() if session.has_memory() else None


def _print_status(session: Session, counts: Counts, found: Sequence[Found]) -> None:
    from recollect.faces.present.names import source_label

    out, now = session.out, utc_now()
    dot = f" {out.symbols.dot} "
    when = span(counts.first, counts.last, now, out.symbols.dash)
    total = f"{number(counts.messages, 'message')} in {number(counts.conversations, 'conversation')}"
    head, tail = f", {when}" if when else "", _where(session)
    out.line(out.bold(total) + head + gap(total + head, tail, out) + out.dim(tail))
    sources = dot.join(f"{source_label(name)} {count:,}" for name, count in _largest_first(counts.by_source))
    last = session.state.last_import()
    facts = [f"last import {ago(last, now)}"] if last else []
    tasks, working = task_counts(session.memory(), counts), is_at_work(session)
    facts += [quality_state(counts), *worker_state(tasks, working=working)]
    out.line(sources + gap(sources, dot.join(facts), out) + out.dim(dot.join(facts)))
    if advice := index_advice(session.memory().upkeep.index(), counts.messages, out):
        out.line(advice)
    if advice := work_advice(session, tasks, working=working):
        out.line(advice)
    tell_pause(session)
    _print_found(session, found, "Found on this machine, not imported yet: ")
    _warn(session, found)
    steps = [f"recollect search {_quoted(session)}", "recollect serve --open", "recollect --help"]
    out.line(in_a_row("Try  ", [out.hint(step) for step in steps], out))


def _print_empty(session: Session, found: Sequence[Found], facts: int) -> None:
    out = session.out
    left = f"No messages yet, and {number(facts, 'fact')}." if facts else "Your memory is empty."
    right = _where(session)
    out.line(out.bold(left) + gap(left, right, out) + out.dim(right))
    out.line("Get your history:")
    for who, how in _HOW_TO_GET:
        how, room = out.hint(how), None if out.width is None else out.width - _INDENT
        for count, (start, end) in enumerate(wrapped(how, room)):
            out.line(f"{'' if count else f'  {who}':<{_INDENT}}{how[start:end]}")
    tell_pause(session)
    _print_found(session, found, "Found on this machine: ")
    _warn(session, found)
    steps = ["recollect import ~/Downloads/export.zip", f"recollect search {_quoted(session)}"]
    out.line(in_a_row("Then  ", [out.hint(step) for step in steps], out))
    out.line("Or try it out first on a sample:  recollect demo")


def _print_found(session: Session, found: Sequence[Found], words: str) -> None:
    if found:
        line = words + found_labels(found)
        step = session.out.hint("recollect import --found")
        session.out.line(line + gap(line, step, session.out) + step)


def _warn(session: Session, found: Sequence[Found]) -> None:
    """Claude Code deletes its sessions after a time."""
    if count := _expiring(session, found):
        out = session.out
        what = f"{count:,} of these sessions" if count > 1 else "one of these sessions"
        line = f"Claude Code deletes {what} within 7 days. "
        step = out.hint("To save all from now on: recollect hooks install")
        out.line(line + gap(line, step, out) + step)


def _expiring(session: Session, found: Sequence[Found]) -> int:
    folders = [one.path for one in found if one.label == "Claude Code" and one.path.is_dir()]
    if not folders:
        return 0
    kept, last, now = _kept(session), session.state.last_import(), utc_now()
    return sum(expiring(folder, not_in(folder, kept, last), now) for folder in folders)


def _where(session: Session) -> str:
    taken = session.memory().upkeep.info().bytes if session.has_memory() else None
    parts = [session.settings.namespace, size(taken) if taken else "", tilde(session.settings.store)]
    return f" {session.out.symbols.dot} ".join(filter(None, parts))


def _quoted(session: Session) -> str:
    return f'"{session.out.symbols.more}"'


def _largest_first(counts: Any) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _document(session: Session, counts: Counts | None, found: Sequence[Found]) -> dict[str, Any]:
    tasks = task_counts(session.memory(), counts) if counts else dict.fromkeys(STATES, 0)
    return {
        "store": str(session.settings.store),
        "namespace": session.settings.namespace,
        "bytes": (session.memory().upkeep.info().bytes or None) if counts else 0,
        "conversations": counts.conversations if counts else 0,
        "messages": counts.messages if counts else 0,
        "sources": dict(counts.by_source) if counts else {},
        "first": iso(counts.first) if counts else None,
        "last": iso(counts.last) if counts else None,
        "last_import": iso(session.state.last_import()),
        "quality": {"made": counts.quality if counts else 0, "wanted": counts.said_passages if counts else 0},
        "worker": {"working": is_at_work(session), **tasks},
        "index": {"rebuilding": counts is not None and session.memory().upkeep.index().building is not None},
        "paused": bool(pause_words()),
        "found": [found_as_json(one) for one in found],
        "expiring": _expiring(session, found),
    }
