"""`recollect watch`, `hooks`, `pause` and `resume`: what is recorded without being told to."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput, RecollectError, StoreBusy
from recollect.faces.cli.invocation import Invocation, interrupted, reading
from recollect.faces.cli.output import harmless
from recollect.faces.cli.parser import NO_BACKGROUND, Arguments, Command, Option
from recollect.faces.present.names import clock, duration, number, titled
from recollect.faces.present.views import as_json
from recollect.record import iso, utc_now

if TYPE_CHECKING:
    from recollect.faces.cli.setup.edited import SettingsEdit
    from recollect.ingest.conversations import WrittenThreads
    from recollect.ingest.importing import Progress
    from recollect.memory import Memory
    from recollect.watching.hooks import HookEvent
    from recollect.watching.imported_files import Watched
    from recollect.watching.watcher import Round, Watcher


_PROBLEMS = 3  # that are printed of a round


@contextmanager
def followed(run: Invocation) -> Iterator[threading.Event]:
    """Follows the agents' folders in a thread of its own; ended by the event that it gives, at the latest at the end of
    the `with`, which waits for what is being imported. Raises StoreBusy where somebody follows them already.
    """
    from recollect.watching.imported_files import watched_folders

    stop, watched = threading.Event(), watched_folders((), Path.home(), os.environ)

    def follow() -> None:
        try:
            with run.another_memory() as memory:
                _watcher(run, memory, watched).run(stop, lambda done: _tell_people(run, memory, done))
        except (RecollectError, OSError) as problem:
            run.out.note(f"Sessions are no longer followed: {problem}")

    with only_follower(run):
        thread = threading.Thread(target=follow, name="recollect-watch", daemon=True)
        thread.start()
        if not run.json:
            run.out.note(f"Following {folders_named(watched)}.")
        try:
            yield stop
        finally:
            stop.set()
            thread.join()


def _tell_people(run: Invocation, memory: Memory, done: Round) -> None:
    """Says what a round came to, unless a program reads what is said: the server's document was all."""
    if not run.json:
        print_round(run, memory, done)


@contextmanager
def only_follower(run: Invocation) -> Iterator[None]:
    """One of these a store is enough. Raises StoreBusy."""
    from recollect.memory.background.process import AVAILABLE, Lock, Taken, holder, lock_file

    if not AVAILABLE:
        yield
        return
    path = lock_file(run.store, run.places.state)
    path = path.with_name(path.name.replace("-worker", "-watch").replace("worker-", "watch-"))
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with Lock(path):
            yield
    except Taken:
        raise StoreBusy(
            f"Another process already follows sessions into this memory: {holder(path) or '?'}.",
            hint="To import once meanwhile: recollect watch --once",
        ) from None


def folders_named(watched: list[Watched]) -> str:
    """The folders that are followed, in words."""
    from recollect.faces.present.status import tilde

    there = [one for one in watched if one.path.is_dir()] or watched
    return ", ".join(f"{one.label} ({tilde(one.path)})" for one in there)


def print_round(run: Invocation, memory: Memory, done: Round) -> None:
    """Says what a round came to."""
    out = run.out
    if run.json:
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


def _brought(memory: Memory, written: WrittenThreads) -> str:
    """As in "Fix the login: 3 messages", "12 conversations (10 new): 340 messages"."""
    messages = number(written.messages, "message")
    one = memory.integration.conversation_named(next(iter(written.ids))) if len(written.ids) == 1 else None
    if one is not None:
        return f"{harmless(titled(one.title))}: {messages}"
    new = f" ({written.new:,} new)" if written.new else ""
    return f"{number(written.new + written.changed, 'conversation')}{new}: {messages}"


_ACTIONS = ("install", "remove", "run")


def hooks(run: Invocation, action: str | None = None, project: bool = False, print_: bool = False) -> int:
    """Let Claude Code save its sessions here and start each with a briefing.

    `install` adds three hooks to Claude Code's settings: at the end of a session and before it is compacted, what is
    new is imported; at the start, Claude gets `recollect brief` of the folder. What else stands in the settings is left
    as it is, a copy is kept, and the change is shown; --print only shows it. `remove` takes the hooks out again.
    A session that begins with RECOLLECT_RECORD=no in its environment is not saved, then or later.

    Without ACTION it says whether they are there. Claude Code itself calls `run`.
    """
    if action == "run":
        return _run(run)
    if action not in (None, *_ACTIONS):
        raise InvalidInput(f"{action!r} is not an action.", hint=f"Use one of: {', '.join(_ACTIONS)}.")
    path = _settings_file(project=project)
    if action is None:
        return _show(run, path)
    from recollect.faces.cli.setup.edited import edit_of
    from recollect.faces.cli.setup.launch import shell_line
    from recollect.watching.hooks import with_hooks, without_hooks

    command = shell_line(run.settings, "hooks", "run")
    edit = edit_of(path, (lambda s: with_hooks(s, command)) if action == "install" else without_hooks)
    return _apply(run, edit, action, write=not print_)


def _settings_file(*, project: bool) -> Path:
    """Claude Code's settings of the user, or those of the folder that are not shared with others."""
    from recollect.importers.found import claude_folders

    if project:
        return Path.cwd() / ".claude" / "settings.local.json"
    folders = claude_folders(Path.home(), os.environ)
    return next((folder for folder in folders if folder.is_dir()), folders[0]) / "settings.json"


def _show(run: Invocation, path: Path) -> int:
    from recollect.faces.cli.setup.edited import values_in
    from recollect.faces.present.status import tilde
    from recollect.watching.hooks import EVENTS, events_hooked

    told = events_hooked(values_in(path)[1])
    whole = set(told) >= set(EVENTS)
    if run.json:
        run.out.document({"settings": str(path), "events": told, "installed": whole})
    elif whole:
        run.out.line(f"Claude Code calls Recollect: {', '.join(told)} in {tilde(path)}.")
        run.out.line(run.out.hint("To take the hooks out again: recollect hooks remove"))
    else:
        state = f"installed only for {', '.join(told)}" if told else "not installed"
        run.out.line(f"Hooks are {state} ({tilde(path)}).")
        run.out.line(run.out.hint("To see what would be written: recollect hooks install --print"))
        run.out.line(run.out.hint("To write it:                  recollect hooks install"))
    return 0


def _apply(run: Invocation, edit: SettingsEdit, action: str, *, write: bool) -> int:
    from recollect.faces.cli.setup.edited import write_keeping
    from recollect.faces.present.status import tilde

    changes = edit.changes
    copy = write_keeping(edit.path, edit.before, edit.after, utc_now()) if write and changes else None
    out = run.out
    if run.in_json(
        lambda: {
            "settings": str(edit.path),
            "changed": write and changes,
            "copy": str(copy) if copy else None,
            "diff": list(edit.lines),
        }
    ):
        return 0
    if not changes:
        out.line(f"Nothing to change in {tilde(edit.path)}.")
        return 0
    out.line(f"{'Wrote' if write else 'Would write'} {tilde(edit.path)}:")
    for line in edit.lines:
        out.verbatim(f"  {line}")
    if copy:
        out.line(f"Backup: {tilde(copy)}")
    if write and action == "install":
        out.line("Sessions that Claude Code begins from now on use it.")
    return 0


def _run(run: Invocation) -> int:
    """What a hook does. Whatever it raises is noted in a log by whoever runs it, and the exit code is 0."""
    from recollect.watching.hooks import read_event

    event = None if sys.stdin.isatty() else read_event(sys.stdin.buffer.read())
    if event is None:
        raise InvalidInput("`recollect hooks run` expects an event on standard input.", hint="Claude Code calls it.")
    try:
        _mark(event)  # first: whatever goes wrong later, it is kept out
        if event.wants_brief:
            _print_brief(run, event)
        _take_in(run, event)
    except BaseException as problem:
        problem.add_note(event.name)
        raise
    return 0


def _print_brief(run: Invocation, event: HookEvent) -> None:
    from recollect.watching.exclusions import runs_in_a_tool

    if event.folder is None or runs_in_a_tool(str(event.folder)) or not run.has_memory():
        return
    memory = run.memory()
    brief = memory.brief(event.folder)
    if brief.text:
        run.out.verbatim(brief.text)
        memory.integration.record_request("hook", brief.parts, text=str(event.folder))


def _mark(event: HookEvent) -> None:
    """Keeps the session out where it is marked. A mark that is neither yes nor no is one: whoever sets it means
    something, and nobody reads in time that it is not understood.
    """
    from recollect.memory.recording import is_marked
    from recollect.watching.exclusions import KeepingOut

    marked = True
    try:
        marked = is_marked(os.environ)
    finally:
        if marked and event.session:
            KeepingOut.own(()).mark(event.session)


def _take_in(run: Invocation, event: HookEvent) -> None:
    """Imports what is new in the project's folder: in a process that outlives this one, since Claude Code waits for a
    hook and, at the end of a session, not for long. Where nothing may be left behind, here.
    """
    from recollect.memory.background.process import environment_of, leave_behind
    from recollect.watching.exclusions import KeepingOut
    from recollect.watching.imported_files import Watched

    folder, settings = event.transcripts, run.settings
    if folder is None or not folder.is_dir() or KeepingOut.own(settings.leave_out).is_paused:
        return
    run.close()
    if settings.background:
        environment = environment_of(run.store, settings.embedder, durable=settings.durable)
        named: dict[str, Any] = {"RECOLLECT_NAMESPACE": settings.namespace}
        run.places.state.mkdir(parents=True, exist_ok=True, mode=0o700)
        log = str(run.places.state / "hooks.log")
        if leave_behind(["-m", "recollect", "watch", "--once", str(folder)], environment | named, log):
            return
    done = _watcher(run, run.memory(), [Watched("Claude Code", folder)]).round(patient=False)
    if done.failed:
        raise done.failed[0]


HOOKS = Command(
    hooks,
    ("recollect hooks", "recollect hooks install --print", "recollect hooks install", "recollect hooks remove"),
    (
        Option(("--project",), "Only in this folder: .claude/settings.local.json.", default=False),
        Option(("--print",), "Show the change, and write nothing.", name="print_", default=False),
    ),
    Arguments("ACTION", "action", values=_ACTIONS),
)


_UNITS = {"m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LENGTH = re.compile(r"(\d{1,5})\s*(m|min|minutes?|h|hours?|d|days?|w|weeks?)", re.IGNORECASE)


def pause(run: Invocation, length: list[str]) -> int:
    """Record nothing until you resume, or for a time: 30m, 2h, 3 days.

    It holds at once for all that records by itself on this machine, in all memories and namespaces: `watch`, the hooks,
    `import --found`, the proxy, wrapped clients, and what models remember over MCP. What is said meanwhile stays out
    after the pause too, though the session goes on. What you record yourself is stored as ever: `import PATH`,
    `remember`, `chat`.
    """
    from recollect.faces.present.status import until
    from recollect.memory.recording import Recording

    begun = Recording.own().pause(_end(length, utc_now()))
    run.show(
        lambda: {"paused": True, "until": iso(begun.ends)},
        f"Recording is paused {until(begun)}. {run.out.hint('To go on: recollect resume')}",
    )
    return 0


def _end(words: list[str], now: datetime) -> datetime | None:
    """Raises InvalidInput for what is no length of time."""
    if not words:
        return None
    length = " ".join(words)
    found = _LENGTH.fullmatch(length.strip())
    if found is None or not int(found[1]):
        raise InvalidInput(f"{length!r} is not a length of time.", hint="Use 30m, 2h, 3d or 1w.")
    unit = found[2].lower()
    name = _UNITS.get(unit) or f"{unit.rstrip('s')}s"
    return now + timedelta(**{name: int(found[1])})


PAUSE = Command(
    pause,
    ("recollect pause", "recollect pause 2h"),
    words=Arguments("FOR", "length", several=True),
)


def resume(run: Invocation) -> int:
    """Record again. What was said during the pause stays out."""
    from recollect.memory.recording import Recording

    ended = Recording.own().resume()
    if run.json:
        run.out.document({"resumed": ended is not None, "began": iso(ended.began) if ended else None})
    elif ended is None or ended.ends is None:
        run.out.line("Recording was not paused.")
    else:
        length = duration(ended.ends - ended.began)
        run.out.line(f"Recording again. What was said in the {length} of the pause stays out.")
    return 0 if ended else 1


RESUME = Command(resume, ("recollect resume",))


def print_pause(run: Invocation) -> bool:
    """Says so where nothing is recorded now; whether that is so."""
    from recollect.faces.present.status import pause_words

    words = pause_words()
    if words and not run.json:
        hint = "" if "=no" in words else f" {run.out.hint('To go on: recollect resume')}"
        run.out.line(words + hint)
    return bool(words)


def watch(run: Invocation, folders: list[str] | None = None, once: bool = False, no_background: bool = False) -> int:
    """Follow the sessions of Claude Code and Codex, and import what is new within seconds.

    Without FOLDER it follows the folders where they keep their sessions; a FOLDER may also be one that exports are
    saved to. Works until you interrupt it, or with --once until everything is imported that is there now. It can be
    stopped or killed at any time: the next run goes on from there. Sessions that a memory tool holds with itself are
    left out, and so is what you keep out: folders of the setting leave_out, sessions marked with RECOLLECT_RECORD=no,
    and what is said while recording is paused (recollect pause).
    """
    from recollect.watching.imported_files import watched_folders

    if no_background:
        run.without_background()
    watched = watched_folders(folders or (), Path.home(), os.environ)
    memory = run.memory()
    if once:
        return _once(run, memory, watched)
    with only_follower(run), interrupted() as stop:
        if not run.json:
            run.out.note(f"Following {folders_named(watched)}. Ctrl-C to stop.")
        print_pause(run)
        _watcher(run, memory, watched).run(stop, lambda done: print_round(run, memory, done))
    return 0


def _watcher(
    run: Invocation, memory: Memory, watched: Sequence[Watched], progress: Callable[[Progress], None] | None = None
) -> Watcher:
    """Follows folders into a memory, without what the settings, marks and pauses keep out."""
    from recollect.watching.exclusions import KeepingOut
    from recollect.watching.imported_files import ImportedFiles
    from recollect.watching.watcher import Watcher

    kept = ImportedFiles(run.places.state, run.store, memory.namespace)
    return Watcher(memory, watched, kept, KeepingOut.own(run.settings.leave_out), progress=progress)


def _once(run: Invocation, memory: Memory, watched: Sequence[Watched]) -> int:
    with reading(run.out) as report:
        done = _watcher(run, memory, watched, report).round(patient=False)
    if not run.in_json(lambda: done):
        print_round(run, run.memory(), done)
        if not done and not print_pause(run):
            run.out.line("Nothing new.")
    if done.failed:
        raise done.failed[0]
    return 0


WATCH = Command(
    watch,
    ("recollect watch", "recollect watch ~/exports", "recollect watch --once"),
    (
        Option(("--once",), "Import what is there now, and end.", default=False),
        NO_BACKGROUND,
    ),
    Arguments("FOLDER", "folders", several=True),
)
