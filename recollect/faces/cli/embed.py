"""`recollect embed`: the vectors of the quality mode."""

from __future__ import annotations

from typing import Annotated

import typer

from recollect.faces.cli.command import command
from recollect.faces.cli.session import Session

LIMIT = Annotated[
    int | None, typer.Option("--limit", "-n", metavar="N", min=1, help="At most so many.", show_default=False)
]
AGAIN = Annotated[
    bool, typer.Option("--again", help="First make again all that search derives, with the embedder that is set.")
]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    command(app, "embed", ("recollect embed", "recollect embed --limit 5000", "recollect embed --again"))(embed)


def embed(session: Session, limit: LIMIT = None, again: AGAIN = False) -> int:
    """Make the vectors of the quality mode.

    For what has none yet, newest first. Search answers meanwhile, and uses what is made. Interrupted, run it again: it
    goes on where it was.
    """
    from recollect.faces.cli.progress import progress
    from recollect.faces.cli.times import number, percent

    memory = session.existing_memory()
    if again:
        with progress(session.out, "Indexing") as report:
            total = memory.stats().messages
            memory.reindex(progress=lambda done: report(done, total, number(done, "message")))
    with progress(session.out, "Embedding") as report:
        made = memory.embed(limit=limit, progress=lambda done, wanted: report(done, wanted, number(done, "passage")))
    counts = memory.stats()
    if session.json:
        session.out.document({"made": made, "quality": {"made": counts.quality, "wanted": counts.said_passages}})
    else:
        share = percent(counts.quality, counts.said_passages)
        session.out.line(f"Quality vectors for {number(made, 'passage')} made; {share} of what was said has them.")
    return 0
