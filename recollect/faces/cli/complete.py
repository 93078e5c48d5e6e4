"""What could come next on a command line, for a shell that asks."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import pairwise

from recollect.faces.cli.commands import SUMMARIES, load
from recollect.faces.cli.parser import COMMON, HELP, Command, Option

#: Between an answer and what it is for. The other shells show the answer alone.
_SEPARATORS = {"zsh": ":", "fish": "\t"}


def print_completions(shell: str, words: Sequence[str]) -> int:
    """Prints the answers for the words typed so far; nothing ever goes wrong aloud, in the middle of a line."""
    answers: list[tuple[str, str]] = []
    with suppress(Exception):
        answers = completions(words)
    separator = _SEPARATORS.get(shell)
    for word, told in answers:
        shown = word.replace(":", "\\:") if separator == ":" else word
        print(f"{shown}{separator}{told}" if separator and told else shown, file=sys.stdout)
    return 0


def completions(words: Sequence[str]) -> list[tuple[str, str]]:
    """The answers, each with what it is for. The last word is the one to complete, and may be empty."""
    *before, current = _joined(words) or [""]
    name = _command(before)
    command = load(name) if name else None
    options = {flag: option for option in (*(command.options if command else ()), *COMMON) for flag in option.flags}
    flag, equals, begun = current.partition("=")
    if equals and flag in options:
        return [(f"{flag}={value}", told) for value, told in _matching(_values(options[flag], before), begun)]
    last = options.get(before[-1]) if before else None
    if last is not None and last.metavar:
        return _matching(_values(last, before), current)
    if current.startswith("-"):
        given = {option.parameter for word in before if (option := options.get(word)) and not option.several}
        told = [(word, option.help) for word, option in options.items() if option.parameter not in given]
        return _matching([*told, (HELP[1], "Show the help.")], current)
    if command is None:
        return _matching(SUMMARIES.items(), current)
    return _matching([(value, "") for value in _word_values(command)], current)


def _joined(words: Sequence[str]) -> list[str]:
    """The words with those put together again that bash takes apart: "--source=c" comes as three."""
    joined: list[str] = []
    for word in words:
        last = joined[-1] if joined else ""
        if last.startswith("--") and (word == "=" or last.endswith("=")):
            joined[-1] += word
        else:
            joined.append(word)
    return joined


def _command(words: Sequence[str]) -> str:
    """The command among the words; empty where there is none yet."""
    takes_value = {flag for option in COMMON if option.metavar for flag in option.flags}
    before = ["", *words]
    plain = (w for last, w in zip(before, words, strict=False) if not w.startswith("-") and last not in takes_value)
    name = next(plain, "")
    return name if name in SUMMARIES else ""


def _word_values(command: Command) -> Iterable[str]:
    return command.words.values if command.words else ()


def _matching(answers: Iterable[tuple[str, str]], begun: str) -> list[tuple[str, str]]:
    return [(word, told) for word, told in answers if word.startswith(begun)]


def _values(option: Option, before: Sequence[str]) -> list[tuple[str, str]]:
    if isinstance(option.values, tuple):
        return [(value, "") for value in option.values]
    return [(value, "") for value in _looked_up(option.values, before)]


def _looked_up(what: str, before: Sequence[str]) -> Sequence[str]:
    """The sources, namespaces or formats there are; of the memory that the words before name."""
    if what == "formats":
        from recollect.importers.registry import READERS

        return [reader.name for reader in READERS]
    from recollect.faces.cli.terminal.session import open_session

    pairs = {flag: value for flag, value in pairwise(before) if flag.startswith("--")}
    with open_session({"store": pairs.get("--store"), "namespace": pairs.get("--namespace")}) as session:
        if not session.has_memory():
            return ()
        memory = session.memory()
        return sorted(memory.upkeep.namespaces()) if what == "namespaces" else sorted(memory.upkeep.stats().by_source)
