"""`recollect export`: the whole namespace as a dump that `import` reads back without loss."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from recollect.errors import InvalidInput
from recollect.faces.cli.command import command
from recollect.faces.cli.session import Session

FILE = Annotated[str | None, typer.Argument(metavar="FILE|-", hidden=True)]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    command(
        app,
        "export",
        ("recollect export backup.jsonl", "recollect export - | gzip > backup.jsonl.gz"),
    )(export)


def export(session: Session, file: FILE = None) -> int:
    """Write the whole namespace as JSON Lines.

    `recollect import` reads it back without loss. `-` writes to standard output, and so does no name where that is no
    terminal; else the file is named by namespace and day.
    """
    memory = session.existing_memory()
    target = file or (_dated(session) if session.out.width is not None else "-")
    if target == "-":
        if session.json:
            raise InvalidInput("A dump on standard output leaves no room for --json.", hint="Name a file.")
        _write(session, None)
        return 0
    path = Path(target).expanduser()
    records = _write(session, path)
    if session.json:
        session.out.document({"file": str(path), "records": records, "bytes": path.stat().st_size})
    else:
        from recollect.faces.cli.times import number, size

        session.out.line(f"{number(records, 'record')} of {memory.namespace} in {path} ({size(path.stat().st_size)})")
    return 0


def _write(session: Session, path: Path | None) -> int:
    from recollect.faces.cli.progress import progress
    from recollect.faces.cli.times import number

    memory = session.memory()
    with progress(session.out, "Writing") as report:
        total = memory.stats().conversations

        def told(count: int) -> None:
            report(count, total, number(count, "record"))

        if path is not None:
            return memory.export(path, progress=told)
        sys.stdout.flush()
        return memory.export(sys.stdout.buffer, progress=told)


def _dated(session: Session) -> str:
    from recollect.record import utc_now

    name = session.settings.namespace.replace("/", "-")
    return f"recollect-{name}-{utc_now():%Y-%m-%d}.jsonl"
