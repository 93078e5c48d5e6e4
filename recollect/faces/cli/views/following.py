"""Following folders of sessions, as `recollect watch` does it and `recollect serve --watch`."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import RecollectError, StoreBusy
from recollect.faces.cli.terminal.session import Session

if TYPE_CHECKING:
    from recollect.ingest.conversations import Written
    from recollect.memory import Memory
    from recollect.watching.folders import Watched
    from recollect.watching.watcher import Round

_PROBLEMS = 3  # that are printed of a round


@contextmanager
def followed(session: Session) -> Iterator[threading.Event]:
    """Follows the agents' folders in a thread of its own; ended by the event that it gives, at the latest at the end of
    the `with`, which waits for what is being imported. Raises StoreBusy where somebody follows them already.
    """
    from recollect.watching.folders import watched_folders
    from recollect.watching.keeping_out import KeepingOut
    from recollect.watching.kept import Kept
    from recollect.watching.watcher import Watcher

    stop, watched = threading.Event(), watched_folders((), Path.home(), os.environ)

    def follow() -> None:
        try:
            with session.another_memory() as memory:
                kept = Kept(session.places.state, session.store, memory.namespace)
                keeping_out = KeepingOut.own(session.settings.leave_out)
                Watcher(memory, watched, kept, keeping_out).run(stop, lambda done: _tell_people(session, memory, done))
        except (RecollectError, OSError) as problem:
            session.out.note(f"No session is followed any more: {problem}")

    with alone(session):
        thread = threading.Thread(target=follow, name="recollect-watch", daemon=True)
        thread.start()
        if not session.json:
            session.out.note(f"Following {named(watched)}.")
        try:
            yield stop
        finally:
            stop.set()
            thread.join()


def _tell_people(session: Session, memory: Memory, done: Round) -> None:
    """Says what a round came to, unless a program reads what is said: the server's document was all."""
    if not session.json:
        tell(session, memory, done)


@contextmanager
def alone(session: Session) -> Iterator[None]:
    """One of these a store is enough. Raises StoreBusy."""
    from recollect.memory.background.lock import AVAILABLE, Lock, Taken, holder, lock_file

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
            f"Sessions are followed into this memory already, by process {holder(path) or '?'}.",
            hint="To look once beside it: recollect watch --once",
        ) from None


def named(watched: list[Watched]) -> str:
    """The folders that are followed, in words."""
    from recollect.faces.present.found import tilde

    there = [one for one in watched if one.path.is_dir()] or watched
    return ", ".join(f"{one.label} ({tilde(one.path)})" for one in there)


def tell(session: Session, memory: Memory, done: Round) -> None:
    """Says what a round came to."""
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.present.times import clock, number
    from recollect.record import utc_now

    out = session.out
    if session.json:
        out.verbatim(json.dumps(as_json(done), ensure_ascii=False))
        return
    for taken in done.taken:
        if taken.brings:
            out.piece(f"{out.dim(clock(utc_now()))}  {taken.label}  {_brought(memory, taken.report.written)}\n")
    if done.left_out:
        out.line(out.dim(f"Left out {number(done.left_out, 'session')} of memory tools."))
    if done.kept_out:
        out.line(out.dim(f"Kept out {number(done.kept_out, 'file')} (leave_out, or marked as not to be recorded)."))
    for problem in done.problems[:_PROBLEMS]:
        out.note(harmless(f"{'Not read' if problem.lost else 'Partly read'}: {problem.place}   {problem.reason}"))
    if len(done.problems) > _PROBLEMS:
        out.note(f"{out.symbols.more} and {len(done.problems) - _PROBLEMS:,} more.")
    for failure in done.failed:
        out.note(harmless(f"{failure} It is tried again."))


def _brought(memory: Memory, written: Written) -> str:
    """As in "Fix the login: 3 messages", "12 conversations (10 new): 340 messages"."""
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.present.names import titled
    from recollect.faces.present.times import number

    messages = number(written.messages, "message")
    one = memory.integration.conversation_named(next(iter(written.ids))) if len(written.ids) == 1 else None
    if one is not None:
        return f"{harmless(titled(one.title))}: {messages}"
    new = f" ({written.new:,} new)" if written.new else ""
    return f"{number(written.new + written.changed, 'conversation')}{new}: {messages}"


def as_json(done: Round) -> dict[str, Any]:
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
        "kept_out": done.kept_out,
        "problems": [{"place": p.place, "reason": p.reason, "lost": p.lost} for p in done.problems],
        "failed": [str(failure) for failure in done.failed],
    }
