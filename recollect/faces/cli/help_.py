"""`recollect help`: the same as --help, for those who type it so."""

from __future__ import annotations

from recollect.faces.cli.commands import SUMMARIES
from recollect.faces.cli.parser import Command, Words, WrongUsage
from recollect.faces.cli.session import Session


def show_help(session: Session, which: list[str] | None = None) -> int:
    """Show the help of a command.

    Without a name it lists the commands.
    """
    from recollect.faces.cli.app import help_of

    words = which or []
    if len(words) > 2:
        raise WrongUsage("recollect help takes a COMMAND, and a part of it at most.", hint="See recollect help --help")
    text = help_of(*words)
    if session.json:
        session.out.document({"help": text})
    else:
        session.out.line(text)
    return 0


COMMAND = Command(
    show_help,
    ("recollect help", "recollect help search", "recollect help mcp install"),
    words=Words("COMMAND", "which", several=True, values=tuple(SUMMARIES)),
)
