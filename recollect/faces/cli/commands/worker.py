"""`recollect worker`: does in the foreground what is otherwise done in the background."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput, NotFound, StoreBusy
from recollect.faces.cli.parser import Command, Option
from recollect.faces.cli.terminal.interrupted import interrupted
from recollect.faces.cli.terminal.session import Session
from recollect.faces.cli.views.advice import is_at_work
from recollect.faces.cli.views.backlog import show_backlog, tell_backlog

if TYPE_CHECKING:
    from recollect.derive.shift import Done
    from recollect.faces.cli.terminal.progress import Report
    from recollect.memory import Memory


def worker(
    session: Session,
    once: bool = False,
    rebuild: bool = False,
    stop: bool = False,
    dry_run: bool = False,
    model: str | None = None,
) -> int:
    """Make summaries, facts and quality vectors of what is new.

    Works until you interrupt it, or with --once until nothing is left to do; in all namespaces, or in the one that
    --namespace names. --once exits with 1 if tasks have failed for good. --rebuild derives everything anew from the
    messages; what you corrected stays. You rarely need this: importing and writing leave a worker behind that does the
    same in the background and ends by itself. Several workers can run at the same time, also on several machines.
    """
    if stop:
        if once or rebuild or model or dry_run:
            raise InvalidInput("--stop cannot be combined with other options.", hint="Leave out one of them.")
        return _stop(session)
    if model is not None:
        session.ask_model(model, now=not dry_run)
    session.without_background()
    memory = session.existing_memory()
    names = [session.chosen_namespace] if session.chosen_namespace else None
    there = [str(name) for name in memory.upkeep.namespaces()]
    if names and names[0] not in there:
        raise NotFound(f"There is no namespace {names[0]} in this memory.", hint=f"There are: {', '.join(there)}.")
    wanted = names or there
    if dry_run and rebuild:
        raise InvalidInput("--dry-run cannot be combined with --rebuild.", hint="Leave out one of them.")
    if dry_run:
        return show_backlog(session, memory, wanted)
    tell_backlog(session, memory, wanted)
    with _alone(session), interrupted() as told, _progress(session) as report:
        if not once and not session.json:
            session.out.note("Working. Ctrl-C to stop.")
        done = memory.upkeep.work(namespaces=names, once=once, again=rebuild, stop=told, progress=report)
    if session.json:
        session.out.document(_as_json(done))
    elif done or not told.is_set():
        _print(session, done)
    if once and told.is_set():
        raise KeyboardInterrupt(session.out.hint("Progress is saved. To continue: recollect worker --once"))
    return 1 if once and _has_failed(memory, wanted) else 0


def _has_failed(memory: Memory, names: Sequence[str]) -> bool:
    """Whether a task has failed for good, now or before; what is repeated later has not."""
    for name in names:
        with memory.beside(name) as one:
            if one.upkeep.stats().tasks.get("dead"):
                return True
    return False


def _stop(session: Session) -> int:
    from recollect.memory.background.process import stop

    was = is_at_work(session)
    if not stop(session.store, where=session.places):
        raise StoreBusy("The background worker has not stopped yet.", hint="It ends after what it is doing now.")
    if session.json:
        session.out.document({"stopped": was})
    else:
        session.out.line("Stopped the background worker." if was else "No background worker is running.")
    return 0


@contextmanager
def _alone(session: Session) -> Iterator[None]:
    """No worker is started in the background meanwhile. One that is there already stays: they share the work."""
    from recollect.memory.background.lock import AVAILABLE, Lock, Taken, lock_file

    with ExitStack() as stack:
        if AVAILABLE:
            with suppress(Taken, OSError):
                stack.enter_context(Lock(lock_file(session.store, session.places.state)))
        yield


@contextmanager
def _progress(session: Session) -> Iterator[Any]:
    from recollect.faces.cli.terminal.progress import progress

    with progress(session.out, "Working") as report:
        yield lambda done: _tell(report, done)


def _tell(report: Report, done: Done) -> None:
    from recollect.faces.present.times import number

    words = [number(done.consolidated.messages, "message"), number(done.vectors, "quality vector")]
    report(0, 0, "   ".join(words))


def _print(session: Session, done: Done) -> None:
    from recollect.faces.present.times import number

    out, consolidated = session.out, done.consolidated
    if not done:
        out.line("Nothing to do.")
        return
    parts = [f"Consolidated {number(consolidated.messages, 'message')} ({number(consolidated.tasks, 'task')})"]
    if consolidated.calls:
        parts.append(f"asked the model {number(consolidated.calls, 'time')}")
    parts.append(f"made {number(done.vectors, 'quality vector')}")
    out.line(f"{', '.join(parts)}.")
    if consolidated.later:
        out.line(out.hint(f"{number(consolidated.later, 'attempt')} failed and will be repeated: recollect tasks"))
    if consolidated.dead:
        out.line(out.hint(f"{number(consolidated.dead, 'task')} failed for good: recollect tasks"))


def _as_json(done: Done) -> dict[str, Any]:
    c = done.consolidated
    return {
        "messages": c.messages,
        "tasks": c.tasks,
        "model_calls": c.calls,
        "later": c.later,
        "dead": c.dead,
        "vectors": done.vectors,
    }


COMMAND = Command(
    worker,
    ("recollect worker --once", "recollect worker --model anthropic:claude-haiku-5-5", "recollect worker --stop"),
    (
        Option(("--once",), "Stop when nothing is left to do.", default=False),
        Option(("--rebuild",), "Derive everything anew from the messages.", default=False),
        Option(
            ("--dry-run",), "Tell what the model would be asked and what it would cost, and ask nothing.", default=False
        ),
        Option(("--model",), "The language model to ask, within the daily budget; none: rules.", "NAME"),
        Option(("--stop",), "Stop the worker that runs in the background.", default=False),
    ),
)
