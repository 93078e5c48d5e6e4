"""`recollect worker`, `tasks` and `embed`: the work that is otherwise done in the background."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal

from recollect.errors import InvalidInput, NotFound, StoreBusy, StoreError
from recollect.faces.cli.invocation import Invocation, interrupted, on_interrupt, progress
from recollect.faces.cli.output import Output, padded
from recollect.faces.cli.parser import Arguments, Command, Option, limit, whole
from recollect.faces.present.names import moment_after, number, percent, short
from recollect.faces.present.results import TaskView
from recollect.faces.present.status import index_state, task_counts
from recollect.faces.present.views import as_json
from recollect.record import utc_now

if TYPE_CHECKING:
    from recollect.derive.tasks.runs import Backlog
    from recollect.derive.worker import Done
    from recollect.faces.cli.invocation import Report
    from recollect.memory import Memory
    from recollect.store import IndexInfo, Task


_LIMIT = 50
_MOST = 10_000  # tasks that are looked at

#: Its state, the task, and why it failed last.
_Row = tuple[str, "Task", str]
#: The states, with what they are called; what needs somebody's attention first.
_TOLD = {"dead": "failed", "leased": "in work", "due": "to do", "later": "later"}


def tasks(run: Invocation, ids: list[str] | None = None, retry: bool = False, limit: int = _LIMIT) -> int:
    """List pending and failed background tasks.

    A task that fails is tried again later, each time after a longer pause, and given up after some attempts. With
    --retry what was given up is tried again: all of it, or the tasks whose ids you give.
    """
    memory = run.existing_memory()
    if ids and not retry:
        raise InvalidInput("Tasks are named only to be retried.", hint=f"recollect tasks --retry {' '.join(ids)}")
    if retry:
        return _retry(run, ids or [])
    rows = _rows(memory)
    more, rows = len(rows) > limit, rows[:limit]
    numbers = task_counts(memory, memory.upkeep.stats())
    if run.json:
        found = [as_json(TaskView.of(task, why)) | {"state": state} for state, task, why in rows]
        run.out.document({**numbers, "tasks": found, "more": more})
    else:
        _print_tasks(run, numbers, rows, more=more)
    return 0


def _rows(memory: Memory) -> list[_Row]:
    now = utc_now()
    states: tuple[Literal["dead", "leased", "due"], ...] = ("dead", "leased", "due")
    found = [(state, task, why) for state in states for task, why in memory.upkeep.tasks(state, limit=_MOST)]
    rows = [("later" if task.due and task.due > now else state, task, why) for state, task, why in found]
    return sorted(rows, key=lambda row: list(_TOLD).index(row[0]))


def _retry(run: Invocation, names: list[str]) -> int:
    memory = run.existing_memory()
    dead = [task.id for task, _ in memory.upkeep.tasks("dead", limit=1_000_000)]
    meant = [i for name in names for i in dead if i.endswith(name.upper())]
    if unknown := [name for name in names if not any(i.endswith(name.upper()) for i in dead)]:
        raise NotFound(f"No failed task has the ID {unknown[0]}.", hint="To see what failed: recollect tasks")
    revived = memory.upkeep.retry(*meant) if names else memory.upkeep.retry()
    run.show(
        lambda: {"retried": revived},
        run.out.hint(f"{number(revived, 'task')} will be tried again: recollect worker --once")
        if revived
        else "No task has failed.",
    )
    return 0


def _print_tasks(run: Invocation, numbers: dict[str, int], rows: list[_Row], *, more: bool) -> None:
    out = run.out
    told = [f"{numbers[state]:,} {words}" for state, words in _TOLD.items() if numbers[state]]
    if not any(numbers[state] for state in ("dead", "leased", "due")):
        told = ["Nothing to do now", *told]
    out.line(out.bold(", ".join(told)))
    now = utc_now()
    for state, task, why in rows:
        about = short(task.subject) if task.subject else ""
        facts = f"{padded(_TOLD[state], 8)} {padded(task.kind, 14)} {padded(about, 7)} "
        if state == "later":
            why = f"from {moment_after(task.due, now)}"
        out.row(task.id, facts, why)
    if more:
        out.more(len(rows))
    if numbers["dead"]:
        out.line(out.hint("To try again what failed: recollect tasks --retry"))


TASKS = Command(
    tasks,
    ("recollect tasks", "recollect tasks --retry", "recollect tasks --retry 7Q2KAB"),
    (
        Option(("--retry",), "Try again what failed.", default=False),
        limit(_LIMIT),
    ),
    Arguments("ID", "ids", several=True),
)


def embed(run: Invocation, limit: int | None = None) -> int:
    """Build the quality index now: takes longer, finds more.

    A small model that comes with the package reads every message once, newest first. You can search meanwhile, and
    interrupt it at any time: the next run continues where this one stopped.
    """
    from recollect.faces.present.status import is_missing

    memory = run.existing_memory()
    if is_missing(memory.upkeep.index(), memory.upkeep.stats().messages):
        raise StoreError(
            "The quality mode is built on the search index, and the search index is not built yet.",
            hint="To build it first: recollect reindex",
        )
    told = run.out.hint("Progress is saved. To continue: recollect embed")
    with on_interrupt(told), progress(run.out, "Embedding") as report:
        made = memory.upkeep.embed(limit=limit, progress=lambda done, of: report(done, of, number(done, "passage")))
    counts = memory.upkeep.stats()
    if not run.in_json(lambda: {"made": made, "quality": {"made": counts.quality, "wanted": counts.said_passages}}):
        share = percent(counts.quality, counts.said_passages)
        run.out.line(f"Embedded {number(made, 'passage')}. Quality mode: {share} built.")
    return 0


EMBED = Command(
    embed,
    ("recollect embed", "recollect embed --limit 5000"),
    (Option(("--limit", "-n"), "Stop after N passages.", "N", read=whole(1)),),
)


def print_backlog(run: Invocation, memory: Memory, namespaces: Sequence[str]) -> None:
    """Notes what is about to be asked, where anything is."""
    found = memory.upkeep.backlog(namespaces=namespaces) if namespaces else None
    if found is not None and found.estimate.calls and not run.json:
        for line in _lines(run, found):
            run.out.note(line)


def print_dry_run(run: Invocation, memory: Memory, namespaces: Sequence[str]) -> int:
    """Prints what would be asked; returns the exit code."""
    found = memory.upkeep.backlog(namespaces=namespaces) if namespaces else None
    out = run.out
    if run.json:
        from recollect.derive.tasks.runs import Backlog
        from recollect.models.language.budget import Estimate

        shown = as_json(found or Backlog(0, 0, 0, Estimate(0, 0, 0, None)))
        out.document({"model": run.settings.background_model or None} | shown.pop("estimate") | shown)
    elif found is None:
        out.line(out.hint("No language model is set, so none would be asked: recollect worker --dry-run --model NAME"))
    elif not found.estimate.calls:
        out.line("Nothing waits for the model.")
    else:
        for line in _lines(run, found):
            out.line(line)
    return 0


def _lines(run: Invocation, found: Backlog) -> list[str]:
    told = found.estimate
    cost = "at a price that is not known here" if told.cost is None else f"about ${_rounded(told.cost)}"
    tokens = f"{told.input_tokens:,} tokens to send and {told.output_tokens:,} to get"
    lines = [f"{run.settings.background_model}: about {number(told.calls, 'call')}, {tokens}, {cost}."]
    if told.days and told.days > 1:
        lines.append(
            f"Within the daily budget this takes about {told.days:,} days (recollect config shows the budget)."
        )
    return lines


def _rounded(cost: float) -> str:
    return f"{cost:,.2f}" if cost >= 1 else f"{cost:.4f}"


def index_advice(info: IndexInfo, messages: int, out: Output) -> str:
    """The state of the search index in sentences, with what to do; empty where there is nothing to say."""
    state = index_state(info, messages)
    if not state:
        return ""
    meanwhile = "search uses the old one" if info.generation else "search uses keywords alone"
    step = "If that was interrupted" if info.building is not None else "To build it"
    if info.building is None and info.generation:
        meanwhile, step = "search works, but misses some words", "To improve it"
    return out.joined(f"Search index: {state}; {meanwhile}.", out.hint(f"{step}: recollect reindex"))


def work_advice(run: Invocation, tasks: Mapping[str, int], *, working: bool) -> str:
    """What to do about tasks; empty where there is nothing to be done."""
    if tasks["dead"]:
        return run.out.hint("To see what failed: recollect tasks")
    if tasks["due"] and not working and not run.settings.background:
        return run.out.hint("To make summaries, facts and the quality mode: recollect worker --once")
    return ""


def is_at_work(run: Invocation) -> bool:
    """Whether a worker is at work on this store, on this machine."""
    from recollect.memory.background.process import is_working

    return is_working(run.store, run.places.state)


def worker(
    run: Invocation,
    once: bool = False,
    rebuild: bool = False,
    stop: bool = False,
    dry_run: bool = False,
    model: str | None = None,
) -> int:
    """Build summaries, facts and quality vectors for new messages.

    Works until you interrupt it, or with --once until nothing is left to do; in all namespaces, or in the one that
    --namespace names. --once exits with 1 if tasks have failed for good. --rebuild derives everything anew from the
    messages; what you corrected stays. You rarely need this: importing and writing leave a worker behind that does the
    same in the background and ends by itself. Several workers can run at the same time, also on several machines.
    """
    if stop:
        if once or rebuild or model or dry_run:
            raise InvalidInput("--stop cannot be combined with other options.", hint="Leave out one of them.")
        return _stop(run)
    if model is not None:
        run.ask_model(model, now=not dry_run)
    run.without_background()
    memory = run.existing_memory()
    names = [run.chosen_namespace] if run.chosen_namespace else None
    there = [str(name) for name in memory.upkeep.namespaces()]
    if names and names[0] not in there:
        raise NotFound(f"There is no namespace {names[0]} in this memory.", hint=f"There are: {', '.join(there)}.")
    wanted = names or there
    if dry_run and rebuild:
        raise InvalidInput("--dry-run cannot be combined with --rebuild.", hint="Leave out one of them.")
    if dry_run:
        return print_dry_run(run, memory, wanted)
    print_backlog(run, memory, wanted)
    with _alone(run), interrupted() as told, _progress(run) as report:
        if not once and not run.json:
            run.out.note("Working. Ctrl-C to stop.")
        done = memory.upkeep.work(namespaces=names, once=once, again=rebuild, stop=told, progress=report)
    if run.json:
        shown = as_json(done.consolidated) | {"vectors": done.vectors}
        run.out.document(shown | {"model_calls": done.consolidated.calls})
    elif done or not told.is_set():
        _print(run, done)
    if once and told.is_set():
        raise KeyboardInterrupt(run.out.hint("Progress is saved. To continue: recollect worker --once"))
    return 1 if once and _has_failed(memory, wanted) else 0


def _has_failed(memory: Memory, names: Sequence[str]) -> bool:
    """Whether a task has failed for good, now or before; what is repeated later has not."""
    for name in names:
        with memory.beside(name) as one:
            if one.upkeep.stats().tasks.get("dead"):
                return True
    return False


def _stop(run: Invocation) -> int:
    from recollect.memory.background.process import stop

    was = is_at_work(run)
    if not stop(run.store, where=run.places):
        raise StoreBusy("The background worker has not stopped yet.", hint="It ends after what it is doing now.")
    run.show(lambda: {"stopped": was}, "Stopped the background worker." if was else "No background worker is running.")
    return 0


@contextmanager
def _alone(run: Invocation) -> Iterator[None]:
    """No worker is started in the background meanwhile. One that is there already stays: they share the work."""
    from recollect.memory.background.process import AVAILABLE, Lock, Taken, lock_file

    with ExitStack() as stack:
        if AVAILABLE:
            with suppress(Taken, OSError):
                stack.enter_context(Lock(lock_file(run.store, run.places.state)))
        yield


@contextmanager
def _progress(run: Invocation) -> Iterator[Any]:
    with progress(run.out, "Working") as report:
        yield lambda done: _tell(report, done)


def _tell(report: Report, done: Done) -> None:
    words = [number(done.consolidated.messages, "message"), number(done.vectors, "quality vector")]
    report(0, 0, "   ".join(words))


def _print(run: Invocation, done: Done) -> None:
    out, consolidated = run.out, done.consolidated
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


WORKER = Command(
    worker,
    ("recollect worker --once", "recollect worker --model anthropic:claude-haiku-5-5", "recollect worker --stop"),
    (
        Option(("--once",), "Stop when nothing is left to do.", default=False),
        Option(("--rebuild",), "Derive everything anew from the messages.", default=False),
        Option(("--dry-run",), "Show what the model would be asked and the cost, and ask nothing.", default=False),
        Option(("--model",), "The language model to ask, within the daily budget; none: rules.", "NAME"),
        Option(("--stop",), "Stop the worker that runs in the background.", default=False),
    ),
)
