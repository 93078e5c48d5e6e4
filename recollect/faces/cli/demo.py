"""`recollect demo`: the sample archive in a throwaway store, and three searches in it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from recollect.faces.cli.command import command
from recollect.faces.cli.session import Session

if TYPE_CHECKING:
    from recollect.memory import Memory

#: The searches shown, with their filters.
_SEARCHES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("nginx reverse proxy", {}),
    ("two high tides but one moon", {}),
    ("how long does the train take", {"source": "chatgpt", "role": "assistant"}),
)
_RESULTS = 2


def register(app: typer.Typer) -> None:
    """Adds the command."""
    command(app, "demo", ("recollect demo",))(demo)


def demo(session: Session) -> int:
    """Look around in a sample archive.

    It is imported and searched in a throwaway memory, the way your own would be. Your own memory is not touched.
    """
    import recollect
    from recollect.sample import write_archive

    with tempfile.TemporaryDirectory(prefix="recollect-demo-", ignore_cleanup_errors=True) as folder:
        archive = write_archive(Path(folder) / "archive")
        with recollect.open(Path(folder) / "memory.db", durable=False) as memory:
            if session.json:
                session.out.document(_as_json(memory, archive))
            else:
                _print(session, memory, archive)
    return 0


def _print(session: Session, memory: Memory, archive: list[Path]) -> None:
    from recollect.faces.cli.hits import print_hits
    from recollect.faces.cli.report import print_report

    out = session.out
    out.line(out.bold(f"$ recollect import {' '.join(path.name for path in archive)}"))
    print_report(memory.import_file(*archive), memory.stats(), out, all_problems=False)
    for query, filters in _SEARCHES:
        options = "".join(f" --{name} {value}" for name, value in filters.items())
        out.line()
        out.line(out.bold(f'$ recollect search "{query}"{options}'))
        print_hits(memory.search(query, limit=_RESULTS, **filters), out, next_steps=False)
    out.line()
    out.line(out.bold("Now with your own history:"))
    out.line("  recollect import ~/Downloads/your-export.zip")
    out.line('  recollect search "what you remember of it"')


def _as_json(memory: Memory, archive: list[Path]) -> dict[str, Any]:
    from recollect.faces.cli.report import report_as_json

    report = memory.import_file(*archive)
    searches = [memory.search(query, limit=_RESULTS, **filters).to_json() for query, filters in _SEARCHES]
    return {"import": report_as_json(report, memory.stats()), "searches": searches}
