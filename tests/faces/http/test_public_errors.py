"""What goes wrong is told without the folders of the server's machine, on every face over HTTP."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import httpx2
import pytest

import recollect
from recollect.errors import ImportProblem, InvalidInput, ModelError, RecollectError, StoreError
from recollect.faces.http.scope import Served
from recollect.memory.settings import load_settings, places
from tests.faces.http.serving import serving
from tests.faces.rest.conftest import events, serve

API = "/api/v1"


def archive(**files: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as opened:
        for name, text in files.items():
            opened.writestr(name.replace("_", "."), text)
    return made.getvalue()


UPLOADS = {
    "talk.zip": b"no archive",
    "cut.zip": archive(conversations_json="[]")[:40],
    "broken.zip": archive(conversations_json="{bad", x_txt="a"),
    "letter.txt": b"Dear all",
    "paper.pdf": b"%PDF",
    "half.jsonl": b'{"messages": [{"role": "user", "content": "x"}]}\nno JSON\n',
}


@pytest.mark.parametrize("name", UPLOADS)
@pytest.mark.parametrize("format", [None, "claude-code", "openai"])
def test_an_upload_is_called_as_it_was_sent(tmp_path: Path, name: str, format: str | None) -> None:
    with serve(tmp_path / "memory.db", tmp_path / "home") as client:
        ask = {"url": f"{API}/imports/upload", "params": {"name": name, "format": format}, "content": UPLOADS[name]}
        ask["params"] = {key: value for key, value in ask["params"].items() if value}
        whole = client.post(**ask)
        streamed = client.post(**ask, headers={"Accept": "text/event-stream"})
        told, (_, last) = whole.json(), events(streamed.text)[-1]
        for answer in (whole.text, streamed.text):
            assert str(tmp_path) not in answer
            assert "uploads" not in answer
        for report in (told, last):
            if "sources" in report:
                assert [source["path"] for source in report["sources"]] == [name]
            else:
                assert name in report["detail"]


def test_the_page_and_its_json_call_it_so_too(tmp_path: Path) -> None:
    with serve(tmp_path / "memory.db", tmp_path / "home") as client:
        for name, content in UPLOADS.items():
            for accept in ("text/html", "application/json"):
                told = client.post(
                    "/import",
                    files={"files": (name, content)},
                    headers={"Origin": str(client.base_url), "Accept": accept},
                )
                assert told.status_code == 200
                assert str(tmp_path) not in told.text
                assert "/uploads/" not in told.text


def test_a_damaged_store_is_told_by_its_name(tmp_path: Path) -> None:
    with serving(recollect.open(tmp_path / "memory.db", background=False), tmp_path) as served:
        httpx2.post(f"{served.address}{API}/messages", json={"content": "Luna"})
        with (tmp_path / "memory.db").open("r+b") as file:
            file.write(b"x" * 200_000)
        (tmp_path / "memory.db-wal").write_bytes(b"")
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search"}}
        call["params"]["arguments"] = {"query": "Luna"}  # type: ignore[index]
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
        for answer in (
            httpx2.get(f"{served.address}{API}/search", params={"q": "Luna"}),
            httpx2.get(f"{served.address}/search", params={"q": "Luna"}, headers={"Accept": "application/json"}),
            httpx2.get(f"{served.address}/search", params={"q": "Luna"}, headers={"Accept": "text/html"}),
            httpx2.post(f"{served.address}{API}/consolidate", json={}),
            httpx2.post(f"{served.address}{API}/consolidate", json={}, headers={"Accept": "text/event-stream"}),
            httpx2.post(f"{served.address}/mcp", json=call, headers=headers),
        ):
            assert str(tmp_path) not in answer.text
            assert "memory.db could not be read" in answer.text or "memory.db is damaged" in answer.text


@pytest.fixture
def here(tmp_path: Path) -> Served:
    where = places({"RECOLLECT_HOME": str(tmp_path / "Jane Doe")}, tmp_path)
    return Served(load_settings({"store": tmp_path / "My store" / "memory.db"}, environment={}, where=where), where)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (StoreError("{}/My store/memory.db is damaged."), "memory.db is damaged."),
        (StoreError("Full.", hint="See {}/Jane Doe/state/worker.log"), "Full. See worker.log"),
        (ModelError("/opt/models/minilm/model.onnx is not readable."), "model.onnx is not readable."),
        (ImportProblem("'/srv/a/b.zip' and \"/srv/c.zip\" end."), "'b.zip' and \"c.zip\" end."),
        (ModelError("https://api.example.org/v1/chat answered 404 (and/or 500)."), None),
        (InvalidInput("'/no/such/place' is not a filter."), None),
    ],
)
def test_of_a_path_the_last_part_is_told(here: Served, tmp_path: Path, error: RecollectError, told: str | None) -> None:
    before = str(error)
    error.message, error.hint = error.message.replace("{}", str(tmp_path)), error.hint.replace("{}", str(tmp_path))
    assert str(here.public(error)) == (told or before)


def test_no_room_names_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(tmp_path / "memory.db", tmp_path / "home") as client:
        monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 0})())
        told = client.post(f"{API}/imports/upload", params={"name": "x.zip"}, content=b"x").json()
        assert told["detail"] == "There is no room for 0.0 GB on the server: 0.0 GB are free."
