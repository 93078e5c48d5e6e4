"""The help is the documentation: examples first, and every one of them can be typed."""

from __future__ import annotations

import shlex

import pytest

from recollect.faces.cli.commands import ROOT, SUMMARIES, load
from recollect.faces.cli.parser import parse
from recollect.faces.present.names import source_label
from recollect.importers.registry import READERS
from tests.faces.conftest import CommandLine

COMMANDS = list(SUMMARIES)
EXAMPLES = [line for command in (ROOT, *map(load, COMMANDS)) for line in command.examples]


def test_the_commands_stand_in_the_order_in_which_one_meets_them(run: CommandLine) -> None:
    assert COMMANDS[:5] == ["import", "search", "ask", "research", "show"]
    ran = run("--help")
    assert [ran.out.index(f"\n  {name} ") for name in COMMANDS] == sorted(ran.out.index(f"\n  {n} ") for n in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_begins_with_examples_and_says_what_the_command_does(run: CommandLine, name: str) -> None:
    ran = run(name, "--help")
    assert ran.code == 0
    usage, blank, example = ran.out.splitlines()[:3]
    assert usage.startswith(f"Usage: recollect {name}")
    assert blank == ""
    assert "recollect" in example
    assert max(map(len, ran.out.splitlines())) <= 80
    for option in ("--json", "--namespace", "--store", "--color"):
        assert option in ran.out


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_can_be_typed(example: str) -> None:
    words = shlex.split(example.split("|")[-1] if example.startswith("pbpaste") else example.split("|")[0])
    arguments = (
        words[1 : words.index(">>")] if ">>" in words else words[1 : words.index(">")] if ">" in words else words[1:]
    )
    name, *rest = arguments
    parse(name, load(name), rest)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_the_command_itself_says(name: str) -> None:
    said = (load(name).run.__doc__ or "").strip()
    assert said.splitlines()[0] == SUMMARIES[name]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_a_command_and_an_option(run: CommandLine, name: str) -> None:
    assert run("help", name).out == run(name, "--help").out == run(name, "-h").out


@pytest.mark.parametrize("words", [(), *((name, part) for name in COMMANDS for part in load(name).parts)])
def test_no_help_is_wider_than_a_terminal(run: CommandLine, words: tuple[str, ...]) -> None:
    assert max(map(len, run("help", *words).out.splitlines())) <= 80


def test_help_of_nothing_lists_the_commands(run: CommandLine) -> None:
    assert run("help").out == run("--help").out
    assert run("help", "serach").err.startswith('No command "serach". Did you mean search?')


def test_short_help_is_not_cut(run: CommandLine) -> None:
    assert "..." not in run("--help").out.split("Commands:")[1]


def test_every_readable_source_has_a_name_for_people() -> None:
    labels = {reader.name: reader.label for reader in READERS if reader.name not in ("recollect", "openai")}
    assert {name: source_label(name) for name in labels} == labels


@pytest.mark.parametrize("words", [("mcp", "install", "--help"), ("mcp", "install", "cursor", "-h")])
def test_a_part_of_a_command_has_a_help_of_its_own(run: CommandLine, words: tuple[str, ...]) -> None:
    ran = run(*words)
    assert ran.out.startswith("Usage: recollect mcp install [OPTIONS] [CLIENT]...\n")
    assert "recollect mcp install claude-code" in ran.out
    assert ran.out == run("help", "mcp", "install").out
    assert run("mcp", "--help").out.startswith("Usage: recollect mcp [OPTIONS] ")
    assert run("help", "mcp", "uninstall").code == 2
