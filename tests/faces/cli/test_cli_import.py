"""`recollect import`: the report, the empty states, the exit codes."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.faces.conftest import CommandLine


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "messages.jsonl"
    lines = [
        {"id": f"c{n}", "title": f"Talk {n}", "messages": [
            {"id": f"c{n}-1", "role": "user", "content": f"question number {n}"},
            {"id": f"c{n}-2", "role": "assistant", "content": f"answer number {n}"},
        ]}
        for n in range(3)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_the_report_counts_what_is_in(run: CommandLine, export: Path) -> None:
    ran = run("import", export)
    assert ran.code == 0
    assert "OpenAI messages - 1 file - messages.jsonl" in ran.out
    assert "Imported 3 conversations, 6 messages" in ran.out
    assert "3 new - 0 changed - 0 unchanged" in ran.out
    assert ran.out.endswith('Next: recollect search "..."\n')
    assert ran.err == ""


def test_importing_again_changes_nothing(run: CommandLine, export: Path) -> None:
    run("import", export)
    assert "0 new - 0 changed - 3 unchanged" in run("import", export).out


def test_what_was_not_read_is_listed_now_and_later_and_exits_0(run: CommandLine, export: Path) -> None:
    export.write_text(export.read_text() + '{"messages": [{"role": \n' * 5)
    ran = run("import", export)
    assert ran.code == 0
    assert "Not read (5):" in ran.out
    assert ran.out.count("messages.jsonl line") == 3
    assert "and 2 more: recollect import --problems" in ran.out
    later = run("import", "--problems")
    assert later.out.count("messages.jsonl line") == 5
    assert run("import", export, "--problems").out.count("messages.jsonl line") == 5


def test_an_unknown_file_says_what_it_holds_and_exits_1(run: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "my chat.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("photos/one.png", b"png")
        archive.writestr("notes.txt", "just notes")
    ran = run("import", path)
    assert ran.code == 1
    assert "is not an export that Recollect knows" in ran.err
    assert "photos/ (1), notes.txt" in ran.err
    assert f'recollect import --describe "{path}"' in ran.err
    error = run("import", path, "--json")
    assert error.code == 1
    assert error.document["error"]["code"] == "import_problem"


def test_a_path_that_is_not_there_exits_1(run: CommandLine, tmp_path: Path) -> None:
    ran = run("import", tmp_path / "nothing.zip")
    assert ran.code == 1
    assert str(tmp_path / "nothing.zip") in ran.err


def test_an_unknown_format_is_wrong_usage(run: CommandLine, export: Path) -> None:
    ran = run("import", export, "--format", "telepathy")
    assert ran.code == 2
    assert "chatgpt" in ran.err


def test_without_a_path_it_says_what_is_on_this_machine(
    run: CommandLine, home: Path, sample_archive: list[Path]
) -> None:
    nothing = run("import")
    assert nothing.code == 1
    assert "Nothing to import was found" in nothing.out
    downloads = home / "Downloads"
    downloads.mkdir()
    (downloads / "claude.zip").write_bytes(sample_archive[1].read_bytes())
    found = run("import")
    assert found.code == 0
    assert "claude.zip" in found.out
    assert "recollect import --found" in found.out


def test_found_imports_what_is_on_this_machine(run: CommandLine, home: Path, sample_archive: list[Path]) -> None:
    downloads = home / "Downloads"
    downloads.mkdir()
    (downloads / "claude.zip").write_bytes(sample_archive[1].read_bytes())
    assert "not imported yet" in run().out or "Found on this machine: " in run().out
    assert "Imported 45 conversations" in run("import", "--found").out
    assert "Found on this machine" not in run().out


def test_namespaces_are_apart(run: CommandLine, export: Path) -> None:
    run("import", export, "--namespace", "acme/rex")
    assert "acme/rex" in run("stats", "--namespace", "acme/rex").out
    assert run("list").code == 1
    assert len(run("list", "--namespace", "acme/rex", "--json").document["conversations"]) == 3
    assert run("--namespace", "acme/rex", "list").code == 0


def test_describe_prints_the_shape_without_a_text(run: CommandLine, export: Path) -> None:
    ran = run("import", "--describe", export)
    assert ran.code == 0
    assert "messages: list" in ran.out
    for secret in ("question", "answer number", "Talk", "c0-1"):
        assert secret not in ran.out


def test_a_path_that_was_named_and_not_read_is_a_failure_beside_one_that_was(
    run: CommandLine, export: Path, tmp_path: Path
) -> None:
    ran = run("import", export, tmp_path / "missing.zip")
    assert ran.code == 1
    assert "Imported 3 conversations" in ran.out
    assert "Not read (1):" in ran.out
    assert "missing.zip" in ran.out


def test_lines_without_words_are_counted_together(run: CommandLine, tmp_path: Path) -> None:
    session = {"sessionId": "s1", "timestamp": "2025-06-01T10:00:00Z", "cwd": "/home/dev"}
    said = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "why is the build red"}}
    marks = ["queue-operation", "permission-mode", "permission-mode"]
    lines = [session | said, *(session | {"type": mark} for mark in marks)]
    path = tmp_path / "s1.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    told = run("import", path).out
    assert "  skipped: 3 Claude Code lines without words (2 permission-mode, 1 queue-operation)\n" in told


def test_importing_again_says_that_nothing_is_new(run: CommandLine, export: Path, tmp_path: Path) -> None:
    assert "Nothing new" not in run("import", str(export)).out
    again = run("import", str(export)).out
    assert "Imported" not in again
    assert "Nothing new. Stored before: 3 conversations, 6 messages" in again
    first = json.loads(run("list", "--json").out)["conversations"][0]["id"]
    assert run("forget", first, "--yes").code == 0
    again = run("import", str(export)).out
    assert "Nothing new. Stored before: 2 conversations" in again
    assert "left out: 1 conversation that you forgot" in again
    assert "Imported" not in again
    notes = tmp_path / "notes.md"
    notes.write_text("# Heat pump\n\nThe heat pump hums at night.\n")
    assert "Imported 1 document" in run("import", "--documents", str(notes)).out
    assert "Nothing new. Stored before: 1 document" in run("import", "--documents", str(notes)).out
