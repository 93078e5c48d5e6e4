"""`recollect delete`: hides messages from searches and lists; `restore` brings them back."""

from __future__ import annotations

from recollect.faces.cli.parser import Arguments, Command
from recollect.faces.cli.terminal.session import Invocation


def delete(session: Invocation, what: list[str]) -> int:
    """Hide messages or whole conversations.

    They no longer appear in searches, lists and counts, and importing again does not bring them back; `recollect
    restore` does. The text stays in the memory's file. What a part of a title means is shown first, and you are asked.
    To remove something for good: recollect forget
    """
    from recollect.faces.cli.terminal.guessed import agrees
    from recollect.faces.cli.terminal.layout import joined
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.present.names import meant, names_meant, short, titled
    from recollect.faces.present.times import number

    memory = session.existing_memory()
    found = [meant(memory, name) for name in names_meant(memory, what)]
    ids = [one.id for one in found]
    if not agrees(session, found, "Delete"):
        session.out.line("Nothing was deleted.")
        return 1
    hidden = memory.delete(*ids)
    if session.json:
        session.out.document({"deleted": hidden})
    elif not hidden:
        session.out.line("Nothing was deleted: this is deleted already.")
    else:
        titles = dict.fromkeys(f'"{harmless(titled(one.title))}"' for one in found)
        undo = session.out.hint(f"recollect restore {' '.join(map(short, ids))}")
        done = f"Deleted {number(hidden, 'message')} of {', '.join(titles)}."
        session.out.line(joined(done, f"To undo: {undo}", session.out))
    return 0 if hidden else 1


COMMAND = Command(
    delete,
    ("recollect delete 7Q2KAB", 'recollect delete "Weekend baking plan"'),
    words=Arguments("ID|TITLE", "what", required=True, several=True),
)
