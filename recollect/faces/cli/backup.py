"""`recollect backup`: a copy of the whole memory while it is in use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recollect.errors import InvalidInput
from recollect.faces.cli.command import command
from recollect.faces.cli.session import Session
from recollect.faces.cli.targets import naming

FILE = Annotated[str | None, typer.Argument(metavar="FILE", hidden=True)]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    command(app, "backup", ("recollect backup ~/backups/memory.db", "recollect backup ~/backups/"))(backup)


def backup(session: Session, file: FILE = None) -> int:
    """Copy the whole memory to a file, and verify the copy.

    All namespaces, with the search index and quality vectors. The memory can be used meanwhile. Without FILE, or in a
    folder, it is named by the day. No file is replaced. `recollect restore FILE` brings it back.
    """
    from recollect.faces.cli.progress import progress
    from recollect.faces.cli.times import percent, size
    from recollect.faces.cli.typed import typed

    memory, out = session.existing_memory(), session.out
    if file == "-":
        raise InvalidInput("A backup needs a file.", hint="To write to a pipe: recollect export -")
    path = Path(file or ".").expanduser()
    if path.is_dir():
        path = path / _dated()
    with progress(out, "Copying") as report, naming(path):
        taken = memory.backup(path, progress=lambda done, total: report(done, total, percent(done, total)))
    if session.json:
        out.document({"file": str(path), "bytes": taken})
    else:
        out.line(f"Backed up {session.store} to {path} ({size(taken)}, verified).")
        out.line(out.hint(f"To restore: recollect restore {typed(str(path))} --replace"))
    return 0


def _dated() -> str:
    from recollect.record import utc_now

    return f"recollect-{utc_now():%Y-%m-%d}.db"
