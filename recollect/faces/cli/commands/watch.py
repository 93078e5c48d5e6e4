"""`recollect watch`: follows agents' sessions and folders of exports, and imports what is new within seconds."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.faces.cli.parser import Arguments, Command, Option
from recollect.faces.cli.terminal.options import NO_BACKGROUND
from recollect.faces.cli.terminal.session import Invocation
from recollect.faces.cli.views.following import alone, as_json, named, tell
from recollect.faces.cli.views.pausing import tell_pause

if TYPE_CHECKING:
    from recollect.ingest.importing import Progress
    from recollect.watching.watcher import Watcher


def watch(
    session: Invocation, folders: list[str] | None = None, once: bool = False, no_background: bool = False
) -> int:
    """Follow the sessions of Claude Code and Codex, and import what is new within seconds.

    Without FOLDER it follows the folders where they keep their sessions; a FOLDER may also be one that exports are
    saved to. Works until you interrupt it, or with --once until everything is imported that is there now. It can be
    stopped or killed at any time: the next run goes on from there. Sessions that a memory tool holds with itself are
    left out, and so is what you keep out: folders of the setting leave_out, sessions marked with RECOLLECT_RECORD=no,
    and what is said while recording is paused (recollect pause).
    """
    from recollect.faces.cli.terminal.interrupted import interrupted
    from recollect.watching.folders import watched_folders
    from recollect.watching.keeping_out import KeepingOut
    from recollect.watching.kept import ImportedFiles
    from recollect.watching.watcher import Watcher

    if no_background:
        session.without_background()
    watched = watched_folders(folders or (), Path.home(), os.environ)
    memory = session.memory()
    kept = ImportedFiles(session.places.state, session.store, memory.namespace)
    keeping_out = KeepingOut.own(session.settings.leave_out)
    if once:
        return _once(session, lambda progress: Watcher(memory, watched, kept, keeping_out, progress=progress))
    with alone(session), interrupted() as stop:
        if not session.json:
            session.out.note(f"Following {named(watched)}. Ctrl-C to stop.")
        tell_pause(session)
        Watcher(memory, watched, kept, keeping_out).run(stop, lambda done: tell(session, memory, done))
    return 0


def _once(session: Invocation, make: Callable[[Callable[[Progress], None]], Watcher]) -> int:
    from recollect.faces.cli.terminal.progress import on_interrupt, progress
    from recollect.faces.present.times import number

    with on_interrupt("What was imported is saved; run it again to continue."), progress(session.out, "Reading") as bar:

        def told(p: Progress) -> None:
            bar(p.read, p.total, f"{number(p.conversations, 'conversation')}   {number(p.messages, 'message')}")

        done = make(told).round(patient=False)
    if session.json:
        session.out.document(as_json(done))
    else:
        tell(session, session.memory(), done)
        if not done and not tell_pause(session):
            session.out.line("Nothing new.")
    if done.failed:
        raise done.failed[0]
    return 0


COMMAND = Command(
    watch,
    ("recollect watch", "recollect watch ~/exports", "recollect watch --once"),
    (
        Option(("--once",), "Import what is there now, and end.", default=False),
        NO_BACKGROUND,
    ),
    Arguments("FOLDER", "folders", several=True),
)
