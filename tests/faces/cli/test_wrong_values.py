"""Values that cannot be meant are answered with those that can."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faces.conftest import CommandLine

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "bread", "--source", "calude"),
        ("search", "bread source:calude"),
        ("list", "--source", "calude"),
        ("forget", "--source", "calude", "--yes"),
    ],
)
def test_a_source_that_is_not_there_names_those_that_are(sample: CommandLine, arguments: tuple[str, ...]) -> None:
    ran = sample(*arguments)
    assert ran.code == 2
    assert ran.err == "There is no source 'calude'. Did you mean claude? Sources: chatgpt, claude, openai.\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("search", "x", "--since", "2025", "--until", "2024"), "Nothing can be since 2025 and until 2024."),
        (("search", "x since:2025 until:2024"), "Nothing can be since 2025 and until 2024."),
        (("search", "x", "--after", "2025-03", "--before", "2025-03"), "Nothing can be since 2025-03 and before"),
        (("list", "--since", "2025", "--until", "2024"), "Nothing can be since 2025 and until 2024."),
        (("search", "x", "--since", "someday"), "--since: 'someday' is not a date. Use 2025, 2025-03"),
        (("search", "x", "-n", "0"), "-n: 0 is out of range. Use 1 to 1000."),
        (("search", '""'), "There is nothing to search for."),
        (("search", "?!"), "There is nothing to search for."),
        (("search", ""), "There is nothing to search for."),
        (("search", "x", "--mode", "fast"), "Use one of: auto, instant, quality."),
        (("search", "x", "--kind", "toll"), "There is no kind 'toll'. Did you mean tool?"),
        (("search", "x", "--role", "asistant"), "There is no role 'asistant'. Did you mean assistant?"),
        (("import", ""), "A path is empty."),
        (("show", ""), "A name is empty."),
        (("search", "x", "--in", ""), "--in needs TITLE|ID, and its value is empty."),
        (("search", "x", "--namespace="), "--namespace needs NAME, and its value is empty."),
        (("list", "--title", " "), "--title needs TEXT, and its value is empty."),
        (("search", "x", "--kind", "toll"), "subagent, document, all."),
        (("completion", "tcsh"), "Use one of: bash, zsh, fish, powershell."),
    ],
)
def test_what_is_wrong_is_told_with_what_would_be_right(
    sample: CommandLine, arguments: tuple[str, ...], told: str
) -> None:
    ran = sample(*arguments)
    assert ran.code == 2
    assert told in ran.err
    assert ran.out == ""


def test_a_word_with_a_dash_before_it_is_left_out(sample: CommandLine) -> None:
    with_it = sample("search", "nginx", "--group-by", "message", "--json").document["results"]
    without = sample("search", "nginx", "-proxy", "--group-by", "message", "--json").document["results"]
    assert any("proxy" in result["messages"][0]["snippet"] for result in with_it)
    assert without
    assert not any("proxy" in result["messages"][0]["snippet"] for result in without)


def test_before_leaves_out_what_it_names_and_until_does_not(sample: CommandLine) -> None:
    def newest(*options: str) -> str:
        ran = sample("search", "water", *options, "--group-by", "message", "-n", "100", "--json")
        return max(str(result["messages"][0]["timestamp"]) for result in ran.document["results"])

    assert newest("--until", "2023-11").startswith("2023-11")
    assert newest("--before", "2023-11") < "2023-11"
    assert newest("--until", "2023/11") == newest("--until", "2023-11")
    within = sample("search", "water before:2024-02 after:2023", "--json").document["results"]
    beside = sample("search", "water", "--before", "2024-02", "--after", "2023", "--json").document["results"]
    assert within == beside != []


def test_list_takes_a_part_of_the_title(sample: CommandLine) -> None:
    assert sample("list", "sourdough").out == sample("list", "--title", "sourdough").out != ""


def test_the_sample_can_be_kept(run: CommandLine, home: object) -> None:
    folder = Path(str(home)) / "sample"
    ran = run("demo", "--keep", folder)
    assert f"recollect --store {folder / 'memory.db'} search" in ran.out
    assert "984 messages" in run("--store", folder / "memory.db").out
    assert run("demo", "--keep", folder).code == 2


def test_the_demo_keeps_out_of_a_folder_with_other_things_in_it(run: CommandLine, tmp_path: Path) -> None:
    """It says afterwards that the folder can be deleted."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "thesis.txt").write_text("dear")
    ran = run("demo", "--keep", folder)
    assert (ran.code, ran.err) == (2, f"{folder} is there already. Name a folder that does not exist yet.\n")
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]
