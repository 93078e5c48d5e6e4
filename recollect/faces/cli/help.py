"""The help of commands, as text: usage, examples, what it does, options."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator, Sequence

from recollect.faces.cli.parser import COMMON, PROGRAM, Command, Option
from recollect.faces.cli.terminal.output import terminal_size

_WIDEST = 80
_INDENT = "  "
_COLUMN = 30  # the help of an option begins no further to the right

_HELP = Option(("-h", "--help"), "Show this help.")


def command_help(name: str, command: Command) -> str:
    """The help of one command; of the program for an empty name."""
    words = command.words.usage if command.words else ""
    return _page(" ".join(filter(None, (PROGRAM, name, "[OPTIONS]", words))), command)


def root_help(root: Command, commands: Sequence[tuple[str, str]]) -> str:
    """The help of the program, with what its commands are for."""
    lines = [_page(f"{PROGRAM} [OPTIONS] COMMAND ...", root), "", "Commands:", *_columns(commands)]
    return "\n".join(lines)


def _page(usage: str, command: Command) -> str:
    lines = [f"Usage: {usage}", "", *(_INDENT + example for example in command.examples)]
    for paragraph in (inspect.getdoc(command.run) or "").split("\n\n"):
        lines += ["", *_filled(paragraph)]
    options = [(_spelled(option), _told(option)) for option in (*command.options, *COMMON, _HELP)]
    return "\n".join([*lines, "", "Options:", *_columns(options)])


def _width() -> int:
    return min(_WIDEST, terminal_size()[0]) - 2


def _filled(text: str) -> list[str]:
    return textwrap.wrap(
        text,
        _width(),
        initial_indent=_INDENT,
        subsequent_indent=_INDENT,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _spelled(option: Option) -> str:
    short_first = sorted(option.flags, key=len)
    return " ".join(filter(None, (", ".join(short_first), option.metavar)))


def _told(option: Option) -> str:
    return option.help + (f"  [default: {option.default}]" if option.metavar and option.default else "")


def _columns(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    left = min(max(len(name) for name, _ in rows), _COLUMN)
    for name, told in rows:
        lines = textwrap.wrap(told, max(20, _width() - left - 4), break_on_hyphens=False, break_long_words=False)
        for count, line in enumerate(lines):
            yield f"{_INDENT}{'' if count else name:<{left}}  {line}"
