"""`recollect delete`: out of every search and list, kept in the memory; `restore` takes it back."""

from __future__ import annotations

from typing import Annotated

import typer

from recollect.faces.cli.command import command
from recollect.faces.cli.session import Session

WHAT = Annotated[list[str], typer.Argument(metavar="ID|TITLE", hidden=True)]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    command(app, "delete", ("recollect delete 7Q2KAB", 'recollect delete "Weekend baking plan"'))(delete)


def delete(session: Session, what: WHAT) -> int:
    """Hide messages or whole conversations.

    No search, list or count shows them any more; importing again does not bring them back, `recollect restore` does.
    The words stay in the memory. To remove them: recollect forget.
    """
    from recollect.faces.cli.layout import joined
    from recollect.faces.cli.names import names_meant, short, titled
    from recollect.faces.cli.output import harmless
    from recollect.faces.cli.times import number

    memory = session.existing_memory()
    found = [memory.resolve(name) for name in names_meant(memory, what)]
    ids = [message.id if message else thread.conversation.id for thread, message in found]
    hidden = memory.delete(*ids)
    if session.json:
        session.out.document({"deleted": hidden})
    else:
        titles = dict.fromkeys(f'"{harmless(titled(thread.conversation.title))}"' for thread, _ in found)
        undo = session.out.hint(f"recollect restore {' '.join(map(short, ids))}")
        done = f"Deleted {number(hidden, 'message')} of {', '.join(titles)}."
        session.out.line(joined(done, f"To undo: {undo}", session.out))
    return 0
