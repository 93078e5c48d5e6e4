"""`recollect reindex`: rebuilds the search index beside the one in use."""

from __future__ import annotations

from recollect.faces.cli.parser import Command
from recollect.faces.cli.terminal.session import Session


def reindex(session: Session) -> int:
    """Rebuild the search index from the messages.

    You need it after changing the embedder. Search uses the old index until the new one is complete. If you interrupt
    it, nothing has changed; the next run continues. What `recollect embed` has built is kept.
    """
    from recollect.faces.cli.terminal.progress import on_interrupt, progress
    from recollect.faces.present.times import number

    memory, out = session.existing_memory(), session.out
    told = out.hint("Nothing has changed for search. To continue: recollect reindex")
    with on_interrupt(told), progress(out, "Indexing") as report:
        memory.upkeep.reindex(progress=lambda done, total: report(done, total, number(done, "message")))
    messages, embedder = memory.upkeep.stats().messages, memory.upkeep.stored_embedder()
    if session.json:
        out.document({"messages": messages, "embedder": embedder})
    else:
        out.line(f"Search index rebuilt from {number(messages, 'message')}.")
    return 0


COMMAND = Command(
    reindex,
    ("recollect reindex", "recollect reindex --namespace acme/rex"),
)
