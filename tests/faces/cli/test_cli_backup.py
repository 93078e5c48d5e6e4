"""`recollect backup`, `restore FILE` and what `export` may write to."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.faces.conftest import CommandLine, Device
from tests.faces.terminal import COMMAND


def test_a_backup_is_restored_with_all_namespaces_and_quality_vectors(run: CommandLine, tmp_path: Path) -> None:
    run("remember", "the spare key is with Ana")
    run("remember", "sourdough wants cold water", "--namespace", "bread")
    run("embed")
    copy = tmp_path / "copy.db"
    ran = run("backup", copy)
    assert ran.code == 0
    made, restore = ran.out.splitlines()
    assert made.endswith("verified).")
    assert restore == f"To restore: recollect restore {copy} --replace"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    run("remember", "this came later")
    back = run(*restore.removeprefix("To restore: recollect ").split())
    assert back.code == 0
    assert back.out.startswith("Restored ")
    assert run("search", "came later", "--json").document["results"] == []
    assert run("search", "spare key", "--json").document["mode"] == "quality"
    assert run("search", "sourdough", "--namespace", "bread").code == 0
    assert run("check").code == 0


def test_a_backup_becomes_the_memory_where_there_is_none(run: CommandLine, tmp_path: Path) -> None:
    run("remember", "the spare key is with Ana")
    size = run("backup", tmp_path / "copy.db", "--json").document["bytes"]
    assert size == (tmp_path / "copy.db").stat().st_size
    place = tmp_path / "elsewhere" / "memory.db"
    ran = run("restore", tmp_path / "copy.db", "--store", place, "--json")
    assert ran.document["store"] == str(place)
    assert run("search", "spare key", "--store", place).code == 0


def test_a_memory_is_replaced_only_when_told(run: CommandLine, tmp_path: Path) -> None:
    run("remember", "the spare key is with Ana")
    run("backup", tmp_path / "copy.db")
    run("remember", "this came later")
    ran = run("restore", tmp_path / "copy.db")
    assert ran.code == 2
    assert "--replace" in ran.err
    assert run("search", "came later").code == 0


def test_a_damaged_backup_replaces_nothing(run: CommandLine, tmp_path: Path) -> None:
    run("remember", "the spare key is with Ana")
    copy = tmp_path / "copy.db"
    run("backup", copy)
    data = bytearray(copy.read_bytes())
    data[5000:9000] = bytes(4000)
    copy.write_bytes(data)
    ran = run("restore", copy, "--replace")
    assert ran.code == 2
    assert "damaged" in ran.err
    assert run("search", "spare key").code == 0


def test_restore_says_what_a_file_is_that_is_no_backup(run: CommandLine, tmp_path: Path) -> None:
    run("remember", "the spare key is with Ana")
    run("export", tmp_path / "dump.jsonl")
    dump = run("restore", tmp_path / "dump.jsonl", "--replace")
    assert (dump.code, dump.err) == (
        2,
        f"{tmp_path}/dump.jsonl is an export, not a backup. Read it: recollect import {tmp_path}/dump.jsonl\n",
    )
    letter = tmp_path / "letter.txt"
    letter.write_text("dear diary " * 500)
    ran = run("restore", letter, "--replace")
    assert ran.code == 2
    assert ran.err == f"{letter} is not a Recollect store.\n"
    assert run("search", "spare key").code == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("nothing.db",), 1), (("7Q2KAB", "--replace"), 2), (("copy.db", "7Q2KAB"), 2), (("~/nothing.backup",), 1)],
)
def test_what_cannot_be_restored_is_told(run: CommandLine, arguments: tuple[str, ...], code: int) -> None:
    run("remember", "the spare key is with Ana")
    ran = run("restore", *arguments)
    assert ran.code == code
    assert len(ran.err.splitlines()) == 1


def test_a_backup_replaces_no_file(run: CommandLine, tmp_path: Path, home: Path) -> None:
    run("remember", "the spare key is with Ana")
    copy = tmp_path / "copy.db"
    assert run("backup", copy).code == 0
    before = copy.read_bytes()
    assert run("backup", copy).code == 2
    assert copy.read_bytes() == before
    letter = tmp_path / "letter.txt"
    letter.write_text("dear diary")
    assert run("backup", letter).code == 2
    assert letter.read_text() == "dear diary"
    for target in (home / "recollect" / "memory.db", tmp_path / "no such folder" / "copy.db", "-"):
        ran = run("backup", target)
        assert ran.code == 2, target
        assert len(ran.err.splitlines()) == 1
    assert run("search", "spare key").code == 0


def test_in_a_folder_a_backup_is_named_by_the_day(run: CommandLine, tmp_path: Path) -> None:
    run("remember", "the spare key is with Ana")
    folder = tmp_path / "backups"
    folder.mkdir()
    made = Path(run("backup", folder, "--json").document["file"])
    assert made.parent == folder
    assert re.fullmatch(r"recollect-\d{4}-\d\d-\d\d\.db", made.name)


# --- export ----------------------------------------------------------------------------------------------------------
def test_an_export_is_for_its_owner_alone_and_replaces_an_earlier_one(sample: CommandLine, tmp_path: Path) -> None:
    dump = tmp_path / "dump.jsonl"
    assert sample("export", dump).code == 0
    assert stat.S_IMODE(dump.stat().st_mode) == 0o600
    assert sample("export", dump).code == 0
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["dump.jsonl"]


def test_somebody_elses_file_is_replaced_only_when_told(sample: CommandLine, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("dear diary")
    ran = sample("export", notes)
    assert ran.code == 2
    assert notes.read_text() == "dear diary"
    assert str(notes) in ran.err
    assert sample("export", notes, "--overwrite").code == 0
    assert notes.read_text().startswith('{"recollect_dump"')


def test_a_symbolic_link_stays_one(sample: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "real" / "dump.jsonl")
    assert sample("export", link).code == 0
    assert link.is_symlink()
    assert (tmp_path / "real" / "dump.jsonl").read_bytes().startswith(b'{"recollect_dump"')


def test_a_pipe_with_a_name_gets_the_dump(sample: CommandLine, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    ran = sample("export", pipe)
    reader.join(timeout=30)
    assert (ran.code, ran.out) == (0, ""), "standard output may be the pipe itself"
    assert f"to {pipe}." in ran.err
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert read[0].splitlines()[-1].startswith(b'{"conversations":119')


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_the_process_of_a_shell_gets_the_dump(sample: CommandLine, sample_store: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.gz"
    recollect = " ".join(f"'{word}'" for word in COMMAND)
    script = f"{recollect} export >(gzip > '{out}'); code=$?; wait $!; exit $code"
    ran = subprocess.run(["bash", "-c", script], env=dict(os.environ), capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert gzip.decompress(out.read_bytes()).splitlines()[-1].startswith(b'{"conversations":119')


@pytest.mark.skipif(sys.platform != "linux", reason="these devices are Linux's")
def test_a_device_stays_one_and_a_full_disk_is_told_by_name(sample: CommandLine, device: Device) -> None:
    null, full = device("null"), device("full")
    assert sample("export", null).code == 0
    assert null.is_char_device()
    ran = sample("export", full)
    assert (ran.code, ran.err) == (2, f"{full} could not be written: No space left on device.\n")
    assert full.is_char_device()


def test_a_disk_that_fills_up_leaves_nothing_behind_and_keeps_what_was_there(
    sample: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = tmp_path / "dump.jsonl"
    sample("export", dump)
    before = dump.read_bytes()
    import errno

    from recollect.store import transfer

    real = transfer.dumps

    def full(value: dict[str, object]) -> bytes:
        if "end" in value.values():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(value)

    monkeypatch.setattr(transfer, "dumps", full)
    ran = sample("export", dump)
    assert ran.code == 2
    assert str(dump) in ran.err
    assert "No space left on device" in ran.err
    assert dump.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["dump.jsonl"]


@pytest.mark.parametrize("target", ["", "no such folder/dump.jsonl"])
def test_a_folder_is_no_file(sample: CommandLine, tmp_path: Path, target: str) -> None:
    ran = sample("export", tmp_path / target)
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert str(tmp_path / target) in ran.err


@pytest.mark.skipif(sys.platform != "linux", reason="these devices are Linux's")
def test_json_has_no_size_for_what_is_no_file(sample: CommandLine, device: Device) -> None:
    assert sample("export", device("null"), "--json").document["bytes"] is None
