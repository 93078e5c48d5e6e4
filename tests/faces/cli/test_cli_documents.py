"""Documents on the command line: imported, found, shown, forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faces.conftest import CommandLine

HANDBOOK = "# Travel\n\nHow we go.\n\n## Trains\n\nTickets of the Brennero line are paid back within ten days.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "files"
    made.mkdir()
    (made / "travel.md").write_text(HANDBOOK, encoding="utf-8")
    (made / "office.txt").write_text("\n".join(f"Line {n}." for n in range(100)) + "\nThe wifi password.\n", "utf-8")
    (made / "nothing.txt").write_text("", encoding="utf-8")
    return made


def test_a_folder_is_imported_and_the_bad_file_named(run: CommandLine, folder: Path) -> None:
    ran = run("import", "--documents", folder)
    assert ran.code == 0
    assert "Imported 2 documents\n  2 new - 0 changed - 0 unchanged\n" in ran.out
    assert "Not read (1):\n  nothing.txt   it is empty\n" in ran.out
    assert "nothing.txt" in run("import", "--problems").out
    (folder / "office.txt").unlink()
    again = run("import", "--documents", folder)
    assert "0 new - 0 changed - 1 unchanged" in again.out
    assert "no longer files, still found: office.txt (recollect forget NAME removes one)" in again.out


def test_a_document_is_found_shown_and_forgotten(run: CommandLine, folder: Path) -> None:
    run("import", "--documents", folder)
    found = run("search", "wifi", "password", "--why")
    assert found.code == 0
    assert found.out.startswith("1  office.txt, line 101  Documents - ")
    assert "The [wifi] [password]." in found.out
    assert "1 document - " in found.out
    shown = run("show", "1", "--context", "2")
    lines = ["line 101", "", "Line 98.", "Line 99.", "The [wifi] [password]."]
    assert shown.out.splitlines()[1:6] == lines
    assert "Line 0." in run("show", "1", "--full").out
    assert "## Trains" in run("show", "travel.md").out
    assert run("show", "1", "--json").document["line"] == 101
    assert run("forget", "office.txt", "--yes").code == 0
    gone = run("search", "wifi", "password")
    assert (gone.code, gone.out) == (1, "Nothing found in 0 conversations and 1 document.\n")


def test_documents_are_numbered_after_conversations(run: CommandLine, folder: Path) -> None:
    run("remember", "Ana has the tickets of the Brennero line.")
    run("import", "--documents", folder)
    lines = run("search", "Brennero tickets").out.splitlines()
    assert [line[:2] for line in lines if line[:1].isdigit()][:2] == ["1 ", "2 "]
    assert "travel.md, Travel > Trains" in "\n".join(lines)
    assert "## Trains" in run("show", "2").out
    assert "Ana has" in run("show", "1").out


@pytest.mark.parametrize(
    "arguments", [("--documents",), ("--documents", "--found"), ("--documents", "a", "--format", "x")]
)
def test_what_does_not_go_together_is_refused(run: CommandLine, arguments: tuple[str, ...]) -> None:
    ran = run("import", *arguments)
    assert ran.code == 2
    assert "--documents takes paths alone" in ran.err


def test_a_folder_of_documents_without_the_option_is_told_of_it(run: CommandLine, folder: Path) -> None:
    ran = run("import", folder)
    assert ran.code == 1
    assert ran.err.endswith(f"as documents: recollect import --documents {folder}\n")
    assert run("import", "--documents", folder).code == 0


def test_nothing_to_read_is_an_error(run: CommandLine, folder: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run("import", "--documents", empty).code == 1
    assert run("import", "--documents", folder / "nothing.txt").code == 1
    assert run("import", "--documents", folder / "travel.md", folder / "nothing.txt").code == 1
