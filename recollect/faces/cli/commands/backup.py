"""`recollect backup`: a copy of the whole memory while it is in use."""

from __future__ import annotations

from pathlib import Path

from recollect.errors import InvalidInput
from recollect.faces.cli.parser import Command, Words
from recollect.faces.cli.terminal.session import Session
from recollect.faces.cli.terminal.targets import naming


def backup(session: Session, file: str | None = None) -> int:
    """Copy the whole memory to a file, and verify the copy.

    The copy holds all namespaces, the search index and the quality mode. You can use the memory meanwhile. If FILE is a
    folder or left out, the copy is named after the day. Existing files are never replaced. To bring it back: recollect
    restore FILE
    """
    from recollect.faces.cli.terminal.progress import progress
    from recollect.faces.cli.terminal.typed import typed
    from recollect.faces.present.times import percent, size

    memory, out = session.existing_memory(), session.out
    if file == "-":
        raise InvalidInput("A backup needs a file.", hint="To write to a pipe: recollect export -")
    path = Path(file or ".").expanduser()
    if path.is_dir():
        path = path / _dated()
    with progress(out, "Copying") as report, naming(path):
        taken = memory.upkeep.backup(path, progress=lambda done, total: report(done, total, percent(done, total)))
    if session.json:
        out.document({"file": str(path), "bytes": taken})
    else:
        out.line(f"Backed up {session.store} to {path} ({size(taken)}, verified).")
        out.line(out.hint(f"To restore: recollect restore {typed(str(path))} --replace"))
    return 0


def _dated() -> str:
    from recollect.record import utc_now

    return f"recollect-{utc_now():%Y-%m-%d}.db"


COMMAND = Command(
    backup,
    ("recollect backup ~/backups/memory.db", "recollect backup ~/backups/"),
    words=Words("FILE", "file"),
)
