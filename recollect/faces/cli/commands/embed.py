"""`recollect embed`: builds the quality mode."""

from __future__ import annotations

from recollect.errors import StoreError
from recollect.faces.cli.parser import Command, Option, whole
from recollect.faces.cli.terminal.session import Session


def embed(session: Session, limit: int | None = None) -> int:
    """Build the quality mode: slower to build, better results.

    A small model that comes with the package reads every message once, newest first. You can search meanwhile, and
    interrupt it at any time: the next run continues where this one stopped.
    """
    from recollect.faces.cli.terminal.progress import on_interrupt, progress
    from recollect.faces.present.indexed import is_missing
    from recollect.faces.present.times import number, percent

    memory = session.existing_memory()
    if is_missing(memory.upkeep.index(), memory.upkeep.stats().messages):
        raise StoreError(
            "The quality mode is built on the search index, and the search index is not built yet.",
            hint="To build it first: recollect reindex",
        )
    told = session.out.hint("Progress is saved. To continue: recollect embed")
    with on_interrupt(told), progress(session.out, "Embedding") as report:
        made = memory.upkeep.embed(limit=limit, progress=lambda done, of: report(done, of, number(done, "passage")))
    counts = memory.upkeep.stats()
    if session.json:
        session.out.document({"made": made, "quality": {"made": counts.quality, "wanted": counts.said_passages}})
    else:
        share = percent(counts.quality, counts.said_passages)
        session.out.line(f"Embedded {number(made, 'passage')}. Quality mode: {share} built.")
    return 0


COMMAND = Command(
    embed,
    ("recollect embed", "recollect embed --limit 5000"),
    (Option(("--limit", "-n"), "Stop after N passages.", "N", read=whole(1)),),
)
