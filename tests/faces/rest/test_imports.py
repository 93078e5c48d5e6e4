"""Imports: of files of the machine, and of what is sent; exports and backups."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient

import recollect
from tests.faces.rest.conftest import events, hang_up, serve

pytestmark = pytest.mark.slow

API = "/api/v1"
EVENTS = {"Accept": "text/event-stream"}


def test_files_of_the_machine(trusted: TestClient, sample_archive: list[Path]) -> None:
    report = trusted.post(f"{API}/imports", json={"paths": [str(path) for path in sample_archive]}).json()
    assert report["written"]["new"] == report["stored"]["conversations"] == 119
    assert {source["label"] for source in report["sources"]}
    assert report["problems"] == []
    again = trusted.post(f"{API}/imports", json={"paths": [str(sample_archive[0])]}).json()
    assert again["written"]["new"] == 0
    missing = trusted.post(f"{API}/imports", json={"paths": ["/nowhere/at/all.zip"]})
    assert missing.status_code == 404


def test_a_file_that_is_sent_is_imported_as_it_comes_and_not_kept(
    writing: TestClient, tmp_path: Path, sample_archive: list[Path]
) -> None:
    path = sample_archive[0]
    with path.open("rb") as file:
        told = writing.post(
            f"{API}/imports/upload", params={"name": f"../../{path.name}"}, content=file, headers=EVENTS
        )
    *steps, (name, report) = events(told.text)
    assert name == "result"
    assert report["written"]["new"] > 0
    assert steps
    assert steps[-1][1]["messages"] == report["stored"]["messages"]
    assert path.name in report["sources"][0]["path"]
    assert [one for one in (tmp_path / "home").rglob("*") if one.is_file()] == []
    assert writing.get(f"{API}/stats").json()["conversations"] == report["stored"]["conversations"]


def test_who_hangs_up_at_once_does_not_stop_the_import(
    writing: TestClient, tmp_path: Path, sample_archive: list[Path]
) -> None:
    path = sample_archive[0]
    hang_up(writing, f"{API}/imports/upload", path.read_bytes(), f"name={path.name}".encode())
    for thread in threading.enumerate():
        if thread.name == "recollect-events":
            thread.join(30)
    assert writing.get(f"{API}/stats").json()["conversations"]
    assert [one for one in (tmp_path / "home").rglob("*") if one.is_file()] == []


def test_what_is_no_export_is_refused_and_not_kept(writing: TestClient, tmp_path: Path) -> None:
    refused = writing.post(f"{API}/imports/upload", params={"name": "x.zip"}, content=b"PK\x03\x04 no archive")
    assert refused.status_code in (400, 422) or refused.json()["problems"]
    for name in ("", "..", "a\nb", "x" * 300):
        assert writing.post(f"{API}/imports/upload", params={"name": name}, content=b"x").status_code == 400
    assert [one for one in (tmp_path / "home").rglob("*") if one.is_file()] == []


def test_what_the_disk_has_no_room_for_is_refused(
    writing: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=300_000_000))
    monkeypatch.setattr("recollect.faces.rest.routes.imports._LOOK", 4)
    ask = {"url": f"{API}/imports/upload", "params": {"name": "x.jsonl"}}
    refused = writing.post(**ask, headers={"Content-Length": "200000000"}, content=iter([b"x"]))
    assert (refused.status_code, refused.json()["code"]) == (400, "import_problem")
    assert "recollect import PATH" in refused.json()["hint"]
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=100_000_000))
    untold = writing.post(**ask, content=iter([b"12345678"]))
    assert untold.json()["code"] == "import_problem"
    assert [one for one in (tmp_path / "home").rglob("*") if one.is_file()] == []


def test_what_a_killed_server_left_behind_goes_at_the_next_start(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    uploads = tmp_path / "uploads"
    for owner in (ended.pid, os.getppid()):
        (uploads / f"{owner}-x").mkdir(parents=True)
        (uploads / f"{owner}-x" / "export.zip").write_bytes(b"x")
    with serve(tmp_path / "memory.db", tmp_path):
        assert [one.name for one in uploads.iterdir()] == [f"{os.getppid()}-x"]  # of one that runs


def test_documents(trusted: TestClient, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "trains.md").write_text("# Trains\n\nThe night train to Malmö leaves at 22:10.", encoding="utf-8")
    report = trusted.post(f"{API}/imports/documents", json={"paths": [str(folder)]}).json()
    assert (report["stored"], report["new"]) == (1, 1)
    (row,) = trusted.get(f"{API}/documents").json()["items"]
    assert row["path"].endswith("trains.md")
    text = trusted.get(f"{API}/document", params={"name": row["path"]}).json()
    assert "22:10" in text["content"]
    assert row == {name: text[name] for name in row}
    found = trusted.get(f"{API}/search", params={"q": "night train Malmö"}).json()["documents"]
    assert [one["id"] for one in found] == [row["id"]]


def test_an_export_is_read_back_without_loss(reading: TestClient, tmp_path: Path) -> None:
    dump = tmp_path / "dump.jsonl"
    with reading.stream("GET", f"{API}/export") as told:
        assert told.headers["content-disposition"] == 'attachment; filename="recollect-default.jsonl"'
        dump.write_bytes(b"".join(told.iter_bytes()))
    counts = reading.get(f"{API}/stats").json()
    assert json.loads(dump.read_bytes().splitlines()[-1])["messages"] == counts["messages"]
    with recollect.open(tmp_path / "copy.db", background=False) as copy:
        copy.import_file(dump)
        assert copy.upkeep.stats().messages == counts["messages"]


def test_who_stops_reading_an_export_leaves_nothing_behind(reading: TestClient) -> None:
    with reading.stream("GET", f"{API}/export") as told:
        next(told.iter_bytes(100))
    for thread in threading.enumerate():
        if thread.name == "recollect-export":
            thread.join(10)
            assert not thread.is_alive()


def test_a_backup_holds_everything(trusted: TestClient, tmp_path: Path) -> None:
    trusted.post(f"{API}/messages", json={"content": "Kept."})
    target = tmp_path / "copy.db"
    told = events(trusted.post(f"{API}/backup", json={"path": str(target)}, headers=EVENTS).text)
    assert told[-1] == ("result", {"file": str(target), "bytes": target.stat().st_size})
    with serve(target, tmp_path) as copy:
        assert copy.get(f"{API}/stats").json()["messages"] == 1


@pytest.mark.parametrize("path", ["/nowhere/copy.db", "a\0b", "x" * 5_000])
def test_a_backup_that_cannot_be_written_is_no_bug(trusted: TestClient, path: str) -> None:
    refused = trusted.post(f"{API}/backup", json={"path": path}).json()
    assert refused["code"] in ("invalid_input", "store_error", "os_error")


def test_without_a_token_no_file_of_the_machine_is_reached(writing: TestClient, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("The code of the safe is 1234.", encoding="utf-8")
    for route, body in (
        ("imports", {"paths": [str(secret)]}),
        ("imports/documents", {"paths": [str(secret)]}),
        ("backup", {"path": str(tmp_path / "copy.db")}),
    ):
        refused = writing.post(f"{API}/{route}", json=body)
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert writing.get(f"{API}/documents").json()["items"] == []
    assert not (tmp_path / "copy.db").exists()
