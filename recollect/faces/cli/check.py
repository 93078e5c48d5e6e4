"""`recollect check`: whether every invariant of the store holds."""

from __future__ import annotations

import typer

from recollect.faces.cli.command import command
from recollect.faces.cli.session import Session


def register(app: typer.Typer) -> None:
    """Adds the command."""
    command(app, "check", ("recollect check", "recollect check --json"))(check)


def check(session: Session) -> int:
    """Verify every invariant of the memory.

    Changes nothing. Exit code 1 says that something is wrong, and what.
    """
    violations = session.existing_memory().check()
    out = session.out
    if session.json:
        found = [{"invariant": v.invariant, "where": v.where, "count": v.count} for v in violations]
        out.document({"ok": not violations, "violations": found})
    elif not violations:
        out.line(f"{out.symbols.ok} Every invariant holds.")
    else:
        for v in violations:
            out.line(f"{out.symbols.bad} {v.invariant}: {v.where}" + (f" ({v.count:,} times)" if v.count > 1 else ""))
        out.note("What is derived for search can be made again: recollect embed --again")
    return 1 if violations else 0
