"""Requests that come again: nothing is written twice, and the answer is the same."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import recollect
from recollect.errors import StoreBusy
from recollect.faces.http.once import Answers, KeptAnswer
from tests.faces.rest.conftest import events, hang_up, serve
from tests.models.language.conftest import model_of
from tests.models.language.wire_server import Says, wire_server

pytestmark = pytest.mark.slow

API = "/api/v1"


def keyed(key: str, **more: str) -> dict[str, str]:
    return {"Idempotency-Key": key, **more}


def messages(client: TestClient) -> int:
    count: int = client.get(f"{API}/stats").json()["messages"]
    return count


def test_the_same_request_is_done_once(writing: TestClient) -> None:
    first = writing.post(f"{API}/messages", json={"content": "Once."}, headers=keyed("a"))
    again = writing.post(f"{API}/messages", json={"content": "Once."}, headers=keyed("a"))
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    assert messages(writing) == 1


def test_a_key_is_for_one_request(writing: TestClient) -> None:
    writing.post(f"{API}/messages", json={"content": "Once."}, headers=keyed("a"))
    for path, body in (("/messages", {"content": "Twice."}), ("/facts", {"content": "Once."})):
        refused = writing.post(API + path, json=body, headers=keyed("a"))
        assert (refused.status_code, refused.json()["code"]) == (409, "key_reused")
    assert messages(writing) == 1
    elsewhere = writing.post(
        f"{API}/messages", json={"content": "Once."}, headers=keyed("a", **{"X-Recollect-Namespace": "other"})
    )
    assert elsewhere.status_code == 201
    assert "idempotency-replayed" not in elsewhere.headers


@pytest.mark.parametrize("key", ["", " " * 3 + "\t", "x" * 300])
def test_a_key_that_cannot_be_one_is_refused(writing: TestClient, key: str) -> None:
    refused = writing.post(f"{API}/messages", json={"content": "x"}, headers=keyed(key))
    assert refused.status_code in (400, 422)
    assert messages(writing) == 0


def test_what_failed_may_be_tried_again_with_its_key(writing: TestClient) -> None:
    body = {"content": "A reply.", "parent_id": "01JB3Z7Q2KABCDEFGHJKMNPQRS"}
    assert writing.post(f"{API}/messages", json=body, headers=keyed("a")).status_code == 404
    first = {"content": "What it replies to.", "id": "01JB3Z7Q2KABCDEFGHJKMNPQRS"}
    assert writing.post(f"{API}/messages", json=first).status_code == 201
    assert writing.post(f"{API}/messages", json=body, headers=keyed("a")).status_code == 201


def test_a_restart_writes_no_message_and_no_tool_call_twice(tmp_path: Path) -> None:
    talk = {"messages": [{"content": "One."}, {"content": "Two.", "role": "assistant"}], "title": "Numbers"}
    call = {"name": "weather", "arguments": {}, "result": "rain"}
    told: list[Any] = []
    for _ in range(2):
        with serve(tmp_path / "memory.db", tmp_path) as client:
            one = client.post(f"{API}/messages", json={"content": "Alone."}, headers=keyed("a")).json()
            both = client.post(f"{API}/messages/batch", json=talk, headers=keyed("b")).json()
            own = client.post(f"{API}/messages/{one['id']}/tool-calls", json=call, headers=keyed("c")).json()
            told.append((one, both, own["id"], own["message_id"]))
            assert messages(client) == 4
    assert told[0] == told[1]


def test_a_turn_of_a_chat_is_written_once_also_as_events(mending: TestClient) -> None:
    before = messages(mending)
    asked = {"json": {"text": "What is my dog called?"}, "headers": keyed("a", Accept="text/event-stream")}
    first = mending.post(f"{API}/chat", **asked)
    assert events(first.text)[-1][0] == "result"
    again = mending.post(f"{API}/chat", **asked)
    assert again.text == first.text
    assert again.headers["content-type"] == first.headers["content-type"]
    assert messages(mending) == before + 1


def test_a_second_request_while_the_first_is_under_way(writing: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    memory = writing.app.state.memories.main  # type: ignore[attr-defined]
    stored = memory.store_message

    def slowly(*arguments: Any, **named: Any) -> Any:
        begun.set()
        assert go_on.wait(10)
        return stored(*arguments, **named)

    monkeypatch.setattr(memory, "store_message", slowly)
    answers: list[Any] = []
    ask = {"json": {"content": "Slow."}, "headers": keyed("a")}
    first = threading.Thread(target=lambda: answers.append(writing.post(f"{API}/messages", **ask)))
    first.start()
    assert begun.wait(10)
    meanwhile = writing.post(f"{API}/messages", **ask)
    assert (meanwhile.status_code, meanwhile.json()["code"]) == (409, "in_progress")
    assert meanwhile.headers["retry-after"] == "1"
    go_on.set()
    first.join()
    assert writing.post(f"{API}/messages", **ask).content == answers[0].content
    assert messages(writing) == 1


def test_what_was_forgotten_is_in_no_answer_that_is_kept(writing: TestClient) -> None:
    ask = {"json": {"content": "My PIN is 4711.", "title": "Bank"}, "headers": keyed("a")}
    own = writing.post(f"{API}/messages", **ask).json()["conversation_id"]
    gone = writing.post(f"{API}/forget", json={"names": [own]}, headers=keyed("b"))
    kept = writing.app.state.rest_answers  # type: ignore[attr-defined]
    assert not any(b"4711" in one.answer.body for one in kept._kept.values() if one.answer)
    assert writing.post(f"{API}/forget", json={"names": [own]}, headers=keyed("b")).content == gone.content


def test_answers_are_kept_for_a_day_and_no_more_than_there_is_room_for() -> None:
    now = [0.0]
    answers = Answers(clock=lambda: now[0])
    assert answers.begin(("n", "a"), b"1") is None
    answers.keep(("n", "a"), KeptAnswer(200, "text/plain", b"x" * 40_000_000))
    now[0] = 86_000.0
    assert answers.begin(("n", "a"), b"1") is not None
    now[0] = 90_000.0
    assert answers.begin(("n", "a"), b"1") is None
    answers.keep(("n", "a"), KeptAnswer(200, "text/plain", b"x" * 40_000_000))
    assert answers.begin(("n", "b"), b"1") is None
    answers.keep(("n", "b"), KeptAnswer(200, "text/plain", b"x" * 40_000_000))
    assert answers.begin(("n", "a"), b"1") is None
    assert answers.begin(("n", "b"), b"1") is not None


def test_many_at_once_with_one_key(writing: TestClient) -> None:
    told: list[int] = []

    def post() -> None:
        told.append(writing.post(f"{API}/messages", json={"content": "One."}, headers=keyed("a")).status_code)

    threads = [threading.Thread(target=post) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(told) <= {201, 409}
    assert 201 in told
    assert messages(writing) == 1


def test_what_a_page_has_forgotten_is_not_answered_again(writing: TestClient) -> None:
    body, key = {"content": "The code is 4711."}, {"Idempotency-Key": "one"}
    writing.post("/api/v1/messages", json=body, headers=key)
    form = {"everything": "yes", "sure": "default"}
    done = writing.post("/forget", data=form, headers={"Origin": "http://127.0.0.1:7070"}, follow_redirects=False)
    assert done.status_code == 303
    end = time.monotonic() + 10  # a page does not wait for long
    while "idempotency-replayed" in writing.post("/api/v1/messages", json=body, headers=key).headers:
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("id", [None, "of-my-own"])
def test_what_another_process_forgot_is_not_answered_again(writing: TestClient, tmp_path: Path, id: str | None) -> None:
    ask: Any = {"json": {"content": "The code is 4711.", "id": id}, "headers": keyed("a")}
    stored = writing.post(f"{API}/messages", **ask).json()
    told: Any = {"json": {"arguments": {"id": stored["id"]}}, "headers": keyed("b")}
    assert "4711" in writing.post(f"{API}/tools/get_message_by_id", **told).text
    with recollect.open(tmp_path / "memory.db", background=False) as elsewhere:
        elsewhere.forget(stored["id"])
    for path, asked in (("messages", ask), ("tools/get_message_by_id", told)):
        again = writing.post(f"{API}/{path}", **asked)
        assert (again.status_code, again.json()["code"]) == (410, "answer_gone")
        assert "4711" not in again.text
    kept = writing.app.state.rest_answers  # type: ignore[attr-defined]
    assert not any(b"4711" in one.answer.body for one in kept._kept.values() if one.answer)


def test_what_was_forgotten_is_not_written_again_by_its_key(mending: TestClient) -> None:
    turn: Any = {"json": {"text": "My PIN is 4711. What is my PIN?"}, "headers": keyed("a")}
    conversation = mending.post(f"{API}/chat", **turn).json()["conversation_id"]
    mending.post(f"{API}/forget", json={"names": [conversation]})
    before = messages(mending)
    assert mending.post(f"{API}/chat", **turn).status_code == 410
    assert messages(mending) == before


@pytest.mark.parametrize("heard", [0, 1])
def test_a_turn_whose_listener_has_gone_is_written_once(mending: TestClient, heard: int) -> None:
    before, body = messages(mending), b'{"text": "What is my dog called?"}'
    hang_up(mending, f"{API}/chat", body, heard=heard, content_type="application/json", idempotency_key="a")
    told = keyed("a", Accept="text/event-stream") | {"Content-Type": "application/json"}
    end = time.monotonic() + 10
    while (again := mending.post(f"{API}/chat", content=body, headers=told)).status_code == 409:
        assert time.monotonic() < end
        time.sleep(0.02)
    assert (again.status_code, again.headers["idempotency-replayed"]) == (200, "true")
    assert events(again.text)[-1][0] == "result"
    assert messages(mending) == before + 1


def test_a_turn_of_a_model_is_written_once_wherever_its_stream_was_cut(tmp_path: Path) -> None:
    with wire_server() as model, serve(tmp_path / "memory.db", tmp_path, model=model_of("anthropic", model)) as client:
        client.post(f"{API}/messages", json={"content": "The bike was 400 euros."})
        model.otherwise = lambda body: Says("It was 400 euros, as you said. " * 20)
        before, body = messages(client), b'{"text": "What was the bike?"}'
        hang_up(client, f"{API}/chat", body, heard=1, content_type="application/json", idempotency_key="a")
        told = keyed("a", Accept="text/event-stream") | {"Content-Type": "application/json"}
        while (again := client.post(f"{API}/chat", content=body, headers=told)).status_code == 409:
            time.sleep(0.02)
        assert again.status_code == 200
        assert messages(client) == before + 2


def test_what_was_done_is_not_done_again_where_it_cannot_be_looked_up(
    writing: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*arguments: Any) -> str:
        raise StoreBusy("Somebody else is writing.", hint="Try again.")

    monkeypatch.setattr("recollect.memory.integration.Integration.fingerprint", busy)
    turn: Any = {"json": {"text": "What is my dog called?"}, "headers": keyed("a")}
    assert writing.post(f"{API}/chat", **turn).status_code == 200
    assert writing.post(f"{API}/chat", **turn).json()["code"] == "answer_gone"
    assert messages(writing) == 1
