"""`recollect export`: writes the whole namespace to a file that `import` reads back without loss."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from recollect.errors import Incomplete, InvalidInput, StoreDamaged, StoreError
from recollect.faces.cli.parser import Command, Option, Words
from recollect.faces.cli.terminal.session import Session
from recollect.faces.cli.terminal.targets import is_standard_output, naming

if TYPE_CHECKING:
    from recollect.memory import Memory

_WORDS = {
    "conversations": "conversation",
    "messages": "message",
    "documents": "document",
    "unreadable": "other piece",
}


def export(session: Session, file: str | None = None, overwrite: bool = False) -> int:
    """Write everything in the namespace to a file, as JSON Lines.

    `recollect import` reads it back without loss. `-` writes to standard output. Without FILE it writes to standard
    output if that is a pipe or a file, and otherwise to a file named after the namespace and the day. An earlier export
    is replaced; any other file only with --overwrite. Of a damaged memory it writes what can be read, says what is
    lost, and exits with 1.
    """
    if not session.has_memory():
        session.existing_memory()
    target = file or (_dated(session) if session.out.width is not None else "-")
    path = None if target == "-" else Path(target).expanduser()
    if session.json and (path is None or is_standard_output(path)):
        raise InvalidInput("--json cannot be combined with an export to standard output.", hint="Name a file.")
    records, lost = _write(session, path, overwrite=overwrite)
    if lost is not None:
        _print_lost(session, lost)
    code = 0 if lost is None else 1
    if path is None:
        return code
    size = path.stat().st_size if path.is_file() else None
    if session.json:
        document = {"file": str(path), "records": records, "bytes": size}
        session.out.document(document if lost is None else {**document, "lost": dict(lost)})
    else:
        _print_done(session, path, records, size)
    return code


def _write(session: Session, path: Path | None, *, overwrite: bool) -> tuple[int, Mapping[str, int] | None]:
    """Writes all that can be read. Returns the records, and of a damaged memory what is lost."""
    import recollect

    try:
        return _export(session, session.memory(), path, overwrite=overwrite), None
    except Incomplete as problem:
        return problem.records, problem.lost
    except StoreDamaged as problem:  # it cannot even be opened
        if not isinstance(session.store, Path):
            raise
        with TemporaryDirectory(dir=path.parent if path is not None else None, prefix=".recollect-") as folder:
            made = Path(folder) / "memory.db"
            try:
                lost = recollect.recover(session.store, made)
            except StoreError:  # it never was a memory
                raise problem from None
            with recollect.open(made, namespace=session.settings.namespace, background=False) as memory:
                own = lost.get(session.settings.namespace)
                return _export(session, memory, path, overwrite=overwrite), asdict(own) if own is not None else {}


def _export(session: Session, memory: Memory, path: Path | None, *, overwrite: bool) -> int:
    from recollect.faces.cli.terminal.progress import progress
    from recollect.faces.present.times import number

    with progress(session.out, "Writing") as report, naming(path):
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


def _print_lost(session: Session, lost: Mapping[str, int]) -> None:
    from recollect.faces.present.times import number

    out = session.out
    counts = [number(lost[name], word) for name, word in _WORDS.items() if lost.get(name)]
    least = f" At least {_joined(counts)} could not." if counts else ""
    out.note(f"{session.store} is damaged. Everything that can be read was exported.{least}")
    out.note(out.hint("To go on with it in a new memory: recollect import FILE --store NEW"))


def _joined(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _print_done(session: Session, path: Path, records: int, size: int | None) -> None:
    from recollect.faces.present import times

    done = f"Exported {times.number(records, 'record')} of {session.settings.namespace} to {path}"
    if size is not None:
        session.out.line(f"{done} ({times.size(size)}).")
    else:  # a pipe or a device: nothing of ours may get into it
        session.out.note(f"{done}.")


def _dated(session: Session) -> str:
    from recollect.record import utc_now

    name = session.settings.namespace.replace("/", "-")
    return f"recollect-{name}-{utc_now():%Y-%m-%d}.jsonl"


COMMAND = Command(
    export,
    ("recollect export history.jsonl", "recollect export - | gzip > history.jsonl.gz"),
    (Option(("--overwrite",), "Replace FILE even if it is not an export.", default=False),),
    Words("FILE|-", "file"),
)
