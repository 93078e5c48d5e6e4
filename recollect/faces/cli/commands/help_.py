"""`recollect help`: the same as --help, for those who type it so."""

from __future__ import annotations

from recollect.faces.cli.commands import ROOT, SUMMARIES, load, meant
from recollect.faces.cli.help import command_help, root_help
from recollect.faces.cli.parser import PROGRAM, Arguments, Command, WrongUsage
from recollect.faces.cli.terminal.session import Invocation


def show_help(session: Invocation, which: list[str] | None = None) -> int:
    """Show the help of a command.

    Without a name it lists the commands.
    """
    words = which or []
    if len(words) > 2:
        raise WrongUsage("recollect help takes a COMMAND, and a part of it at most.", hint="See recollect help --help")
    text = help_of(*words)
    if session.json:
        session.out.document({"help": text})
    else:
        session.out.line(text)
    return 0


def help_of(name: str = "", part: str = "") -> str:
    """The help of a command, or of a part of it; of the program for none. Raises WrongUsage."""
    if not name:
        return root_help(ROOT, list(SUMMARIES.items()))
    command = load(meant(name))
    if not part:
        return command_help(name, command)
    if part not in command.parts:
        raise WrongUsage(f"{PROGRAM} {name} has no {part!r}.", hint=f"See {PROGRAM} {name} --help")
    return command_help(f"{name} {part}", command.parts[part])


COMMAND = Command(
    show_help,
    ("recollect help", "recollect help search", "recollect help mcp install"),
    words=Arguments("COMMAND", "which", several=True, values=tuple(SUMMARIES)),
)
