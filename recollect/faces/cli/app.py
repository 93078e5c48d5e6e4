"""The application: which command is meant, and how it is run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recollect.faces.cli.commands import SUMMARIES, load
from recollect.faces.cli.parser import PROGRAM, Command, HelpWanted, Option, WrongUsage, parse, parse_root
from recollect.version import VERSION

_VERSION = Option(("--version",), "Print the version.", default=False)

#: Options that a run has once, before the command's name or after it.
_COMMON = ("store", "namespace", "color", "json")


def run_command(arguments: Sequence[str]) -> int:
    """Runs one command and returns its exit code. Raises RecollectError, and KeyboardInterrupt when told to stop."""
    name = ""
    try:
        before, rest = parse_root(arguments, (_VERSION,))
        if before.pop("version"):
            print(PROGRAM, VERSION)
            return 0
        if not rest:
            return _run(ROOT, before)
        name = _meant(rest[0])
        command = load(name)
        given = parse(name, command, rest[1:])
        return _run(command, given | {n: before[n] for n in _COMMON if given[n] in (None, False)})
    except HelpWanted as wanted:
        parts = load(name).parts if name else {}
        print(help_of(name, next((word for word in wanted.words[:1] if word in parts), "")))
        return 0


def _run(command: Command, given: dict[str, Any]) -> int:
    from recollect.faces.cli.session import open_session

    flags = {name: given.pop(name) for name in _COMMON}
    with open_session(flags) as session:
        return command.run(session, **given) or 0


def _meant(word: str) -> str:
    """The command that is meant. Raises WrongUsage."""
    if word in SUMMARIES:
        return word
    from difflib import get_close_matches

    from recollect.faces.cli.typed import typed

    near = get_close_matches(word, SUMMARIES, 1)
    meant = f" Did you mean {near[0]}?" if near else ""
    hint = f"To look for the word: {PROGRAM} search {typed(word)}"
    raise WrongUsage(f'No command "{word}".{meant}', hint=hint)


def help_of(name: str = "", part: str = "") -> str:
    """The help of a command, or of a part of it; of the program for none. Raises WrongUsage."""
    from recollect.faces.cli.help import command_help, root_help

    if not name:
        return root_help(ROOT, list(SUMMARIES.items()))
    command = load(_meant(name))
    if not part:
        return command_help(name, command)
    if part not in command.parts:
        raise WrongUsage(f"{PROGRAM} {name} has no {part!r}.", hint=f"See {PROGRAM} {name} --help")
    return command_help(f"{name} {part}", command.parts[part])


def status(session: Any) -> None:
    """Remember your conversations with language models, and find the exact message again.

    Without a command it shows what is in the memory. Nothing leaves this machine.
    """
    from recollect.faces.cli.status import show_status

    show_status(session)


ROOT = Command(
    status,
    ("recollect import ~/Downloads/chatgpt-export.zip", 'recollect search "sourdough hydration"', "recollect show 1"),
    (_VERSION,),
)
