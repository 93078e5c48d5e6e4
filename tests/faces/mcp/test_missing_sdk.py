"""Without the SDK, which is an extra, everything else works and MCP says how to get it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import recollect
from recollect.faces.http.scope import Memories, Served
from recollect.faces.server.app import build
from recollect.memory.settings import load_settings, own_places
from tests.faces.conftest import CommandLine

HINT = 'pip install "recollect[mcp]"'


@pytest.fixture(params=["", "1.30.0", "2.2.9"])
def without_sdk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The version that is there, empty for none."""

    def version(name: str) -> str:
        if not request.param:
            raise PackageNotFoundError(name)
        return str(request.param)

    monkeypatch.setattr("recollect.faces.mcp.version", version)
    return str(request.param)


def test_the_command_says_what_to_install(without_sdk: str, run: CommandLine) -> None:
    for words in (("mcp",), ("mcp", "install", "claude-code")):
        ran = run(*words)
        assert (ran.code, HINT in ran.err, without_sdk in ran.err) == (2, True, True)


def test_the_server_serves_all_but_that(without_sdk: str, home: Path) -> None:
    where = own_places()
    memories = Memories(recollect.open(home / "memory.db", background=False))
    served = Served(load_settings(where=where), where)
    with TestClient(build(memories, served), base_url="http://127.0.0.1:7070") as client:
        told = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
        assert (told.status_code, HINT in told.json()["hint"]) == (501, True)
        assert client.get("/api/v1/stats").status_code == 200
