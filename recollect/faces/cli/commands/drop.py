"""`recollect drop`: removes a whole namespace for good, with its name."""

from __future__ import annotations

from recollect.errors import InvalidInput
from recollect.faces.cli.parser import Command, Option, Words
from recollect.faces.cli.terminal.session import Session


def drop(session: Session, what: list[str], yes: bool = False) -> int:
    """Remove a whole namespace for good, with its name.

    Nothing of it is left: no message, fact, index or file, and no trace that it was there. An export that is imported
    again is new to it. Backups keep what they hold. It asks first. If you interrupt it, run it again. To remove only
    what a namespace holds: recollect forget --all
    """
    from recollect.faces.cli.terminal.progress import on_interrupt, progress
    from recollect.faces.cli.terminal.typed import typed
    from recollect.faces.present.state import State
    from recollect.faces.present.times import number

    if len(what) != 1:
        raise InvalidInput("Name one namespace.", hint="To see what there is: recollect stats")
    name, out = what[0], session.out
    memory = session.existing_memory()
    with memory.beside(name) as doomed:
        messages = number(doomed.upkeep.stats().messages, "message")
    if not yes:
        if session.json or not out.can_ask:
            raise InvalidInput(
                f"Nothing was removed. This would remove {name} with {messages}, and there is no terminal to ask on.",
                hint="Add --yes to remove it.",
            )
        with on_interrupt("Nothing was removed."):
            if not out.confirms(f"Remove {name} with {messages} for good?"):
                out.line("Nothing was removed.")
                return 1
    with on_interrupt(out.hint(f"To continue: recollect drop {typed(name)}")), progress(out, "Removing"):
        was_there = memory.upkeep.drop_namespace(name)
    State.of(session.places.state, session.store, name).forget()
    if session.json:
        out.document({"dropped": was_there, "namespace": name})
    else:
        out.line(f"Removed {name} with {messages}." if was_there else f"There is no namespace {name}.")
    return 0 if was_there else 1


COMMAND = Command(
    drop,
    ("recollect drop acme/rex",),
    (Option(("--yes", "-y"), "Do not ask.", default=False),),
    Words("NAMESPACE", "what", required=True, several=True),
)
