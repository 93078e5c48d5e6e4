"""The help of commands, completions for a shell, and the commands that print them."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise

from recollect.faces.cli.commands import ROOT, SUMMARIES, command_named, load
from recollect.faces.cli.invocation import Invocation, open_invocation
from recollect.faces.cli.output import terminal_size
from recollect.faces.cli.parser import COMMON, HELP_FLAGS, PROGRAM, Arguments, Command, Option, WrongUsage

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
    for name, description in rows:
        lines = textwrap.wrap(description, max(20, _width() - left - 4), break_on_hyphens=False, break_long_words=False)
        for count, line in enumerate(lines):
            yield f"{_INDENT}{'' if count else name:<{left}}  {line}"


def show_help(run: Invocation, which: list[str] | None = None) -> int:
    """Show the help of a command.

    Without a name it lists the commands.
    """
    words = which or []
    if len(words) > 2:
        raise WrongUsage("recollect help takes a COMMAND, and a part of it at most.", hint="See recollect help --help")
    text = help_of(*words)
    if run.json:
        run.out.document({"help": text})
    else:
        run.out.line(text)
    return 0


def help_of(name: str = "", part: str = "") -> str:
    """The help of a command, or of a part of it; of the program for none. Raises WrongUsage."""
    if not name:
        return root_help(ROOT, list(SUMMARIES.items()))
    command = load(command_named(name))
    if not part:
        return command_help(name, command)
    if part not in command.parts:
        raise WrongUsage(f"{PROGRAM} {name} has no {part!r}.", hint=f"See {PROGRAM} {name} --help")
    return command_help(f"{name} {part}", command.parts[part])


HELP = Command(
    show_help,
    ("recollect help", "recollect help search", "recollect help mcp install"),
    words=Arguments("COMMAND", "which", several=True, values=tuple(SUMMARIES)),
)


#: Between an answer and what it is for. The other shells show the answer alone.
_SEPARATORS = {"zsh": ":", "fish": "\t"}


def print_completions(shell: str, words: Sequence[str]) -> int:
    """Prints the answers for the words typed so far; nothing ever goes wrong aloud, in the middle of a line."""
    answers: list[tuple[str, str]] = []
    with suppress(Exception):
        answers = completions(words)
    separator = _SEPARATORS.get(shell)
    for word, description in answers:
        shown = word.replace(":", "\\:") if separator == ":" else word
        print(f"{shown}{separator}{description}" if separator and description else shown, file=sys.stdout)
    return 0


def completions(words: Sequence[str]) -> list[tuple[str, str]]:
    """The answers, each with what it is for. The last word is the one to complete, and may be empty."""
    *before, current = _joined(words) or [""]
    name = _command(before)
    command = load(name) if name else None
    options = {flag: option for option in (*(command.options if command else ()), *COMMON) for flag in option.flags}
    flag, equals, begun = current.partition("=")
    if equals and flag in options:
        return [
            (f"{flag}={value}", description) for value, description in _matching(_values(options[flag], before), begun)
        ]
    last = options.get(before[-1]) if before else None
    if last is not None and last.metavar:
        return _matching(_values(last, before), current)
    if current.startswith("-"):
        given = {option.parameter for word in before if (option := options.get(word)) and not option.several}
        description = [(word, option.help) for word, option in options.items() if option.parameter not in given]
        return _matching([*description, (HELP_FLAGS[1], "Show the help.")], current)
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
    return [(word, description) for word, description in answers if word.startswith(begun)]


def _values(option: Option, before: Sequence[str]) -> list[tuple[str, str]]:
    if isinstance(option.values, tuple):
        return [(value, "") for value in option.values]
    return [(value, "") for value in _looked_up(option.values, before)]


def _looked_up(what: str, before: Sequence[str]) -> Sequence[str]:
    """The sources, namespaces or formats there are; of the memory that the words before name."""
    if what == "formats":
        from recollect.importers.registry import READERS

        return [reader.name for reader in READERS]

    pairs = {flag: value for flag, value in pairwise(before) if flag.startswith("--")}
    with open_invocation({"store": pairs.get("--store"), "namespace": pairs.get("--namespace")}) as run:
        if not run.has_memory():
            return ()
        memory = run.memory()
        return sorted(memory.upkeep.namespaces()) if what == "namespaces" else sorted(memory.upkeep.stats().by_source)


# Each script hands over the words typed so far, the last of which is to be completed (complete.py), and shows the
# answers: one a line, what it is for behind a tab. Where there are none, a file name is completed.
_SCRIPTS = {
    "bash": """\
_recollect() {
    local IFS=$'\\n'
    COMPREPLY=($(_RECOLLECT_COMPLETE=bash recollect "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _recollect recollect
""",
    "zsh": """\
#compdef recollect
_recollect() {
    local -a answers
    answers=("${(@f)$(_RECOLLECT_COMPLETE=zsh recollect "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${answers[1]}" ]]; then _describe recollect answers; else _files; fi
}
if [[ "$funcstack[1]" == _recollect ]]; then _recollect "$@"; else compdef _recollect recollect; fi
""",
    "fish": """\
function __recollect_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l answers (_RECOLLECT_COMPLETE=fish recollect $words[2..] 2>/dev/null)
    if test (count $answers) -gt 0
        printf '%s\\n' $answers
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c recollect -f -a '(__recollect_complete)'
""",
    "powershell": """\
Register-ArgumentCompleter -Native -CommandName recollect -ScriptBlock {
    param($word, $line, $cursor)
    $words = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    if ($word -eq '') { $words += '""' }
    $env:_RECOLLECT_COMPLETE = 'powershell'
    try { recollect @words | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) } }
    finally { Remove-Item Env:_RECOLLECT_COMPLETE }
}
""",
}

SHELLS = tuple(_SCRIPTS)


def completion(run: Invocation, shell: str) -> int:
    """Print the script that completes commands in your shell.

    It completes commands, options, and values: sources, namespaces, formats, roles, kinds.
    """
    if shell not in _SCRIPTS:
        raise WrongUsage(f"There is no completion for {shell!r}.", hint=f"Use one of: {', '.join(SHELLS)}.")
    if run.json:
        run.out.document({"shell": shell, "script": _SCRIPTS[shell]})
    else:
        run.out.verbatim(_SCRIPTS[shell].rstrip("\n"))
    return 0


COMPLETION = Command(
    completion,
    (
        "recollect completion bash >> ~/.bashrc",
        "recollect completion zsh >> ~/.zshrc",
        "recollect completion fish > ~/.config/fish/completions/recollect.fish",
    ),
    words=Arguments("|".join(SHELLS), "shell", required=True, values=SHELLS),
)
