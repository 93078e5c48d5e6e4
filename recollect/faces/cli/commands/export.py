"""`recollect export`: writes the whole namespace to a file that `import` reads back without loss."""

from __future__ import annotations

import sys
from pathlib import Path

from recollect.errors import InvalidInput
from recollect.faces.cli.parser import Command, Option, Words
from recollect.faces.cli.terminal.session import Session
from recollect.faces.cli.terminal.targets import is_standard_output, naming


def export(session: Session, file: str | None = None, overwrite: bool = False) -> int:
    """Write everything in the namespace to a file, as JSON Lines.

    `recollect import` reads it back without loss. `-` writes to standard output. Without FILE it writes to standard
    output if that is a pipe or a file, and otherwise to a file named after the namespace and the day. An earlier export
    is replaced; any other file only with --overwrite.
    """
    session.existing_memory()
    target = file or (_dated(session) if session.out.width is not None else "-")
    path = None if target == "-" else Path(target).expanduser()
    if session.json and (path is None or is_standard_output(path)):
        raise InvalidInput("--json cannot be combined with an export to standard output.", hint="Name a file.")
    records = _write(session, path, overwrite=overwrite)
    if path is None:
        return 0
    size = path.stat().st_size if path.is_file() else None
    if session.json:
        session.out.document({"file": str(path), "records": records, "bytes": size})
    else:
        _print_done(session, path, records, size)
    return 0


def _write(session: Session, path: Path | None, *, overwrite: bool) -> int:
    from recollect.faces.cli.terminal.progress import progress
    from recollect.faces.present.times import number

    memory = session.memory()
    with progress(session.out, "Writing") as report, naming(path):
        total = memory.stats().conversations

        def told(count: int) -> None:
            report(count, total, number(count, "line"))

        if path is not None:
            return memory.export(path, overwrite=overwrite, progress=told)
        sys.stdout.flush()
        written = memory.export(sys.stdout.buffer, progress=told)
        sys.stdout.buffer.flush()
        return written


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
