"""Answers that are told while they are made: their steps, their end, and what becomes of who stops listening."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.testclient import TestClient

from recollect.faces.http import answers as streams
from recollect.faces.http.answers import Gone, Tell
from recollect.faces.rest.routes import upkeep
from tests.faces.rest.conftest import events, serve
from tests.models.language.conftest import model_of
from tests.models.language.wire_server import Says, wire_server

pytestmark = pytest.mark.slow

API = "/api/v1"
EVENTS = {"Accept": "text/event-stream"}


def test_ask_tells_its_steps_and_ends_with_the_same_answer(reading: TestClient) -> None:
    asked = {"question": "When was the race?"}
    answer = reading.post(f"{API}/ask", json=asked)
    told = reading.post(f"{API}/ask", json=asked, headers=EVENTS)
    assert told.headers["content-type"].startswith("text/event-stream")
    *steps, (name, last) = events(told.text)
    assert [step for step, _ in steps] == ["step", "step"]
    assert [data["name"] for _, data in steps] == ["understood", "searched"]
    assert name == "result"
    varying = {"took_ms": 0}
    assert last | varying == answer.json() | varying
    assert last["citations"][0]["message"]["id"]


def test_research_is_told_and_kept(mending: TestClient) -> None:
    told = events(mending.post(f"{API}/research", json={"question": "What about the garden?"}, headers=EVENTS).text)
    assert {name for name, _ in told[:-1]} == {"step"}
    name, report = told[-1]
    assert name == "result"
    kept = mending.get(f"{API}/reports").json()["items"]
    assert [one["id"] for one in kept] == [report["id"]]
    assert mending.get(f"{API}/reports/{report['id']}").json()["report"] == report["report"]
    assert mending.get(f"{API}/document", params={"name": report["id"]}).json()["content"].startswith("# ")


def test_a_chat_goes_on_in_its_conversation(mending: TestClient) -> None:
    first = mending.post(f"{API}/chat", json={"text": "When was the race?", "title": "Running"}).json()
    told = mending.post(
        f"{API}/chat", json={"text": "And where?", "conversation_id": first["conversation_id"]}, headers=EVENTS
    )
    name, answer = events(told.text)[-1]
    assert name == "result"
    assert answer["conversation_id"] == first["conversation_id"]
    thread = mending.get(f"{API}/conversations/{first['conversation_id']}").json()
    assert [m["content"] for m in thread["messages"]] == ["When was the race?", "And where?"]


def test_the_words_of_a_model_come_as_it_says_them(tmp_path: Path) -> None:
    with wire_server() as model, serve(tmp_path / "memory.db", tmp_path, model=model_of("anthropic", model)) as client:
        client.post(f"{API}/messages", json={"content": "The bike was 400 euros."})
        model.otherwise = lambda body: Says("It was 400 euros, as you said.")
        told = events(client.post(f"{API}/chat", json={"text": "What was the bike?"}, headers=EVENTS).text)
        words = "".join(data["text"] for name, data in told if name == "words")
        name, answer = told[-1]
        assert (name, answer["answer"], answer["note"]) == ("result", words, "")
        assert words == "It was 400 euros, as you said."
        assert answer["tokens"]["calls"] == 1
        model.otherwise = lambda body: Says(status=401, kind="authentication_error")
        question = "Again: what was the bike?"
        (name, answer) = events(client.post(f"{API}/chat", json={"text": question}, headers=EVENTS).text)[-1]
        for told in (answer, client.post(f"{API}/chat", json={"text": question}).json()):
            assert (name, told["model"], "400 euros" in told["answer"], "401" in told["note"]) == (
                "result",
                None,
                True,
                True,
            )
        told = client.post(f"{API}/ask", json={"question": question}).json()
        assert (told["model"], "400 euros" in told["answer"]) == (None, True)
        assert any("401" in note for note in told["notes"])


def test_what_goes_wrong_in_a_stream_is_its_last_event(reading: TestClient) -> None:
    told = reading.post(f"{API}/ask", json={"question": "x", "source": ["chatgtp"]}, headers=EVENTS)
    ((name, problem),) = events(told.text)
    assert name == "error"
    assert (problem["status"], problem["code"]) == (400, "invalid_input")
    assert problem["hint"]


def test_work_tells_how_far_it_is(writing: TestClient) -> None:
    for number in range(4):
        writing.post(f"{API}/messages", json={"content": f"My dog is called Luna. It is day {number}."})
    told = events(writing.post(f"{API}/consolidate", json={}, headers=EVENTS).text)
    name, done = told[-1]
    assert name == "result"
    assert done["messages"] == 4
    assert all(step == "progress" for step, _ in told[:-1])
    assert writing.post(f"{API}/consolidate", json={}).json()["messages"] == 0
    name, made = events(writing.post(f"{API}/reindex", headers=EVENTS).text)[-1]
    assert (name, made) == ("result", {"made": 4})
    assert writing.post(f"{API}/repair").json()["ok"]
    assert writing.post(f"{API}/maintain", json={"seconds": 0.5}).json() == {"more": False}


_ASKED: Any = SimpleNamespace(headers={"accept": "text/event-stream"})  # as much of a request as a stream looks at


def listened(work: Any, parts: int, *, to_the_end: bool = False) -> list[bytes]:
    """The first parts of a stream, of which nobody wants more then."""

    async def listen() -> list[bytes]:
        response: Any = streams.worked(_ASKED, work, to_the_end=to_the_end)
        body: AsyncIterator[bytes] = response.body_iterator
        heard = [await anext(body) for _ in range(parts)]
        await body.aclose()  # type: ignore[attr-defined]
        return heard

    return asyncio.run(listen())


def test_who_stops_listening_stops_the_work() -> None:
    ended = threading.Event()

    def work(tell: Tell) -> Any:
        try:
            while True:
                tell("step", {})
        except Gone:
            ended.set()
            raise

    assert listened(work, 3) == [b"event: step\ndata: {}\n\n"] * 3
    assert ended.wait(10)


def test_work_that_goes_on_to_its_end_does_so_unheard() -> None:
    ended, left = threading.Event(), threading.Event()

    def work(tell: Tell) -> Any:
        tell("progress", {"read": 1})
        assert left.wait(10)
        tell("progress", {"read": 2})
        ended.set()

    async def listen() -> None:
        response: Any = streams.worked(_ASKED, work, to_the_end=True)
        assert json.loads((await anext(response.body_iterator)).split(b"data: ")[1]) == {"read": 1}
        await response.body_iterator.aclose()
        left.set()
        assert await asyncio.to_thread(ended.wait, 10)

    asyncio.run(listen())


def test_work_that_goes_on_to_its_end_waits_for_no_listener() -> None:
    ended = threading.Event()

    def work(tell: Tell) -> Any:
        for read in range(1_000):
            tell("progress", {"read": read})
        ended.set()
        return {"read": 1_000}

    async def listen() -> list[bytes]:
        response: Any = streams.worked(_ASKED, work, to_the_end=True)
        first = await anext(response.body_iterator)
        assert await asyncio.to_thread(ended.wait, 10)  # while nothing more is read
        return [first] + [part async for part in response.body_iterator]

    heard = asyncio.run(listen())
    assert len(heard) < 1_000
    assert heard[-1] == b'event: result\ndata: {"read":1000}\n\n'


def test_silence_is_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_PING", 0.01)
    go_on = threading.Event()

    def work(tell: Tell) -> Any:
        assert go_on.wait(10)

    assert listened(work, 2) == [b": ping\n\n"] * 2
    go_on.set()


def test_there_are_no_more_streams_than_there_may_be(reading: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_MOST", 0)
    refused = reading.post(f"{API}/ask", json={"question": "x"}, headers=EVENTS)
    assert (refused.status_code, refused.json()["code"]) == (503, "too_many")
    assert reading.post(f"{API}/ask", json={"question": "x"}).status_code == 200


def test_the_state_of_the_work_is_told_when_it_changes(writing: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "_LOOK", 0.01)
    memory = writing.app.state.memories.main  # type: ignore[attr-defined]

    async def listen() -> list[dict[str, Any]]:
        states = upkeep._states(memory, writing.app.state.served, lambda: False)  # type: ignore[attr-defined]
        first = await anext(states)
        await asyncio.to_thread(memory.store_message, "Something new.")
        while b"event: state" not in (second := await anext(states)):
            pass
        await states.aclose()  # type: ignore[attr-defined]
        return [json.loads(part.split(b"data: ")[1]) for part in (first, second)]

    before, after = asyncio.run(listen())
    assert (before["messages"], after["messages"]) == (0, 1)
    assert after["due"] >= 1


def test_a_server_that_stops_does_not_wait_for_a_stream_without_an_end(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "recollect", "serve", "--port", "0", "--json"]
    environment = os.environ | {"RECOLLECT_HOME": str(tmp_path), "RECOLLECT_MODEL": "none"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        told = ""
        while not told.endswith("\n}\n"):
            told += server.stdout.readline()
        connection = http.client.HTTPConnection("127.0.0.1", int(json.loads(told)["address"].rpartition(":")[2]))
        connection.request("GET", f"{API}/worker/events")
        answer = connection.getresponse()
        assert answer.readline() == b"event: state\n"
        server.terminate()
        assert b"event: error" not in answer.read()
        assert server.wait(8) == 0
