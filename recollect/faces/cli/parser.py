"""Command lines taken apart: options anywhere, words between them, and errors that name what would be right.

Our own, in a page: a library for it takes longer to load than a search takes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.errors import InvalidInput, RecollectError

PROGRAM = "recollect"

HELP_FLAGS = ("-h", "--help")

_ALIKE = 0.7  # of 1: how much an option is like one that is meant


class WrongUsage(RecollectError):
    """A command line that means nothing."""

    code = "usage"


class HelpWanted(Exception):
    """The help of this command is wanted, not the command. `words`: those that came before."""

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__()
        self.words = tuple(words)


@dataclass(frozen=True)
class Option:
    """An option; a flag where `metavar` is empty. In brackets, its value may be left out and is then empty; so only
    where the command takes no words.

    `read` makes its value of the word typed. `values` are what a shell may complete: the words, or the name of what
    is looked up then: sources, namespaces, formats.
    """

    flags: tuple[str, ...]
    help: str
    metavar: str = ""
    name: str = ""
    several: bool = False
    default: Any = None
    read: Callable[[str], Any] = str
    values: tuple[str, ...] | str = ()

    @property
    def parameter(self) -> str:
        """What the command's function calls it."""
        return self.name or self.flags[0].removeprefix("--").replace("-", "_")


@dataclass(frozen=True)
class Arguments:
    """The words that are no options. With `dashes` they may begin with a dash, as in `search nginx -mixer`."""

    metavar: str
    name: str
    required: bool = False
    several: bool = False
    dashes: bool = False
    values: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """As in "[PATH]..."."""
        return (f"{{{self.metavar}}}" if self.required else f"[{self.metavar}]") + ("..." if self.several else "")


@dataclass(frozen=True)
class Command:
    """A command: the function that runs it (its docstring is the help), examples, and what may follow its name.

    `parts` are first words with a help of their own, as in `recollect mcp install --help`.
    """

    run: Callable[..., int | None]
    examples: tuple[str, ...]
    options: tuple[Option, ...] = ()
    words: Arguments | None = None
    parts: Mapping[str, Command] = field(default_factory=dict)


#: What every command understands.
COMMON = (
    Option(("--store",), "The memory's file, or neo4j://HOST:PORT for a server.", "PLACE"),
    Option(("--namespace",), "The namespace: default, acme/rex …", "NAME", values="namespaces"),
    Option(("--color",), "Colour: auto, always or never.", "WHEN", values=("auto", "always", "never")),
    Option(("--json",), "Print one JSON document instead of text.", default=False),
)


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Reads a whole number within bounds."""

    def read(word: str) -> int:
        try:
            number = int(word)
        except ValueError:
            raise WrongUsage(f"{word!r} is not a whole number.") from None
        if number < least or (most is not None and number > most):
            raise WrongUsage(
                f"{word} is out of range.", hint=f"Use {least} to {most}." if most else f"Use {least} or more."
            )
        return number

    return read


def one_of(*choices: str) -> Callable[[str], str]:
    """Reads one of some words."""

    def read(word: str) -> str:
        if word.lower() not in choices:
            raise WrongUsage(f"{word!r} is not a choice.", hint=f"Use one of: {', '.join(choices)}.")
        return word.lower()

    return read


def parse(name: str, command: Command, words: Sequence[str]) -> dict[str, Any]:
    """The values of all options and words, by parameter. Raises WrongUsage, HelpWanted."""
    reading = _Reading(name, (*command.options, *COMMON), command.words)
    reading.go_through(words)
    return reading.values()


def parse_root(words: Sequence[str], extra: Sequence[Option]) -> tuple[dict[str, Any], list[str]]:
    """The options before a command's name, and the command with all that follows. Raises WrongUsage, HelpWanted."""
    reading = _Reading("", (*extra, *COMMON), None)
    rest = reading.go_through(words)
    return reading.values(), rest


class _Reading:
    """One command line under way."""

    def __init__(self, name: str, options: Sequence[Option], words: Arguments | None) -> None:
        self._command = f"{PROGRAM} {name}".strip()
        self._options: Mapping[str, Option] = {flag: option for option in options for flag in option.flags}
        self._words, self._free = words, not name
        self._given: dict[str, Any] = {o.parameter: [] if o.several else o.default for o in options}
        self._plain: list[str] = []

    def go_through(self, words: Sequence[str]) -> list[str]:
        """Takes in word by word; returns what follows the first plain word where a command's name is looked for."""
        waiting = list(words)
        while waiting:
            word = waiting.pop(0)
            if word == "--":
                self._plain += waiting
                break
            if word in HELP_FLAGS:
                raise HelpWanted(self._plain)
            flag, value = self._split(word)
            if flag in self._options:
                self._take(flag, value, waiting)
            elif self._is_plain(word):
                if self._free:
                    return [word, *waiting]
                self._plain.append(word)
            else:
                raise self._unknown(flag)
        return []

    def values(self) -> dict[str, Any]:
        """What was given, and the defaults of the rest. Raises WrongUsage where a word is missing, or too many."""
        words = self._words
        if words is None:
            if self._plain:
                raise self._wrong(f"{self._command} takes no {self._plain[0]!r}.")
            return self._given
        if words.required and not self._plain:
            raise self._wrong(f"{self._command} needs {words.metavar}.")
        if not words.several and len(self._plain) > 1:
            raise self._wrong(f"{self._command} takes one {words.metavar}, not {len(self._plain)}.")
        given: Any = self._plain if words.several else next(iter(self._plain), None)
        return self._given | {words.name: given}

    def _split(self, word: str) -> tuple[str, str | None]:
        """The flag and, where it is joined to it, its value: --limit=5, -n5."""
        if word.startswith("--"):
            flag, equals, value = word.partition("=")
            return flag, value if equals else None
        short = word[:2]
        if len(word) > 2 and short in self._options and self._options[short].metavar:
            joined = word[2:].removeprefix("=")
            if joined.isdigit() or not (self._words and self._words.dashes):
                return short, joined
        return word, None

    def _take(self, flag: str, value: str | None, waiting: list[str]) -> None:
        option = self._options[flag]
        if not option.metavar:
            if value is not None:
                raise self._wrong(f"{flag} takes no value.")
            self._given[option.parameter] = True
            return
        may_be_empty = option.metavar.startswith("[")
        if value is None:
            if waiting and waiting[0] not in self._options and not (may_be_empty and waiting[0].startswith("-")):
                value = waiting.pop(0)
            elif may_be_empty:
                value = ""
            else:
                raise self._wrong(f"{flag} needs {option.metavar}.")
        if not value.strip() and not may_be_empty:
            raise self._wrong(f"{flag} needs {option.metavar}, and its value is empty.")
        try:
            read = option.read(value)
        except WrongUsage as problem:
            raise WrongUsage(f"{flag}: {problem.message}", hint=problem.hint or self._help()) from None
        if option.several:
            self._given[option.parameter].append(read)
        else:
            self._given[option.parameter] = read

    def _is_plain(self, word: str) -> bool:
        if not word.startswith("-") or word == "-":
            return True
        return bool(self._words and self._words.dashes) and not word.startswith("--")

    def _unknown(self, flag: str) -> WrongUsage:
        from difflib import get_close_matches

        known = {name.lstrip("-"): name for name in (*self._options, *HELP_FLAGS)}  # that all begin alike says nothing
        near = [known[name] for name in get_close_matches(flag.lstrip("-"), known, 1, _ALIKE)]
        return self._wrong(f"{self._command} has no option {flag}." + (f" Did you mean {near[0]}?" if near else ""))

    def _wrong(self, message: str) -> WrongUsage:
        return WrongUsage(message, hint=self._help())

    def _help(self) -> str:
        return f"See {self._command} --help"


# Options that several commands have, and what they mean.

_MODES = ("auto", "instant", "quality")

SOURCE = Option(("--source",), "Only this source: chatgpt, claude, codex …", "NAME", several=True, values="sources")
SINCE = Option(("--since", "--after"), 'From this date on: 2025, 2025-03, "last week" …', "WHEN")
UNTIL = Option(("--until",), "Up to and including this date.", "WHEN")
BEFORE = Option(("--before",), "Before this date.", "WHEN")

#: The times that a list, a search or an answer can be narrowed to; and the same with its source.
TIMES = (SINCE, UNTIL, BEFORE)
FILTERS = (SOURCE, *TIMES)
IN = Option(("--in",), "Search only this conversation.", "TITLE|ID", name="in_")
MODE = Option(
    ("--mode",),
    "instant, quality, or auto: quality once it is built.",
    "MODE",
    default="auto",
    read=one_of(*_MODES),
    values=_MODES,
)
MODEL = Option(("--model",), "The model that answers: anthropic:…, openai:…, none.", "SPEC")
YES = Option(("--yes", "-y"), "Do not ask.", default=False)

NO_BACKGROUND = Option(("--no-background",), "Do not start the background worker.", default=False)


def period(since: str | None, until: str | None, before: str | None) -> tuple[datetime | None, datetime | None]:
    """The times that --since, --until and --before mean. Raises InvalidInput, also where nothing lies between them."""
    if since is None and until is None and before is None:
        return None, None
    from recollect.record import utc_now
    from recollect.search.query.request import read_period

    return read_period(since, until, before, utc_now(), prefix="--")


def limit(default: int, words: str = "How many are listed.", most: int | None = None) -> Option:
    """The option of how many are shown."""
    return Option(("--limit", "-n"), words, "N", default=default, read=whole(1, most))


def words_of(text: list[str], otherwise: tuple[str, str] | None = None) -> str:
    """The words of a command as one text, from standard input for "-". Raises InvalidInput with `otherwise`, a message
    and a hint, where there are none.
    """
    words = (sys.stdin.read() if text == ["-"] else " ".join(text)).strip()
    if otherwise is not None and not words:
        raise InvalidInput(otherwise[0], hint=otherwise[1])
    return words
