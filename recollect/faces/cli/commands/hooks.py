"""`recollect hooks`: has Claude Code call Recollect itself, so that no session expires unsaved."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.faces.cli.parser import Command, Option, Words
from recollect.faces.cli.terminal.session import Session

if TYPE_CHECKING:
    from recollect.faces.cli.setup.edited import Edit
    from recollect.watching.hook_event import HookEvent

_ACTIONS = ("install", "remove", "run")


def hooks(session: Session, action: str | None = None, project: bool = False, print_: bool = False) -> int:
    """Have Claude Code save its sessions here, and begin them with what matters.

    `install` adds three hooks to Claude Code's settings: at the end of a session and before it is compacted, what is
    new is imported; at the start, Claude gets `recollect brief` of the folder. What else stands in the settings is left
    as it is, a copy is kept, and the change is shown; --print only shows it. `remove` takes the hooks out again.
    A session that begins with RECOLLECT_RECORD=no in its environment is not saved, then or later.

    Without ACTION it says whether they are there. Claude Code itself calls `run`.
    """
    if action == "run":
        return _run(session)
    if action not in (None, *_ACTIONS):
        raise InvalidInput(f"{action!r} is not an action.", hint=f"Use one of: {', '.join(_ACTIONS)}.")
    path = _settings_file(project=project)
    if action is None:
        return _show(session, path)
    from recollect.faces.cli.setup.edited import edit_of
    from recollect.faces.cli.setup.own_command import shell_line
    from recollect.watching.claude_hooks import with_hooks, without_hooks

    command = shell_line(session.settings, "hooks", "run")
    edit = edit_of(path, (lambda s: with_hooks(s, command)) if action == "install" else without_hooks)
    return _apply(session, edit, action, write=not print_)


def _settings_file(*, project: bool) -> Path:
    """Claude Code's settings of the user, or those of the folder that are not shared with others."""
    from recollect.importers.found import claude_folders

    if project:
        return Path.cwd() / ".claude" / "settings.local.json"
    folders = claude_folders(Path.home(), os.environ)
    return next((folder for folder in folders if folder.is_dir()), folders[0]) / "settings.json"


def _show(session: Session, path: Path) -> int:
    from recollect.faces.cli.setup.edited import values_in
    from recollect.faces.present.found import tilde
    from recollect.watching.claude_hooks import EVENTS, events_hooked

    told = events_hooked(values_in(path)[1])
    whole = set(told) >= set(EVENTS)
    if session.json:
        session.out.document({"settings": str(path), "events": told, "installed": whole})
    elif whole:
        session.out.line(f"Claude Code calls Recollect: {', '.join(told)} in {tilde(path)}.")
        session.out.line(session.out.hint("To take the hooks out again: recollect hooks remove"))
    else:
        some = f"only at {', '.join(told)}" if told else "not yet"
        session.out.line(f"Claude Code calls Recollect: {some} ({tilde(path)}).")
        session.out.line(session.out.hint("To see what would be written: recollect hooks install --print"))
        session.out.line(session.out.hint("To write it:                  recollect hooks install"))
    return 0


def _apply(session: Session, edit: Edit, action: str, *, write: bool) -> int:
    from recollect.faces.cli.setup.files import write_keeping
    from recollect.faces.present.found import tilde
    from recollect.record import utc_now

    changes = edit.changes
    copy = write_keeping(edit.path, edit.before, edit.after, utc_now()) if write and changes else None
    out = session.out
    if session.json:
        session.out.document(
            {
                "settings": str(edit.path),
                "changed": write and changes,
                "copy": str(copy) if copy else None,
                "diff": list(edit.lines),
            }
        )
        return 0
    if not changes:
        out.line(f"Nothing to change in {tilde(edit.path)}.")
        return 0
    out.line(f"{'Wrote' if write else 'Would write'} {tilde(edit.path)}:")
    for line in edit.lines:
        out.verbatim(f"  {line}")
    if copy:
        out.line(f"As it was: {tilde(copy)}")
    if write and action == "install":
        out.line("Sessions that Claude Code begins from now on use it.")
    return 0


def _run(session: Session) -> int:
    """What a hook does. Whatever it raises is noted in a log by whoever runs it, and the exit code is 0."""
    from recollect.watching.hook_event import read_event

    event = None if sys.stdin.isatty() else read_event(sys.stdin.buffer.read())
    if event is None:
        raise InvalidInput("There is no event of Claude Code on standard input.", hint="It calls this itself.")
    try:
        _mark(event)  # first: whatever goes wrong later, it is kept out
        if event.wants_brief:
            _print_brief(session, event)
        _take_in(session, event)
    except BaseException as problem:
        problem.add_note(event.name)
        raise
    return 0


def _print_brief(session: Session, event: HookEvent) -> None:
    from recollect.watching.memory_tools import runs_in_a_tool

    if event.folder is None or runs_in_a_tool(str(event.folder)) or not session.has_memory():
        return
    memory = session.memory()
    brief = memory.brief(event.folder)
    if brief.text:
        session.out.verbatim(brief.text)
        memory.integration.record_request("hook", brief.parts, text=str(event.folder))


def _mark(event: HookEvent) -> None:
    """Keeps the session out where it is marked. A mark that is neither yes nor no is one: whoever sets it means
    something, and nobody reads in time that it is not understood.
    """
    from recollect.memory.recording import is_marked
    from recollect.watching.keeping_out import KeepingOut

    marked = True
    try:
        marked = is_marked(os.environ)
    finally:
        if marked and event.session:
            KeepingOut.own(()).mark(event.session)


def _take_in(session: Session, event: HookEvent) -> None:
    """Imports what is new in the project's folder: in a process that outlives this one, since Claude Code waits for a
    hook and, at the end of a session, not for long. Where nothing may be left behind, here.
    """
    from recollect.memory.background.process import environment_of, leave_behind
    from recollect.watching.folders import Watched
    from recollect.watching.keeping_out import KeepingOut
    from recollect.watching.kept import Kept
    from recollect.watching.watcher import Watcher

    folder, settings = event.transcripts, session.settings
    keeping_out = KeepingOut.own(settings.leave_out)
    if folder is None or not folder.is_dir() or keeping_out.is_paused:
        return
    session.close()
    if settings.background:
        environment = environment_of(session.store, settings.embedder, durable=settings.durable)
        named: dict[str, Any] = {"RECOLLECT_NAMESPACE": settings.namespace}
        session.places.state.mkdir(parents=True, exist_ok=True, mode=0o700)
        log = str(session.places.state / "hooks.log")
        if leave_behind(["-m", "recollect", "watch", "--once", str(folder)], environment | named, log):
            return
    memory = session.memory()
    kept = Kept(session.places.state, session.store, memory.namespace)
    done = Watcher(memory, [Watched("Claude Code", folder)], kept, keeping_out).round(patient=False)
    if done.failed:
        raise done.failed[0]


COMMAND = Command(
    hooks,
    ("recollect hooks", "recollect hooks install --print", "recollect hooks install", "recollect hooks remove"),
    (
        Option(("--project",), "Only in this folder: .claude/settings.local.json.", default=False),
        Option(("--print",), "Show the change, and write nothing.", name="print_", default=False),
    ),
    Words("ACTION", "action", values=_ACTIONS),
)
