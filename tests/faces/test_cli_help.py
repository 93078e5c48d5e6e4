"""The help is the documentation: examples first, and every one of them can be typed."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from typer.main import get_command

from recollect.faces.cli.app import build_app
from recollect.faces.cli.names import source_label
from recollect.importers.registry import READERS
from tests.faces.conftest import CommandLine

APP: Any = get_command(build_app())
COMMANDS = list(APP.commands)
EXAMPLES = [line for command in (APP, *APP.commands.values()) for line in command.epilog.splitlines()]


def test_the_commands_stand_in_the_order_in_which_one_meets_them(run: CommandLine) -> None:
    assert COMMANDS[:3] == ["import", "search", "show"]
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
    assert max(map(len, ran.out.splitlines())) <= 100
    for option in ("--json", "--namespace", "--store", "--color"):
        assert option in ran.out


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_can_be_typed(example: str) -> None:
    words = shlex.split(example.split("|")[-1] if example.startswith("pbpaste") else example.split("|")[0])
    arguments = (
        words[1 : words.index(">>")] if ">>" in words else words[1 : words.index(">")] if ">" in words else words[1:]
    )
    name, *rest = arguments
    APP.commands[name].make_context(name, rest)


def test_short_help_is_not_cut(run: CommandLine) -> None:
    assert "..." not in run("--help").out.split("Commands:")[1]


def test_every_readable_source_has_a_name_for_people() -> None:
    labels = {reader.name: reader.label for reader in READERS if reader.name not in ("recollect", "openai")}
    assert {name: source_label(name) for name in labels} == labels
