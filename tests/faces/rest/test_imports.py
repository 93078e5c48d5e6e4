"""Imports: of files of the machine, and of what is sent; exports and backups."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from fastapi.testclient import TestClient

import recollect
from tests.faces.rest.conftest import events, serve

API = "/api/v1"
EVENTS = {"Accept": "text/event-stream"}


def test_files_of_the_machine(writing: TestClient, sample_archive: list[Path]) -> None:
    report = writing.post(f"{API}/imports", json={"paths": [str(path) for path in sample_archive]}).json()
    assert report["written"]["new"] == report["stored"]["conversations"] == 119
    assert {source["label"] for source in report["sources"]}
    assert report["problems"] == []
    again = writing.post(f"{API}/imports", json={"paths": [str(sample_archive[0])]}).json()
    assert again["written"]["new"] == 0
    missing = writing.post(f"{API}/imports", json={"paths": ["/nowhere/at/all.zip"]})
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


def test_what_is_no_export_is_refused_and_not_kept(writing: TestClient, tmp_path: Path) -> None:
    refused = writing.post(f"{API}/imports/upload", params={"name": "x.zip"}, content=b"PK\x03\x04 no archive")
    assert refused.status_code in (400, 422) or refused.json()["problems"]
    for name in ("", "..", "a\nb", "x" * 300):
        assert writing.post(f"{API}/imports/upload", params={"name": name}, content=b"x").status_code == 400
    assert [one for one in (tmp_path / "home").rglob("*") if one.is_file()] == []


def test_documents(writing: TestClient, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "trains.md").write_text("# Trains\n\nThe night train to Malmö leaves at 22:10.", encoding="utf-8")
    report = writing.post(f"{API}/imports/documents", json={"paths": [str(folder)]}).json()
    assert (report["stored"], report["new"]) == (1, 1)
    (row,) = writing.get(f"{API}/documents").json()["items"]
    assert row["path"].endswith("trains.md")
    text = writing.get(f"{API}/document", params={"name": row["path"]}).json()
    assert "22:10" in text["content"]
    assert row == {name: text[name] for name in row}
    found = writing.get(f"{API}/search", params={"q": "night train Malmö"}).json()["documents"]
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
        assert copy.stats().messages == counts["messages"]


def test_who_stops_reading_an_export_leaves_nothing_behind(reading: TestClient) -> None:
    with reading.stream("GET", f"{API}/export") as told:
        next(told.iter_bytes(100))
    for thread in threading.enumerate():
        if thread.name == "recollect-export":
            thread.join(10)
            assert not thread.is_alive()


def test_a_backup_holds_everything(writing: TestClient, tmp_path: Path) -> None:
    writing.post(f"{API}/messages", json={"content": "Kept."})
    target = tmp_path / "copy.db"
    told = events(writing.post(f"{API}/backup", json={"path": str(target)}, headers=EVENTS).text)
    assert told[-1] == ("result", {"file": str(target), "bytes": target.stat().st_size})
    with serve(target, tmp_path) as copy:
        assert copy.get(f"{API}/stats").json()["messages"] == 1
