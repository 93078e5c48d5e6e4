"""The application: which command is meant, and how it is run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recollect.faces.cli.commands import ROOT, VERSION_OPTION, load, meant
from recollect.faces.cli.parser import PROGRAM, Command, HelpWanted, parse, parse_root
from recollect.version import VERSION

#: Options that a run has once, before the command's name or after it.
_COMMON = ("store", "namespace", "color", "json")


def run_command(arguments: Sequence[str]) -> int:
    """Runs one command and returns its exit code. Raises RecollectError, and KeyboardInterrupt when told to stop."""
    name = ""
    try:
        before, rest = parse_root(arguments, (VERSION_OPTION,))
        if before.pop("version"):
            print(PROGRAM, VERSION)
            return 0
        if not rest:
            return _run(ROOT, before)
        name = meant(rest[0])
        command = load(name)
        given = parse(name, command, rest[1:])
        return _run(command, given | {n: before[n] for n in _COMMON if given[n] in (None, False)})
    except HelpWanted as wanted:
        from recollect.faces.cli.commands.help_ import help_of

        parts = load(name).parts if name else {}
        print(help_of(name, next((word for word in wanted.words[:1] if word in parts), "")))
        return 0


def _run(command: Command, given: dict[str, Any]) -> int:
    from recollect.faces.cli.terminal.session import open_session

    flags = {name: given.pop(name) for name in _COMMON}
    with open_session(flags) as session:
        if session.settings.unused:
            session.out.note(session.settings.unused)
        return command.run(session, **given) or 0
