"""Errors: one envelope, exit codes, and words that help."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.faces.cli import app
from tests.faces.conftest import CommandLine


def test_a_typo_is_told_what_was_meant(run: CommandLine) -> None:
    ran = run("serch")
    assert ran.code == 2
    assert ran.err == 'No command "serch". Did you mean search? To look for the word: recollect search serch\n'
    assert ran.out == ""


@pytest.mark.parametrize("arguments", [("search",), ("search", "--nonsense"), ("show",), ("list", "--limit", "many")])
def test_wrong_usage_exits_2_and_names_the_help(run: CommandLine, arguments: tuple[str, ...]) -> None:
    ran = run(*arguments)
    assert ran.code == 2
    assert f"See recollect {arguments[0]} --help" in ran.err


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (("serch",), "usage", 2),
        (("show", "nothing of the kind"), "not_found", 1),
        (("search", "x", "--since", "someday"), "invalid_input", 2),
        (("search", "x", "--namespace", "a b"), "invalid_input", 2),
    ],
)
def test_in_json_errors_are_documents_too(
    sample: CommandLine, arguments: tuple[str, ...], code: str, exit_code: int
) -> None:
    ran = sample(*arguments, "--json")
    assert ran.code == exit_code
    assert ran.document["error"]["code"] == code
    assert set(ran.document["error"]) == {"code", "message", "hint"}
    assert ran.err == ""


def test_a_file_that_is_no_store_is_refused(run: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("dear diary " * 500)
    ran = run("stats", "--store", path)
    assert ran.code == 2
    assert "is not a Recollect store" in ran.err
    assert path.read_text().startswith("dear diary")


def test_an_interrupt_exits_130(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "run_command", interrupted)
    ran = run("stats")
    assert ran.code == 130
    assert ran.err.startswith("Interrupted.")


def test_a_bug_is_a_line_and_no_traceback(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(arguments: object) -> int:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(app, "run_command", broken)
    ran = run("stats")
    assert ran.code == 2
    assert "ZeroDivisionError: by zero" in ran.err
    assert len(ran.err.splitlines()) == 1
