"""The application over the sample archive, and over memories of a test's own."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import recollect
from recollect.faces.http.scope import Memories, Served
from recollect.faces.server.app import build
from recollect.memory.settings import load_settings, places

BASE = "http://127.0.0.1:7070"


TOKEN = "a-token-of-32-characters-and-more-xx"


def serve(
    path: Path, home: Path, token: str = "", tokens: Mapping[str, tuple[str, ...]] | None = None, **how: Any
) -> TestClient:
    """A client of an application over a store; it shows the token where there is one. `tokens` are of namespaces."""
    where = places({"RECOLLECT_HOME": str(home)}, home)
    memory = recollect.open(path, durable=False, background=False, **how)
    app = build(
        Memories(memory), Served(load_settings(environment={}, where=where), where, token=token, tokens=tokens or {})
    )
    shown = {"Authorization": f"Bearer {token}"} if token else {}
    return TestClient(app, base_url=BASE, raise_server_exceptions=False, headers=shown)


@pytest.fixture(scope="session")
def reading(derived_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of the sample archive with all that is derived from it. For reading."""
    with serve(derived_store, tmp_path_factory.mktemp("home")) as client:
        yield client


@pytest.fixture
def writing(tmp_path: Path) -> Iterator[TestClient]:
    """A client of an empty memory of the test's own."""
    with serve(tmp_path / "memory.db", tmp_path / "home") as client:
        yield client


@pytest.fixture
def trusted(tmp_path: Path) -> Iterator[TestClient]:
    """The same of a server that asks for a token, which the client shows."""
    with serve(tmp_path / "memory.db", tmp_path / "home", TOKEN) as client:
        yield client


@pytest.fixture
def mending(derived_store: Path, tmp_path: Path) -> Iterator[TestClient]:
    """A client of a copy of the derived sample archive, which the test may change."""
    shutil.copyfile(derived_store, tmp_path / "memory.db")
    with serve(tmp_path / "memory.db", tmp_path / "home") as client:
        yield client


Events = Callable[..., list[tuple[str, Any]]]


def events(text: str) -> list[tuple[str, Any]]:
    """The events of a stream: their names and data."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
        if "data" in fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def hang_up(client: TestClient, path: str, body: bytes, query: bytes = b"", *, heard: int = 0, **headers: str) -> None:
    """A request of who is gone when so many parts of the answer were heard: while it begins, so that no part of a
    stream is ever asked for, or later.
    """
    sent = {"host": BASE.removeprefix("http://"), "accept": "text/event-stream", **headers}
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": query,
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in sent.items()],
        "client": ("127.0.0.1", 1),
    }
    coming, parts = [{"type": "http.request", "body": body}, {"type": "http.disconnect"}], 0

    async def receive() -> Any:
        while len(coming) == 1 and parts < heard:
            await asyncio.sleep(0.005)
        return coming.pop(0)

    async def send(message: Any) -> None:
        nonlocal parts
        parts += message["type"] == "http.response.body"
        await asyncio.sleep(0.05)

    portal: Any = client.portal
    portal.call(client.app, scope, receive, send)
