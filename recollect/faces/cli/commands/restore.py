"""`recollect restore`: brings back what was deleted, or a whole memory from a backup."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from recollect.errors import InvalidInput, NotFound
from recollect.faces.cli.parser import Command, Option, Words
from recollect.faces.cli.terminal.session import Session

_DUMP_BEGINS = b'{"recollect_dump"'
_ENDINGS = (".db", ".jsonl", ".gz", ".zip", ".sqlite", ".backup")


def restore(session: Session, what: list[str], replace: bool = False) -> int:
    """Bring back what was deleted, or a whole memory from a backup.

    Give the id or the title of what was deleted; the last characters of an id are enough. Or give a backup file: it is
    verified first, and an existing memory is only replaced with --replace.
    """
    files = [Path(name).expanduser() for name in what if _is_path(name)]
    if not files:
        if replace:
            raise InvalidInput("--replace needs the file of a backup.", hint="recollect restore FILE --replace")
        return _undelete(session, what)
    if len(what) > 1:
        raise InvalidInput("Only one backup can be restored at a time.", hint="Name one file, or several ids.")
    return _from_backup(session, files[0], replace=replace)


def _undelete(session: Session, what: Sequence[str]) -> int:
    from recollect.faces.cli.terminal.guessed import agrees
    from recollect.faces.present.names import meant, names_meant
    from recollect.faces.present.times import number

    memory = session.existing_memory()
    found = [meant(memory, name, deleted=True) for name in names_meant(memory, what)]
    back = memory.restore(*(one.id for one in found)) if agrees(session, found, "Restore") else 0
    if session.json:
        session.out.document({"restored": back})
    elif back:
        session.out.line(f"Restored {number(back, 'message')}.")
    else:
        session.out.line("Nothing was restored: this is not deleted, or it was forgotten for good.")
    return 0 if back else 1


def _from_backup(session: Session, backup: Path, *, replace: bool) -> int:
    import recollect
    from recollect.faces.cli.terminal.typed import typed
    from recollect.faces.present.times import size

    if not backup.is_file():
        raise NotFound(f"No such file: {backup}.")
    with backup.open("rb") as stream:
        if stream.read(len(_DUMP_BEGINS)) == _DUMP_BEGINS:
            raise InvalidInput(
                f"{backup} is an export, not a backup.", hint=f"Read it: recollect import {typed(str(backup))}"
            )
    store = session.store
    if not isinstance(store, Path):
        raise InvalidInput(
            f"A backup can only be restored to a file, and {store} is a server.", hint="Import an export there instead."
        )
    recollect.restore(backup, store, replace=replace)
    info = session.memory().upkeep.info()
    if session.json:
        session.out.document({"file": str(backup), "store": str(store), "bytes": info.bytes or None})
    else:
        session.out.line(f"Restored {store} from {backup} ({size(info.bytes)}).")
    return 0


def _is_path(name: str) -> bool:
    """Whether a file is meant: it is there, or it looks like one and nothing else."""
    if Path(name).expanduser().is_file():
        return True
    return (os.sep in name or name.startswith("~") or name.lower().endswith(_ENDINGS)) and " " not in name


COMMAND = Command(
    restore,
    ("recollect restore 7Q2KAB", "recollect restore ~/backups/memory.db", "recollect restore memory.db --replace"),
    (Option(("--replace",), "With FILE: replace the existing memory.", default=False),),
    Words("ID|TITLE|FILE", "what", required=True, several=True),
)
