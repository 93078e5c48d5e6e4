"""`recollect backup`, `restore`, `export`, `check`, `drop` and `reindex`: the store and its copies."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from recollect.errors import Incomplete, InvalidInput, NotFound, StoreDamaged, StoreError
from recollect.faces.cli.invocation import (
    Invocation,
    confirms_guesses,
    is_standard_output,
    naming_file,
    on_interrupt,
    progress,
    shell_quoted,
)
from recollect.faces.cli.parser import YES, Arguments, Command, Option
from recollect.faces.present.names import meant, names_meant, number, percent, size
from recollect.faces.present.state import State
from recollect.record import utc_now
from recollect.store import Invariant

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.store import Violation


def backup(run: Invocation, file: str | None = None) -> int:
    """Copy the whole memory to a file, and verify the copy.

    The copy holds all namespaces, the search index and the quality mode. You can use the memory meanwhile. If FILE is a
    folder or left out, the copy is named after the day. Existing files are never replaced. To bring it back: recollect
    restore FILE
    """
    memory, out = run.existing_memory(), run.out
    if file == "-":
        raise InvalidInput("A backup needs a file.", hint="To write to a pipe: recollect export -")
    path = Path(file or ".").expanduser()
    if path.is_dir():
        path = path / _dated()
    with progress(out, "Copying") as report, naming_file(path):
        taken = memory.upkeep.backup(path, progress=lambda done, total: report(done, total, percent(done, total)))
    run.show(
        lambda: {"file": str(path), "bytes": taken},
        f"Backed up {run.store} to {path} ({size(taken)}, verified).",
        out.hint(f"To restore: recollect restore {shell_quoted(str(path))} --replace"),
    )
    return 0


def _dated() -> str:
    return f"recollect-{utc_now():%Y-%m-%d}.db"


BACKUP = Command(
    backup,
    ("recollect backup ~/backups/memory.db", "recollect backup ~/backups/"),
    words=Arguments("FILE", "file"),
)


_DUMP_BEGINS = b'{"recollect_dump"'
_ENDINGS = (".db", ".jsonl", ".gz", ".zip", ".sqlite", ".backup")


def restore(run: Invocation, what: list[str], replace: bool = False) -> int:
    """Bring back what was deleted, or a whole memory from a backup.

    Give the id or the title of what was deleted; the last characters of an id are enough. Or give a backup file: it is
    verified first, and an existing memory is only replaced with --replace.
    """
    files = [Path(name).expanduser() for name in what if _is_path(name)]
    if not files:
        if replace:
            raise InvalidInput("--replace needs the file of a backup.", hint="recollect restore FILE --replace")
        return _undelete(run, what)
    if len(what) > 1:
        raise InvalidInput("Only one backup can be restored at a time.", hint="Name one file, or several ids.")
    return _from_backup(run, files[0], replace=replace)


def _undelete(run: Invocation, what: Sequence[str]) -> int:
    memory = run.existing_memory()
    found = [meant(memory, name, deleted=True) for name in names_meant(memory, what)]
    back = memory.restore(*(one.id for one in found)) if confirms_guesses(run, found, "Restore") else 0
    run.show(
        lambda: {"restored": back},
        f"Restored {number(back, 'message')}."
        if back
        else "Nothing was restored: this is not deleted, or it was forgotten for good.",
    )
    return 0 if back else 1


def _from_backup(run: Invocation, backup: Path, *, replace: bool) -> int:
    import recollect

    if not backup.is_file():
        raise NotFound(f"No such file: {backup}.")
    with backup.open("rb") as stream:
        if stream.read(len(_DUMP_BEGINS)) == _DUMP_BEGINS:
            raise InvalidInput(
                f"{backup} is an export, not a backup.", hint=f"Read it: recollect import {shell_quoted(str(backup))}"
            )
    store = run.store
    if not isinstance(store, Path):
        raise InvalidInput(
            f"A backup can only be restored to a file, and {store} is a server.", hint="Import an export there instead."
        )
    recollect.restore(backup, store, replace=replace)
    info = run.memory().upkeep.info()
    run.show(
        lambda: {"file": str(backup), "store": str(store), "bytes": info.bytes or None},
        f"Restored {store} from {backup} ({size(info.bytes)}).",
    )
    return 0


def _is_path(name: str) -> bool:
    """Whether a file is meant: it is there, or it looks like one and nothing else."""
    if Path(name).expanduser().is_file():
        return True
    return (os.sep in name or name.startswith("~") or name.lower().endswith(_ENDINGS)) and " " not in name


RESTORE = Command(
    restore,
    ("recollect restore 7Q2KAB", "recollect restore ~/backups/memory.db", "recollect restore memory.db --replace"),
    (Option(("--replace",), "With FILE: replace the existing memory.", default=False),),
    Arguments("ID|TITLE|FILE", "what", required=True, several=True),
)


_WORDS = {
    "conversations": "conversation",
    "messages": "message",
    "documents": "document",
    "unreadable": "other piece",
}


def export(run: Invocation, file: str | None = None, overwrite: bool = False) -> int:
    """Write everything in the namespace to a file, as JSON Lines.

    `recollect import` reads it back without loss. `-` writes to standard output. Without FILE it writes to standard
    output if that is a pipe or a file, and otherwise to a file named after the namespace and the day. An earlier export
    is replaced; any other file only with --overwrite. Of a damaged memory it writes what can be read, says what is
    lost, and exits with 1.
    """
    if not run.has_memory():
        run.existing_memory()
    target = file or (_dated_export(run) if run.out.width is not None else "-")
    path = None if target == "-" else Path(target).expanduser()
    if run.json and (path is None or is_standard_output(path)):
        raise InvalidInput("--json cannot be combined with an export to standard output.", hint="Name a file.")
    records, lost = _write(run, path, overwrite=overwrite)
    if lost is not None:
        _print_lost(run, lost)
    code = 0 if lost is None else 1
    if path is None:
        return code
    size = path.stat().st_size if path.is_file() else None
    if run.json:
        document = {"file": str(path), "records": records, "bytes": size}
        run.out.document(document if lost is None else {**document, "lost": dict(lost)})
    else:
        _print_done(run, path, records, size)
    return code


def _write(run: Invocation, path: Path | None, *, overwrite: bool) -> tuple[int, Mapping[str, int] | None]:
    """Writes all that can be read. Returns the records, and of a damaged memory what is lost."""
    import recollect

    try:
        return _export(run, run.memory(), path, overwrite=overwrite), None
    except Incomplete as problem:
        return problem.records, problem.lost
    except StoreDamaged as problem:  # it cannot even be opened
        if not isinstance(run.store, Path):
            raise
        with TemporaryDirectory(dir=path.parent if path is not None else None, prefix=".recollect-") as folder:
            made = Path(folder) / "memory.db"
            try:
                lost = recollect.recover(run.store, made)
            except StoreError:  # it never was a memory
                raise problem from None
            with recollect.open(made, namespace=run.settings.namespace, background=False) as memory:
                own = lost.get(run.settings.namespace)
                return _export(run, memory, path, overwrite=overwrite), asdict(own) if own is not None else {}


def _export(run: Invocation, memory: Memory, path: Path | None, *, overwrite: bool) -> int:
    with progress(run.out, "Writing") as report, naming_file(path):
        total = 0
        with suppress(StoreDamaged):
            total = memory.upkeep.stats().conversations

        def told(count: int) -> None:
            report(count, total, number(count, "line"))

        if path is not None:
            return memory.export(path, overwrite=overwrite, progress=told)
        sys.stdout.flush()
        try:
            return memory.export(sys.stdout.buffer, progress=told)
        finally:
            sys.stdout.buffer.flush()


def _print_lost(run: Invocation, lost: Mapping[str, int]) -> None:
    out = run.out
    counts = [number(lost[name], word) for name, word in _WORDS.items() if lost.get(name)]
    least = f" At least {_joined(counts)} could not." if counts else ""
    out.note(f"{run.store} is damaged. Everything that can be read was exported.{least}")
    out.note(out.hint("To go on with it in a new memory: recollect import FILE --store NEW"))


def _joined(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _print_done(run: Invocation, path: Path, records: int, size: int | None) -> None:
    from recollect.faces.present import names

    done = f"Exported {names.number(records, 'record')} of {run.settings.namespace} to {path}"
    if size is not None:
        run.out.line(f"{done} ({names.size(size)}).")
    else:  # a pipe or a device: nothing of ours may get into it
        run.out.note(f"{done}.")


def _dated_export(run: Invocation) -> str:
    name = run.settings.namespace.replace("/", "-")
    return f"recollect-{name}-{utc_now():%Y-%m-%d}.jsonl"


EXPORT = Command(
    export,
    ("recollect export history.jsonl", "recollect export - | gzip > history.jsonl.gz"),
    (Option(("--overwrite",), "Replace FILE even if it is not an export.", default=False),),
    Arguments("FILE|-", "file"),
)


_PLACES = 3


def check(run: Invocation, repair: bool = False) -> int:
    """Look for damage, and repair it with --repair.

    Reads everything and changes nothing. With --repair it rebuilds the search index and everything else that is
    derived from the messages; the messages themselves are never changed. Exits with 1 if there are problems, or with
    --repair if some remain.
    """
    violations = _violations(run)
    mended = bool(repair and any(violation.remedy == "reindex" for violation in violations))
    if mended:
        _print(run, violations)
        violations = _repaired(run)
    if run.json:
        found = [{"invariant": v.invariant, "where": v.where, "count": v.count, "remedy": v.remedy} for v in violations]
        run.out.document({"ok": not violations, "repaired": mended, "violations": found})
        return 1 if violations else 0
    if not violations:
        ok = run.out.symbols.ok
        run.out.line(f"{ok} Repaired: no problems left." if mended else f"{ok} No problems found.")
        return 0
    if mended:
        run.out.line("Problems that remain after the repair:")
    _print(run, violations)
    _print_remedies(run, violations, repaired=mended)
    return 1


def _violations(run: Invocation) -> Sequence[Violation]:
    """What is wrong; a memory that cannot be opened is damaged."""
    try:
        return run.existing_memory().upkeep.check()
    except StoreDamaged as problem:
        from recollect.store import Invariant, Violation

        return [Violation(Invariant.FILE_IS_WHOLE, problem.message)]


def _repaired(run: Invocation) -> list[Violation]:
    told = run.out.hint("Nothing has changed. To continue: recollect check --repair")
    with on_interrupt(told), progress(run.out, "Repairing") as report:
        return run.memory().upkeep.repair(progress=lambda done, total: report(done, total, number(done, "message")))


def _print(run: Invocation, violations: Sequence[Violation]) -> None:
    """A line for each kind of problem, with the first places."""
    if run.json:
        return
    kinds: dict[Invariant, list[Violation]] = {}
    for violation in violations:
        kinds.setdefault(violation.invariant, []).append(violation)
    for kind, found in kinds.items():
        count = sum(violation.count for violation in found)
        places = [violation.where for violation in found if violation.where][:_PLACES]
        where = ", ".join(places) + (f" {run.out.symbols.more}" if len(found) > len(places) else "")
        names = f" ({count:,} times)" if count > 1 else ""
        run.out.line(f"{run.out.symbols.bad} {PROBLEMS[kind]}{names}" + (f": {where}" if where else ""))


def _print_remedies(run: Invocation, violations: Sequence[Violation], *, repaired: bool) -> None:
    out = run.out
    if not repaired and any(violation.remedy == "reindex" for violation in violations):
        out.note(out.hint("The search index can be rebuilt from the messages: recollect check --repair"))
    if any(violation.remedy == "backup" for violation in violations):
        is_file = isinstance(run.store, Path)
        step = "From a backup: recollect restore FILE --replace" if is_file else "Restore the database from a backup."
        out.note(out.hint(f"The messages themselves are damaged. {step}"))
        out.note(out.hint("Without one, save what can be read: recollect export FILE"))


CHECK = Command(
    check,
    ("recollect check", "recollect check --repair"),
    (Option(("--repair",), "Rebuild what can be rebuilt.", default=False),),
)


PROBLEMS = {
    Invariant.FILE_IS_WHOLE: "the file is damaged",
    Invariant.REFERENCES: "refers to something that is missing",
    Invariant.HAS_CONVERSATION: "the conversation is missing, and only its messages are left",
    Invariant.ONE_NAMESPACE: "its conversation is in another namespace",
    Invariant.HAS_PARENT: "the message before it is missing",
    Invariant.NO_CIRCLE: "comes before itself in the conversation",
    Invariant.POSITIONS: "messages of the conversation are missing",
    Invariant.ACTIVE_PATH: "shown, but the message before it is on another branch",
    Invariant.ACTIVE_END: "the last message is missing",
    Invariant.TOOL_CALL: "its message or result is missing",
    Invariant.TURN: "a question or an answer is missing",
    Invariant.TURNS_FOLLOW: "not linked to the question before it",
    Invariant.HAS_WHOLE: "part of a text that is missing",
    Invariant.CHUNKS_FOLLOW: "parts of the text are missing, or overlap",
    Invariant.ERASED: "forgotten, but some of its text is left",
    Invariant.EDGES: "a link of the graph is not drawn",
    Invariant.FINDABLE: "missing from the search index",
    Invariant.UPGRADED: "not yet in the search index after an upgrade",
    Invariant.DELETED: "deleted, but still in the search index",
    Invariant.LEADS_SOMEWHERE: "in the search index, but nowhere else",
    Invariant.ONCE: "twice in the search index",
    Invariant.IN_ONE_PLACE: "a part of the search index is lost",
    Invariant.HAS_WORDS: "not found by phrases",
    Invariant.WORDS_READABLE: "the text part of the search index is damaged",
    Invariant.TAIL_READABLE: "the newest part of the search index is damaged",
    Invariant.SEGMENTS_READABLE: "a part of the search index is damaged",
    Invariant.QUALITY: "incomplete in the quality mode",
    Invariant.PIECES_COUNTED: "counted wrongly in the quality mode",
    Invariant.SPEAKERS: "no longer speaks anywhere, but is still in the search index",
    Invariant.NOTHING_LEFT: "left over from an earlier search index",
}


def drop(run: Invocation, what: list[str], yes: bool = False) -> int:
    """Remove a whole namespace for good, with its name.

    Nothing of it is left: no message, fact, index or file, and no trace that it was there. An export that is imported
    again is new to it. Backups keep what they hold. It asks first. If you interrupt it, run it again. To remove only
    what a namespace holds: recollect forget --all
    """
    if len(what) != 1:
        raise InvalidInput("Name one namespace.", hint="To see what there is: recollect stats")
    name, out = what[0], run.out
    memory = run.existing_memory()
    with memory.beside(name) as doomed:
        messages = number(doomed.upkeep.stats().messages, "message")
    question = f"Remove {name} with {messages} for good?"
    if not yes and not run.confirms(f"{name} with {messages}", question, "Add --yes to remove it."):
        out.line("Nothing was removed.")
        return 1
    with on_interrupt(out.hint(f"To continue: recollect drop {shell_quoted(name)}")), progress(out, "Removing"):
        was_there = memory.upkeep.drop_namespace(name)
    State.of(run.places.state, run.store, name).forget()
    run.show(
        lambda: {"dropped": was_there, "namespace": name},
        f"Removed {name} with {messages}." if was_there else f"There is no namespace {name}.",
    )
    return 0 if was_there else 1


DROP = Command(
    drop,
    ("recollect drop acme/rex",),
    (YES,),
    Arguments("NAMESPACE", "what", required=True, several=True),
)


def reindex(run: Invocation) -> int:
    """Rebuild the search index from the messages.

    You need it after changing the embedder. Search uses the old index until the new one is complete. If you interrupt
    it, nothing has changed; the next run continues. What `recollect embed` has built is kept.
    """
    memory, out = run.existing_memory(), run.out
    told = out.hint("Nothing has changed for search. To continue: recollect reindex")
    with on_interrupt(told), progress(out, "Indexing") as report:
        memory.upkeep.reindex(progress=lambda done, total: report(done, total, number(done, "message")))
    messages, embedder = memory.upkeep.stats().messages, memory.upkeep.stored_embedder()
    run.show(
        lambda: {"messages": messages, "embedder": embedder},
        f"Search index rebuilt from {number(messages, 'message')}.",
    )
    return 0


REINDEX = Command(
    reindex,
    ("recollect reindex", "recollect reindex --namespace acme/rex"),
)
