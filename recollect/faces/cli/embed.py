"""`recollect embed`: the vectors of the quality mode."""

from __future__ import annotations

from typing import Annotated

import typer

from recollect.faces.cli.command import command
from recollect.faces.cli.session import Session

LIMIT = Annotated[
    int | None,
    typer.Option("--limit", "-n", metavar="N", min=1, help="At most N, newest first.", show_default=False),
]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    command(app, "embed", ("recollect embed", "recollect embed --limit 5000"))(embed)


def embed(session: Session, limit: LIMIT = None) -> int:
    """Make the vectors of the quality mode.

    For what has none yet, newest first. Search can be used meanwhile, and uses those that are made. You can interrupt
    it; the next run continues.
    """
    from recollect.faces.cli.progress import on_interrupt, progress
    from recollect.faces.cli.times import number, percent

    memory = session.existing_memory()
    told = session.out.hint("Progress is saved. To continue: recollect embed")
    with on_interrupt(told), progress(session.out, "Embedding") as report:
        made = memory.embed(limit=limit, progress=lambda done, of: report(done, of, number(done, "passage")))
    counts = memory.stats()
    if session.json:
        session.out.document({"made": made, "quality": {"made": counts.quality, "wanted": counts.said_passages}})
    else:
        share = percent(counts.quality, counts.said_passages)
        session.out.line(f"Embedded {number(made, 'passage')}. Quality mode: {share} built.")
    return 0
