"""The bare command, `recollect config` and `demo`: what there is, the settings, and a sample."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.faces.cli.commands.background import index_advice, is_at_work, work_advice
from recollect.faces.cli.commands.recording import print_pause
from recollect.faces.cli.invocation import Invocation, shell_quoted
from recollect.faces.cli.output import wrapped
from recollect.faces.cli.parser import Arguments, Command, Option
from recollect.faces.present.names import ago, number, size, source_label, span
from recollect.faces.present.status import (
    STATES,
    found_labels,
    newer_than,
    pause_words,
    quality_state,
    task_counts,
    tilde,
    worker_state,
)
from recollect.importers.found import FoundSource
from recollect.memory.settings import LEARNED, UNLIMITED, Settings, keep_setting, load_settings
from recollect.models.language.base import ModelNotReady
from recollect.models.language.choose import open_model
from recollect.record import utc_now
from recollect.watching.imported_files import ImportedFiles, expiring, not_in

if TYPE_CHECKING:
    from recollect.memory import Memory
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


def show_status(run: Invocation) -> None:
    """Prints the status page, or how to begin where nothing is stored."""
    counts = _counts(run)
    found = not_yet_in(run, counts)
    if run.json:
        run.out.document(_document(run, counts, found))
    elif counts is None or not (counts.conversations or counts.documents):
        _print_empty(run, found, counts.facts if counts is not None else 0)
    else:
        _print_status(run, counts, found)


def not_yet_in(run: Invocation, counts: Counts | None) -> list[FoundSource]:
    """What lies on this machine and is not in the memory, or is newer."""
    return newer_than(run.state.last_import(), counts, _kept(run))


def _kept(run: Invocation) -> ImportedFiles:
    return ImportedFiles(run.places.state, run.store, run.settings.namespace)


def _counts(run: Invocation) -> Counts | None:
    return run.memory().upkeep.stats() if run.has_memory() else None


def _print_status(run: Invocation, counts: Counts, found: Sequence[FoundSource]) -> None:
    out, now = run.out, utc_now()
    dot = f" {out.symbols.dot} "
    when = span(counts.first, counts.last, now, out.symbols.dash)
    total = f"{number(counts.messages, 'message')} in {number(counts.conversations, 'conversation')}"
    head, tail = f", {when}" if when else "", _where(run)
    out.line(out.bold(total) + head + out.gap(total + head, tail) + out.dim(tail))
    sources = dot.join(f"{source_label(name)} {count:,}" for name, count in _largest_first(counts.by_source))
    last = run.state.last_import()
    facts = [f"last import {ago(last, now)}"] if last else []
    tasks, working = task_counts(run.memory(), counts), is_at_work(run)
    facts += [quality_state(counts), *worker_state(tasks, working=working)]
    out.line(sources + out.gap(sources, dot.join(facts)) + out.dim(dot.join(facts)))
    if advice := index_advice(run.memory().upkeep.index(), counts.messages, out):
        out.line(advice)
    if advice := work_advice(run, tasks, working=working):
        out.line(advice)
    print_pause(run)
    _print_found(run, found, "Found on this machine, not imported yet: ")
    _warn(run, found)
    steps = [f"recollect search {_quoted(run)}", "recollect serve --open", "recollect --help"]
    out.line(out.in_a_row("Try  ", [out.hint(step) for step in steps]))


def _print_empty(run: Invocation, found: Sequence[FoundSource], facts: int) -> None:
    out = run.out
    left = f"No messages yet, and {number(facts, 'fact')}." if facts else "Your memory is empty."
    right = _where(run)
    out.line(out.bold(left) + out.gap(left, right) + out.dim(right))
    out.line("Get your history:")
    for who, how in _HOW_TO_GET:
        how, room = out.hint(how), None if out.width is None else out.width - _INDENT
        for count, (start, end) in enumerate(wrapped(how, room)):
            out.line(f"{'' if count else f'  {who}':<{_INDENT}}{how[start:end]}")
    print_pause(run)
    _print_found(run, found, "Found on this machine: ")
    _warn(run, found)
    steps = ["recollect import ~/Downloads/export.zip", f"recollect search {_quoted(run)}"]
    out.line(out.in_a_row("Then  ", [out.hint(step) for step in steps]))
    out.line("Or try it out first on a sample:  recollect demo")


def _print_found(run: Invocation, found: Sequence[FoundSource], words: str) -> None:
    if found:
        line = words + found_labels(found)
        step = run.out.hint("recollect import --found")
        run.out.line(line + run.out.gap(line, step) + step)


def _warn(run: Invocation, found: Sequence[FoundSource]) -> None:
    """Claude Code deletes its sessions after a time."""
    if count := _expiring(run, found):
        out = run.out
        what = f"{count:,} of these sessions" if count > 1 else "one of these sessions"
        line = f"Claude Code deletes {what} within 7 days. "
        step = out.hint("To save all from now on: recollect hooks install")
        out.line(line + out.gap(line, step) + step)


def _expiring(run: Invocation, found: Sequence[FoundSource]) -> int:
    folders = [one.path for one in found if one.label == "Claude Code" and one.path.is_dir()]
    if not folders:
        return 0
    kept, last, now = _kept(run), run.state.last_import(), utc_now()
    return sum(expiring(folder, not_in(folder, kept, last), now) for folder in folders)


def _where(run: Invocation) -> str:
    taken = run.memory().upkeep.info().bytes if run.has_memory() else None
    parts = [run.settings.namespace, size(taken) if taken else "", tilde(run.settings.store)]
    return f" {run.out.symbols.dot} ".join(filter(None, parts))


def _quoted(run: Invocation) -> str:
    return f'"{run.out.symbols.more}"'


def _largest_first(counts: Any) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _document(run: Invocation, counts: Counts | None, found: Sequence[FoundSource]) -> dict[str, Any]:
    tasks = task_counts(run.memory(), counts) if counts else dict.fromkeys(STATES, 0)
    return {
        "store": str(run.settings.store),
        "namespace": run.settings.namespace,
        "bytes": (run.memory().upkeep.info().bytes or None) if counts else 0,
        "conversations": counts.conversations if counts else 0,
        "messages": counts.messages if counts else 0,
        "sources": dict(counts.by_source) if counts else {},
        "first": counts.first if counts else None,
        "last": counts.last if counts else None,
        "last_import": run.state.last_import(),
        "quality": {"made": counts.quality if counts else 0, "wanted": counts.said_passages if counts else 0},
        "worker": {"working": is_at_work(run), **tasks},
        "index": {"rebuilding": counts is not None and run.memory().upkeep.index().building is not None},
        "paused": bool(pause_words()),
        "found": found,
        "expiring": _expiring(run, found),
    }


def config(run: Invocation, words: list[str]) -> int:
    """Print each setting and where it comes from, or set one.

    Settings come from options, environment variables, the config file or the defaults, in this order. `recollect config
    path` prints where the config file is, or would be; `recollect config NAME VALUE` writes a setting to it.
    """
    out, places = run.out, run.places
    if len(words) == 2:
        return _keep(run, *words)
    if words not in ([], ["path"]):
        hint = "Use recollect config, recollect config path, or recollect config NAME VALUE."
        raise InvalidInput(f"Unknown argument: {' '.join(words)}.", hint=hint)
    if words:
        run.show(lambda: {"path": str(places.config)}, str(places.config))
        return 0
    settings, origins = _values(run.settings), run.settings.origins
    folders = {"data": str(places.data), "config": str(places.config), "state": str(places.state)}
    if run.json:
        plain = {name: {"value": value, "from": origins[name]} for name, value in settings.items()}
        out.document({"settings": plain, "places": folders})
        return 0
    longest = max(map(len, settings))
    told = longest + 43 if out.width is None else min(longest + 43, out.width - 4 - max(map(len, origins.values())))
    for name, value in settings.items():
        out.verbatim(f"{f'{name:<{longest}} = {_as_toml(name, value)}':<{told}}  {out.dim('# ' + origins[name])}")
    for name, path in folders.items():
        out.line(out.dim(f"# {name:<8} {path}"))
    return 0


def _keep(run: Invocation, name: str, value: str) -> int:
    """Writes a setting, and says what keeps it from having an effect."""
    keep_setting(name, value, run.places)
    now = load_settings(where=run.places)
    if run.in_json(lambda: {"name": name, "value": _values(now)[name], "from": now.origins[name]}):
        return 0
    run.out.line(f"{name} is set in {run.places.config}")
    if now.origins[name] != str(run.places.config):
        run.out.note(f"{now.origins[name]} comes first and says otherwise: unset it for this to take effect.")
    if name.endswith("model"):
        try:
            open_model(value)
        except ModelNotReady as missing:
            run.out.note(str(missing))
    return 0


def _values(settings: Settings) -> dict[str, Any]:
    values = {f.name: getattr(settings, f.name) for f in _SETTINGS}
    return {
        name: value if isinstance(value, bool | int | float | tuple | None) else str(value)
        for name, value in values.items()
    }


def _as_toml(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return json.dumps(value, ensure_ascii=False)
    if value is None:
        value = LEARNED if name == "proxy_window" else UNLIMITED
    return str(value) if isinstance(value, int | float) else f'"{value}"'


_SETTINGS = [field for field in fields(Settings) if field.name != "origins"]

CONFIG = Command(
    config,
    ("recollect config", "recollect config path", "recollect config model anthropic:claude-haiku-5-5"),
    words=Arguments("path | NAME VALUE", "words", several=True, values=("path", *(field.name for field in _SETTINGS))),
)


#: The searches shown, with their filters.
_SEARCHES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("nginx reverse proxy", {}),
    ("two high tides but one moon", {}),
    ("how long does the train take", {"source": "chatgpt", "role": "assistant"}),
)
_RESULTS = 2
#: What is known of the people in it: a summary, a fact with what held before, a way from one entity to another.
_SUMMARY, _FACTS, _WAY = "Mum's knee operation: what to ask", "Inês", ("Merle", "you")


def demo(run: Invocation, keep: str | None = None) -> int:
    """Try it out on a sample archive.

    Imports a made-up archive into a temporary memory, runs three searches, and shows what is derived from it. Your own
    memory is not touched. To keep the sample and search it yourself: recollect demo --keep FOLDER
    """
    import recollect
    from recollect.sample import write_archive

    with _folder(keep) as folder:
        archive = write_archive(folder / "archive")
        store = folder / "memory.db"
        with recollect.open(store, durable=False, background=False) as memory:
            if not run.in_json(lambda: _as_json(memory, archive)):
                _print(run, memory, archive, store, store if keep else None)
    return 0


@contextmanager
def _folder(keep: str | None) -> Iterator[Path]:
    """The folder that is kept, made where there is none; or one for as long as the demo runs. Raises InvalidInput."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="recollect-demo-", ignore_cleanup_errors=True) as temporary:
            yield Path(temporary)
        return
    folder = Path(keep).expanduser().absolute()
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):  # it is told to be deleted later
        raise InvalidInput(f"{folder} is there already.", hint="Name a folder that does not exist yet.")
    folder.mkdir(parents=True, exist_ok=True)
    yield folder


def _print(run: Invocation, memory: Memory, archive: list[Path], store: Path, kept: Path | None) -> None:
    from recollect.faces.cli.commands.importing import print_report
    from recollect.faces.cli.commands.search import print_hits

    out = run.out
    out.line(out.bold(f"$ recollect import {' '.join(path.name for path in archive)}"))
    print_report(memory.import_file(*archive), memory.upkeep.stats(), memory.upkeep.index(), out, all_problems=False)
    for query, filters in _SEARCHES:
        options = "".join(f" --{name} {value}" for name, value in filters.items()) + f" -n {_RESULTS}"
        out.line()
        out.line(out.bold(f'$ recollect search "{query}"{options}'))
        print_hits(memory.search(query, limit=_RESULTS, **filters), out, next_steps=False)
    _print_derived(run.within(memory, store), memory)
    out.line()
    if kept is not None:
        out.line(out.bold("The sample is yours to search:"))
        out.line(f'  recollect --store {shell_quoted(str(kept))} search "the trick for adding water late"')
        out.line(f"To remove it, delete the folder {kept.parent}.")
        out.line()
    out.line(out.bold("Now with your own history:"))
    out.line("  recollect import ~/Downloads/your-export.zip")
    out.line('  recollect search "what you remember of it"')


def _print_derived(run: Invocation, memory: Memory) -> None:
    """What the worker makes of the messages, by rules alone."""
    from recollect.faces.cli.commands.knowledge import facts, graph
    from recollect.faces.cli.commands.summaries import summaries

    out = run.out
    out.line()
    done = memory.upkeep.consolidate()
    out.line(f"Next, a background worker summarises these {number(done.messages, 'message')} (here: without a model).")
    out.line()
    out.line(out.bold(f'$ recollect summaries "{_SUMMARY}"'))
    summaries(run, [_SUMMARY])
    out.line()
    out.line(out.bold(f"$ recollect facts {_FACTS} --history"))
    facts(run, [_FACTS], history=True)
    out.line()
    out.line(out.bold(f"$ recollect graph {' '.join(_WAY)}"))
    graph(run, list(_WAY))


def _as_json(memory: Memory, archive: list[Path]) -> dict[str, Any]:
    from recollect.faces.present.results import import_document

    report = memory.import_file(*archive)
    searches = [memory.search(query, limit=_RESULTS, **filters) for query, filters in _SEARCHES]
    return {"import": import_document(report, memory.upkeep.stats()), "searches": searches}


DEMO = Command(
    demo,
    ("recollect demo", "recollect demo --keep ~/recollect-sample"),
    (Option(("--keep",), "Keep the sample, with a memory of its own, in this folder.", "FOLDER"),),
)
