"""Errors: one envelope, exit codes, and words that help."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import apsw
import pytest

from recollect.faces.cli import main as cli
from tests.exports import chat, export
from tests.faces.conftest import CommandLine, Device
from tests.paths import ROOT


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


@pytest.mark.parametrize("command", [(), ("search", "x"), ("remember", "x"), ("export", "-"), ("forget", "--all")])
def test_a_store_of_a_newer_version_is_refused_in_a_sentence(
    run: CommandLine, tmp_path: Path, command: tuple[str, ...]
) -> None:
    store = tmp_path / "memory.db"
    run("remember", "the spare key is with Ana", "--store", store)
    with apsw.Connection(str(store)) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = store.read_bytes()
    ran = run(*command, "--store", store) if command else run("--store", store)
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert ran.err.startswith("This store was written by a later build of Recollect ")
    assert store.read_bytes() == before


@pytest.fixture
def store_of_0_1_0(tmp_path: Path) -> Path:
    store = tmp_path / "old.db"
    store.write_bytes(gzip.decompress((ROOT / "tests/fixtures/memory-0.1.0.db.gz").read_bytes()))
    return store


def test_a_store_of_0_1_0_is_brought_up_to_date_and_told_what_to_do(run: CommandLine, store_of_0_1_0: Path) -> None:
    store = store_of_0_1_0
    status = run("--store", store)
    assert status.code == 0
    assert "Search index: " in status.out
    assert f"recollect --store {store} reindex" in status.out
    searched = run("search", "project", "--store", store)
    assert searched.err.endswith(f"recollect --store {store} reindex\n")
    assert run("reindex", "--store", store).code == 0
    assert run("search", "project", "--store", store).err == ""
    assert run("check", "--store", store).code == 0


def test_until_the_index_is_built_nothing_is_said_to_be_searchable_or_embedded(
    run: CommandLine, store_of_0_1_0: Path, tmp_path: Path
) -> None:
    of = ("--store", store_of_0_1_0)
    source = export(tmp_path / "export", [chat("Which bread rises?", "Brioche.")])
    reindex = f"recollect --store {store_of_0_1_0} reindex"
    imported = run("import", source, *of)
    assert imported.code == 0
    assert f"  search index: not built yet - search uses keywords alone ({reindex})\n" in imported.out
    assert "searchable now" not in imported.out
    for more in ((), ("--json",)):
        embedded = run("embed", *of, *more)
        assert embedded.code == 2
        assert "search index is not built yet" in embedded.out + embedded.err
        assert reindex in embedded.out + embedded.err
    run("reindex", *of)
    assert "searchable now" in run("import", source, *of).out
    assert run("embed", "--limit", "4", *of).out.startswith("Embedded 4 passages.")


@pytest.mark.skipif(sys.platform != "linux", reason="these devices are Linux's")
@pytest.mark.parametrize("command", [("search", "x"), ("remember", "x"), ("restore", "letter.db", "--replace")])
def test_a_device_is_no_store(
    run: CommandLine, tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "letter.db").write_text("dear diary")
    null = device("null")
    ran = run(*command, "--store", null)
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert null.is_char_device()


def test_an_interrupt_exits_130(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_run", interrupted)
    ran = run("stats")
    assert ran.code == 130
    assert ran.err.startswith("Interrupted.")


def test_a_bug_is_a_line_and_no_traceback(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(arguments: object) -> int:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(cli, "_run", broken)
    ran = run("stats")
    assert ran.code == 2
    assert "ZeroDivisionError: by zero" in ran.err
    assert len(ran.err.splitlines()) == 1
