"""`recollect watch`: follows agents' sessions and folders of exports, and imports what is new within seconds."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import StoreBusy
from recollect.faces.cli.options import NO_BACKGROUND
from recollect.faces.cli.parser import Command, Option, Words
from recollect.faces.cli.session import Session

if TYPE_CHECKING:
    from recollect.importing import Progress
    from recollect.ingest.conversations import Written
    from recollect.watching.folders import Watched
    from recollect.watching.watcher import Round, Watcher

_PROBLEMS = 3  # that are printed of a round


def watch(session: Session, folders: list[str] | None = None, once: bool = False, no_background: bool = False) -> int:
    """Follow the sessions of Claude Code and Codex, and import what is new within seconds.

    Without FOLDER it follows the folders where they keep their sessions; a FOLDER may also be one that exports are
    saved to. Works until you interrupt it, or with --once until everything is imported that is there now. It can be
    stopped or killed at any time: the next run goes on from there. Sessions that a memory tool holds with itself are
    left out.
    """
    from recollect.faces.cli.interrupted import interrupted
    from recollect.watching.folders import watched_folders
    from recollect.watching.kept import Kept
    from recollect.watching.watcher import Watcher

    if no_background:
        session.without_background()
    watched = watched_folders(folders or (), Path.home(), os.environ)
    memory = session.memory()
    kept = Kept(session.places.state, session.store, memory.namespace)
    if once:
        return _once(session, lambda progress: Watcher(memory, watched, kept, progress=progress))
    with _alone(session), interrupted() as stop:
        if not session.json:
            session.out.note(f"Following {_named(watched, session)}. Ctrl-C to stop.")
        Watcher(memory, watched, kept).run(stop, lambda done: _tell(session, done))
    return 0


def _once(session: Session, make: Callable[[Callable[[Progress], None]], Watcher]) -> int:
    from recollect.faces.cli.progress import on_interrupt, progress
    from recollect.faces.cli.times import number

    with on_interrupt("What was imported is saved; run it again to continue."), progress(session.out, "Reading") as bar:

        def told(p: Progress) -> None:
            bar(p.read, p.total, f"{number(p.conversations, 'conversation')}   {number(p.messages, 'message')}")

        done = make(told).round(patient=False)
    if session.json:
        session.out.document(_as_json(done))
    else:
        _tell(session, done)
        if not done:
            session.out.line("Nothing new.")
    if done.failed:
        raise done.failed[0]
    return 0


@contextmanager
def _alone(session: Session) -> Iterator[None]:
    """One of these a store is enough. Raises StoreBusy."""
    from recollect.background.lock import AVAILABLE, Lock, Taken, holder, lock_file

    if not AVAILABLE:
        yield
        return
    path = lock_file(session.store, session.places.state)
    path = path.with_name(path.name.replace("-worker", "-watch").replace("worker-", "watch-"))
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with Lock(path):
            yield
    except Taken:
        raise StoreBusy(
            f"recollect watch is running already, as process {holder(path) or '?'}.",
            hint="To look once beside it: recollect watch --once",
        ) from None


def _named(watched: list[Watched], session: Session) -> str:
    from recollect.faces.cli.status import tilde

    there = [one for one in watched if one.path.is_dir()] or watched
    return ", ".join(f"{one.label} ({tilde(one.path)})" for one in there)


def _tell(session: Session, done: Round) -> None:
    from recollect.faces.cli.output import harmless
    from recollect.faces.cli.times import clock, number
    from recollect.record import utc_now

    out = session.out
    if session.json:
        out.piece(json.dumps(_as_json(done), ensure_ascii=False) + "\n")
        return
    for taken in done.taken:
        if taken.brings:
            out.piece(f"{out.dim(clock(utc_now()))}  {taken.label}  {_brought(session, taken.report.written)}\n")
    if done.left_out:
        out.line(out.dim(f"Left out {number(done.left_out, 'session')} of memory tools."))
    for problem in done.problems[:_PROBLEMS]:
        out.note(harmless(f"{'Not read' if problem.lost else 'Partly read'}: {problem.place}   {problem.reason}"))
    if len(done.problems) > _PROBLEMS:
        out.note(f"{out.symbols.more} and {len(done.problems) - _PROBLEMS:,} more.")
    for failure in done.failed:
        out.note(harmless(f"{failure} It is tried again."))


def _brought(session: Session, written: Written) -> str:
    """As in "Fix the login: 3 messages", "12 conversations (10 new): 340 messages"."""
    from recollect.faces.cli.names import titled
    from recollect.faces.cli.output import harmless
    from recollect.faces.cli.times import number

    messages = number(written.messages, "message")
    one = session.memory().conversation_named(next(iter(written.ids))) if len(written.ids) == 1 else None
    if one is not None:
        return f"{harmless(titled(one.title))}: {messages}"
    new = f" ({written.new:,} new)" if written.new else ""
    return f"{number(written.new + written.changed, 'conversation')}{new}: {messages}"


def _as_json(done: Round) -> dict[str, Any]:
    """What a round came to (docs/reference/json.md)."""
    return {
        "taken": [
            {
                "label": taken.label,
                "sources": [source.label for source in taken.report.sources],
                "new": taken.report.written.new,
                "changed": taken.report.written.changed,
                "same": taken.report.written.same,
                "messages": taken.report.written.messages,
                "seconds": round(taken.seconds, 3),
            }
            for taken in done.taken
        ],
        "left_out": done.left_out,
        "problems": [{"place": p.place, "reason": p.reason, "lost": p.lost} for p in done.problems],
        "failed": [str(failure) for failure in done.failed],
    }


COMMAND = Command(
    watch,
    ("recollect watch", "recollect watch ~/exports", "recollect watch --once"),
    (
        Option(("--once",), "Import what is there now, and end.", default=False),
        NO_BACKGROUND,
    ),
    Words("FOLDER", "folders", several=True),
)
