"""`recollect help`: the same as --help, for those who type it so."""

from __future__ import annotations

from recollect.faces.cli.commands import SUMMARIES
from recollect.faces.cli.parser import Command, Words
from recollect.faces.cli.session import Session


def show_help(session: Session, name: str | None = None) -> int:
    """Show the help of a command.

    Without a name it lists the commands.
    """
    from recollect.faces.cli.app import help_of

    text = help_of(name)
    if session.json:
        session.out.document({"help": text})
    else:
        session.out.line(text)
    return 0


COMMAND = Command(
    show_help,
    ("recollect help", "recollect help search"),
    words=Words("COMMAND", "name", values=tuple(SUMMARIES)),
)
