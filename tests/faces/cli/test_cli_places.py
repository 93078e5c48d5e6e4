"""Where a memory is: hints that can be typed, the last search elsewhere, read-only disks, folders and files."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.disks import fill, needs_root, small_disk
from tests.faces.conftest import CommandLine, Ran
from tests.faces.terminal import COMMAND

pytestmark = pytest.mark.slow

_COMMAND = re.compile(r"recollect ((?:--(?:store|namespace) \S+ )+[a-z]+(?: [\w.…-]+)*)")


def hinted(ran: Ran) -> list[str]:
    """The commands that are printed with options of where the memory is."""
    return _COMMAND.findall(ran.out + ran.err)


@pytest.fixture
def two(run: CommandLine) -> CommandLine:
    """Something in the default namespace, something else in t1."""
    run("remember", "dough in the default namespace", "--title", "Default")
    run("remember", "dough in the other namespace", "--title", "Other", "--namespace", "t1")
    return run


def test_hints_keep_namespace_and_store(two: CommandLine, tmp_path: Path) -> None:
    search = two("search", "dough", "--namespace", "t1")
    assert "recollect --namespace t1 show 1" in search.out
    assert "Other" in two("--namespace", "t1", "show", "1").out
    store = tmp_path / "my memories" / "notes.db"
    remembered = two("remember", "rye wants water", "--store", store, "--namespace", "a/b")
    words = shlex.split(remembered.out.split(": ")[1])
    assert words[:5] == ["recollect", "--store", str(store), "--namespace", "a/b"]
    assert "rye wants water" in two(*words[1:]).out
    for arguments in ((), ("search", "rye"), ("show", "nothing"), ("list", "--limit", "1"), ("import",), ("stats",)):
        ran = two(*arguments, "--store", store, "--namespace", "a/b") if arguments else two("--store", store)
        assert not re.search(r"recollect (?!--store|--help|demo)[a-z]", ran.out + ran.err), ran


def test_what_fills_an_empty_namespace_names_it(two: CommandLine) -> None:
    for command in (("search", "dough"), ("ask", "which dough?"), ("timeline",)):
        ran = two(*command, "--namespace", "t2")
        assert ran.err.startswith("To fill it: recollect --namespace t2 import PATH."), ran.err


def test_hints_of_errors_keep_them_too(two: CommandLine) -> None:
    ran = two("show", "no such thing", "--namespace", "t1", "--json")
    assert ran.document["error"]["hint"].endswith("recollect --namespace t1 list")


def test_without_options_hints_have_none(two: CommandLine) -> None:
    assert not hinted(two("search", "dough"))
    assert "recollect show 1" in two("search", "dough").out


def test_after_a_search_elsewhere_a_number_opens_nothing_else(two: CommandLine) -> None:
    two("search", "dough")
    two("search", "dough", "--namespace", "t1")
    ran = two("show", "1")
    assert ran.code == 1
    assert ran.err == (
        "The last search was in the namespace t1, not in default. To see that result: recollect show 1 --namespace t1\n"
    )
    assert "Other" in two("show", "1", "--namespace", "t1").out
    assert "Default" in two("show", "1", "--namespace", "default").out
    two("search", "dough")
    assert "Default" in two("show", "1").out


def test_the_same_holds_for_another_store(two: CommandLine, tmp_path: Path) -> None:
    store = tmp_path / "other.db"
    two("search", "dough")
    two("remember", "dough elsewhere", "--title", "Elsewhere", "--store", store)
    two("search", "dough", "--store", store)
    ran = two("show", "1")
    assert ran.code == 1
    assert ran.err.startswith("The last search was in another memory.")
    assert "Elsewhere" in two("show", "1", "--store", store).out


def test_a_folder_is_opened_by_the_memory_in_it(two: CommandLine, home: Path, tmp_path: Path) -> None:
    folder = home / "recollect"
    assert "Default" in two("list", "--store", folder).out
    assert two("stats", "--store", folder, "--json").document["store"] == str(folder / "memory.db")
    (tmp_path / "empty").mkdir()
    assert two("search", "dough", "--store", tmp_path / "empty").code == 1
    assert list((tmp_path / "empty").iterdir()) == [], "looking makes nothing"


@pytest.mark.parametrize("command", [(), ("search", "x"), ("remember", "x"), ("import", "."), ("stats",)])
def test_a_home_that_is_a_file_is_told(
    run: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    wrong = tmp_path / "notes.txt"
    wrong.write_text("dear diary")
    monkeypatch.setenv("RECOLLECT_HOME", str(wrong))
    ran = run(*command)
    assert ran.code == 2
    assert ran.err == (
        f"Cannot create a memory at {wrong}/memory.db: {wrong} is a file, not a folder. "
        "Set RECOLLECT_HOME to a folder.\n"
    )
    assert ran.out == ""


@pytest.fixture
def read_only(two: CommandLine, home: Path) -> Iterator[Callable[..., subprocess.CompletedProcess[str]]]:
    """Runs commands where nothing can be written: no right to the file, its folder and the state."""
    powerless: list[str] = []
    if os.geteuid() == 0:
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            pytest.skip("root may write everywhere")
        powerless = [setpriv, "--bounding-set", "-all", "--inh-caps", "-all"]
    folder = home / "recollect"
    shutil.rmtree(folder / "state", ignore_errors=True)
    for path in sorted([folder, *folder.rglob("*")], reverse=True):
        path.chmod(path.stat().st_mode & ~0o222)

    def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        typed = [*powerless, *COMMAND, *map(str, arguments)]
        return subprocess.run(typed, env=dict(os.environ), capture_output=True, text=True, check=False, timeout=30)

    yield command
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)


def test_what_only_reads_works_on_a_read_only_disk(
    read_only: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    for arguments in ((), ("search", "dough"), ("list",), ("show", "Default"), ("stats",), ("check",)):
        ran = read_only(*arguments)
        assert (ran.returncode, ran.stderr) == (0, ""), arguments
    assert read_only("export", tmp_path / "dump.jsonl").returncode == 0
    assert read_only("backup", tmp_path / "copy.db").returncode == 0


@needs_root
def test_what_only_reads_works_on_a_full_disk_and_what_writes_says_that_it_is_full(
    run: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_disk(tmp_path / "small", 2) as small:
        monkeypatch.setenv("RECOLLECT_HOME", str(small))
        run("remember", "dough in the default namespace", "--title", "Default")
        filler = fill(small)
        for reads in ((), ("search", "dough"), ("list",), ("show", "Default"), ("stats",), ("check",), ("export", "-")):
            ran = run(*reads)
            assert (ran.code, ran.err) == (0, ""), reads
            assert "Default" in ran.out or reads in ((), ("stats",), ("check",))
        assert run("backup", tmp_path / "copy.db").code == 0
        for writes in (("remember", "one more"), ("delete", "Default"), ("forget", "Default", "--yes"), ("embed",)):
            ran = run(*writes)
            assert ran.code == 2, writes
            assert ran.err.startswith(f"The disk is full: {small / 'memory.db'} could not be written.")
        filler.unlink()
        assert run("remember", "one more").code == 0


@pytest.mark.parametrize(
    "arguments",
    [("remember", "one more"), ("delete", "Default"), ("forget", "Default", "--yes"), ("embed",), ("reindex",)],
    ids=lambda arguments: arguments[0],
)
def test_what_writes_says_that_it_cannot(
    read_only: Callable[..., subprocess.CompletedProcess[str]], arguments: tuple[str, ...], home: Path
) -> None:
    ran = read_only(*arguments)
    assert ran.returncode == 2
    assert len(ran.stderr.splitlines()) == 1
    assert "is read-only" in ran.stderr
    assert str(home / "recollect" / "memory.db") in ran.stderr


@pytest.mark.parametrize("more", [(), ("--once",), ("--json",)], ids=" ".join)
def test_a_worker_that_cannot_write_says_so_once_and_ends(
    read_only: Callable[..., subprocess.CompletedProcess[str]], more: tuple[str, ...], home: Path
) -> None:
    ran = read_only("worker", *more)
    assert ran.returncode == 2
    said = f"{home / 'recollect' / 'memory.db'} is read-only: nothing can be written to it."
    assert (ran.stdout + ran.stderr).count(said) == 1
