"""The application over a real memory: what it is made of, and how it ends."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

import recollect
from recollect.errors import StoreError
from recollect.faces.http.scope import Memories, Served
from recollect.faces.server.app import build
from recollect.faces.server.server import listen
from recollect.memory.settings import load_settings, places


def test_a_shutdown_closes_the_memories(tmp_path: Path) -> None:
    where = places({"RECOLLECT_HOME": str(tmp_path)}, tmp_path)
    memory = recollect.open(tmp_path / "memory.db", background=False)
    memories = Memories(memory)
    beside = memories.of("acme/rex")
    assert memories.of("acme/rex") is beside
    assert memories.of(None) is memories.of("default") is memory
    app = build(memories, Served(load_settings(environment={}, where=where), where))
    with TestClient(app, base_url="http://127.0.0.1:7070") as client:
        assert client.get("/nothing-here").json()["code"] == "not_found"
        beside.store_message("Rex loves chicken.")
        assert memories.names() == ("default", "acme/rex")
    with pytest.raises(StoreError):
        memory.upkeep.stats()


def test_a_handle_that_nobody_asked_for_lately_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.faces.http.scope._MOST", 2)
    memories = Memories(recollect.open(tmp_path / "memory.db", background=False))
    first = memories.of("n/0")
    for number in range(3):
        memories.of(f"n/{number}")
    assert memories.of("n/2") is memories.of("n/2")
    assert memories.of("n/0") is not first
    first.store_message("Who still has it goes on.")
    assert len(memories.of("n/0").search("goes on")) == 1
    memories.close()


def test_people_get_a_page_and_programs_get_problem_details(tmp_path: Path) -> None:
    where = places({"RECOLLECT_HOME": str(tmp_path)}, tmp_path)
    memory = recollect.open(tmp_path / "memory.db", background=False)
    app = build(Memories(memory), Served(load_settings(environment={}, where=where), where))
    with TestClient(app, base_url="http://127.0.0.1:7070") as client:
        shown = client.get("/no<script>page", headers={"Accept": "text/html"})
        assert (shown.status_code, "Nothing is here." in shown.text) == (404, True)
        assert "<script>page" not in shown.text
        told = client.get("/api/v1/nothing", headers={"Accept": "text/html"})
        assert told.headers["content-type"] == "application/problem+json"
        assert client.get("/nothing").json()["code"] == "not_found"
        odd = client.get("/search?q=x&namespace=no%20spaces", headers={"Accept": "text/html"})
        assert (odd.status_code, "text/html" in odd.headers["content-type"]) == (400, True)


def test_small_answers_are_sent_at_once() -> None:
    """asyncio switches Nagle's algorithm off only for sockets that say that they are of TCP: 40 ms an answer."""
    with listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
