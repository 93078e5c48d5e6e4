"""Answers that come in another way than the vendors': what is said to be stored is stored, and nothing else is."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx2
import pytest

from tests.faces.proxy.conftest import Proxy, serving
from tests.faces.proxy.plain import Plain, begin, chunk, plain, whole

pytestmark = pytest.mark.slow

KEY = {"Authorization": "Bearer sk-own"}
_post, _get, _stream = (partial(call, timeout=60) for call in (httpx2.post, httpx2.get, httpx2.stream))
PATHS = ["chat/completions", "responses", "messages"]
ASKED = "What must Rex not eat?"
CHICKEN = "Chicken, and no raisins."


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Proxy, Plain]]:
    with plain() as server, serving(tmp_path_factory.mktemp("proxy"), server) as found:
        yield found, server


@pytest.fixture
def behind(once: tuple[Proxy, Plain]) -> Plain:
    """What the proxy asks; nothing has been asked yet."""
    once[1].expect(lambda handler: whole(handler, b"{}"))
    return once[1]


@pytest.fixture
def proxy(once: tuple[Proxy, Plain], home: Any) -> Proxy:
    return once[0]


@pytest.fixture
def namespace(request: pytest.FixtureRequest) -> str:
    """One of the test's own."""
    return "odd-" + "".join(letter if letter.isalnum() else "-" for letter in request.node.name.lower()).strip("-")


def asking(path: str, **more: Any) -> dict[str, Any]:
    said = {"input": ASKED} if path == "responses" else {"messages": [{"role": "user", "content": ASKED}]}
    return {"model": "m", "max_tokens": 99, **said, **more}


def in_one(path: str) -> dict[str, Any]:
    """The whole answer."""
    if path == "messages":
        return {"id": "a", "type": "message", "model": "m", "content": [{"type": "text", "text": CHICKEN}]}
    if path == "responses":
        content = [{"type": "output_text", "text": CHICKEN}]
        said = {"id": "msg_1", "type": "message", "role": "assistant", "content": content}
        return {"id": "resp_1", "object": "response", "model": "m", "status": "completed", "output": [said]}
    return {"id": "c", "model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "content": CHICKEN}}]}


def kept(proxy: Proxy, namespace: str) -> list[tuple[str, str]]:
    """What the only conversation says, if there is one."""
    memory = proxy.memory(namespace)
    rows = memory.conversations()
    assert len(rows) < 2
    return [(m.role.value, m.content) for row in rows for m in memory.conversation(row.conversation.id).messages]


def stream_of(*pieces: bytes, kind: str = "text/event-stream") -> Any:
    def speaks(handler: BaseHTTPRequestHandler) -> None:
        begin(handler, Content_Type=kind)
        for piece in (*pieces, b""):
            chunk(handler, piece)

    return speaks


BOTH = [("user", ASKED), ("assistant", CHICKEN)]


@pytest.mark.parametrize("layout", ["one line", "one line and its end", "many lines"])
@pytest.mark.parametrize("kind", ["application/json", "text/plain", "text/event-stream"])
@pytest.mark.parametrize("path", PATHS)
def test_one_object_that_answers_for_a_stream_is_stored(
    proxy: Proxy, behind: Plain, namespace: str, path: str, kind: str, layout: str
) -> None:
    body = json.dumps(in_one(path), indent=2 if layout == "many lines" else None).encode()
    body += b"\n" if layout == "one line and its end" else b""
    behind.answer = stream_of(body[:30], body[30:], kind=kind)
    headers = {**KEY, "X-Recollect-Namespace": namespace}
    answer = _post(f"{proxy.address}/v1/{path}", json=asking(path, stream=True), headers=headers)
    assert answer.content == body
    assert answer.headers["x-recollect-stored"] == "yes"
    assert kept(proxy, namespace) == BOTH


def test_objects_on_lines_are_stored(proxy: Proxy, behind: Plain, namespace: str) -> None:
    pieces = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in ("Chicken, and ", "no raisins.")]
    pieces[-1]["choices"][0]["finish_reason"] = "stop"
    behind.answer = stream_of(*(json.dumps(one).encode() + b"\n" for one in pieces), kind="application/x-ndjson")
    headers = {**KEY, "X-Recollect-Namespace": namespace}
    path = "chat/completions"
    answer = _post(f"{proxy.address}/v1/{path}", json=asking(path, stream=True), headers=headers)
    assert answer.headers["x-recollect-stored"] == "yes"
    assert kept(proxy, namespace) == BOTH


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/plain", b"Chicken, and no raisins."),
        ("text/html", b"<html>Too many people ask."),
        ("text/plain", b""),
        ("application/json", b'{"detail": [1, 2]}'),
        ("application/x-ndjson", b'{"status": "loading"}\n{"status": "ready"}\n'),
        ("text/event-stream", b'data: {"error": {"message": "No."}}\n\ndata: [DONE]\n\n'),
    ],
)
def test_what_cannot_be_read_is_not_said_to_be_stored(
    proxy: Proxy, behind: Plain, namespace: str, kind: str, body: bytes, path: str
) -> None:
    behind.answer = stream_of(*(body,) if body else (), kind=kind)
    headers = {**KEY, "X-Recollect-Namespace": namespace}
    answer = _post(f"{proxy.address}/v1/{path}", json=asking(path, stream=True), headers=headers)
    assert answer.content == body
    assert answer.headers["x-recollect-stored"] == "no"
    assert kept(proxy, namespace) == []


def test_a_stream_that_is_called_json_comes_as_it_is_spoken(proxy: Proxy, behind: Plain, namespace: str) -> None:
    goes_on = threading.Event()

    def speaks(handler: BaseHTTPRequestHandler) -> None:
        begin(handler, Content_Type="application/json")
        chunk(handler, b'data: {"choices": [{"index": 0, "delta": {"content": "Chicken, and "}}]}\n\n')
        assert goes_on.wait(20)
        chunk(handler, b'data: {"choices": [{"index": 0, "delta": {"content": "no raisins."}}]}\n\ndata: [DONE]\n\n')
        chunk(handler, b"")

    behind.answer = speaks
    url, headers = f"{proxy.address}/v1/chat/completions", {**KEY, "X-Recollect-Namespace": namespace}
    with _stream("POST", url, json=asking("chat/completions", stream=True), headers=headers) as answer:
        pieces = answer.iter_raw()
        assert b"Chicken" in next(pieces)  # while the rest is not there yet
        goes_on.set()
        assert b"raisins" in b"".join(pieces)
    assert kept(proxy, namespace) == BOTH


@pytest.mark.parametrize("said", ["short", "long"])
def test_a_stream_is_held_back_only_while_its_request_may_be_refused_for_its_length(
    proxy: Proxy, behind: Plain, namespace: str, said: str
) -> None:
    goes_on = threading.Event()
    began = threading.Event()

    def speaks(handler: BaseHTTPRequestHandler) -> None:
        begin(handler, Content_Type="text/event-stream")
        response = {**in_one("responses"), "status": "in_progress", "output": []}
        chunk(handler, b"data: " + json.dumps({"type": "response.created", "response": response}).encode() + b"\n\n")
        began.set()
        assert goes_on.wait(20)
        done = {"type": "response.completed", "response": in_one("responses")}
        chunk(handler, b"data: " + json.dumps(done).encode() + b"\n\n")
        chunk(handler, b"")

    behind.answer = speaks
    url, headers = f"{proxy.address}/v1/responses", {**KEY, "X-Recollect-Namespace": namespace}
    body = asking("responses", stream=True)
    if said == "long":
        body["instructions"] = "Be brief. " * 2_000
        threading.Thread(target=lambda: (began.wait(20), goes_on.set()), daemon=True).start()
    with _stream("POST", url, json=body, headers=headers) as answer:
        pieces = answer.iter_raw()
        assert b"response.created" in next(pieces)
        assert goes_on.is_set() == (said == "long")
        goes_on.set()
        assert b"response.completed" in b"".join(pieces)
    assert kept(proxy, namespace) == BOTH


@pytest.mark.parametrize(
    "end",
    [
        b"data: [DONE]\n\n",
        b"data: [DONE]",
        b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}',
        b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n',
    ],
)
def test_a_stream_is_whole_that_ends_in_another_way(proxy: Proxy, behind: Plain, namespace: str, end: bytes) -> None:
    said = {"choices": [{"index": 0, "delta": {"content": CHICKEN}}]}
    behind.answer = stream_of(b"data: " + json.dumps(said).encode() + b"\n\n", end)
    headers = {**KEY, "X-Recollect-Namespace": namespace}
    path = "chat/completions"
    _post(f"{proxy.address}/v1/{path}", json=asking(path, stream=True), headers=headers)
    memory = proxy.memory(namespace)
    [row] = memory.conversations()
    _, answer = memory.conversation(row.conversation.id).messages
    assert answer.content == CHICKEN
    assert "incomplete" not in answer.metadata


@pytest.mark.parametrize("failure", [{"error": {"message": "It broke."}}, None])
def test_a_stream_that_breaks_is_not_whole(
    proxy: Proxy, behind: Plain, namespace: str, failure: dict[str, Any] | None
) -> None:
    said = b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": "Chicken"}}]}).encode() + b"\n\n"
    ends = [b"data: " + json.dumps(failure).encode() + b"\n\n", b"data: [DONE]\n\n"] if failure else []
    behind.answer = stream_of(said, *ends)
    headers = {**KEY, "X-Recollect-Namespace": namespace}
    path = "chat/completions"
    _post(f"{proxy.address}/v1/{path}", json=asking(path, stream=True), headers=headers)
    memory = proxy.memory(namespace)
    [row] = memory.conversations()
    assert memory.conversation(row.conversation.id).messages[-1].metadata["incomplete"] is True


@pytest.mark.parametrize("fetched", ["whole", "streamed from its middle"])
def test_an_answer_made_in_the_background_is_stored_when_it_is_fetched(
    proxy: Proxy, behind: Plain, namespace: str, fetched: str
) -> None:
    headers = {**KEY, "X-Recollect-Namespace": namespace}
    url = f"{proxy.address}/v1/responses"
    done = in_one("responses") | {"id": f"resp_{namespace}", "background": True}
    queued = {**done, "status": "queued", "output": []}
    behind.answer = lambda handler: whole(handler, json.dumps(queued).encode())
    begun = _post(url, json=asking("responses", background=True), headers=headers)
    waiting = _get(f"{url}/{done['id']}", headers=headers)
    assert [begun.headers["x-recollect-stored"], waiting.headers["x-recollect-stored"]] == ["no", "no"]
    coming = {**done, "status": "in_progress"}  # some of it is there
    behind.answer = lambda handler: whole(handler, json.dumps(coming).encode())
    assert _get(f"{url}/{done['id']}", headers=headers).headers["x-recollect-stored"] == "no"
    assert kept(proxy, namespace) == []
    if fetched == "whole":
        behind.answer = lambda handler: whole(handler, json.dumps(done).encode())
        of_another = _get(f"{url}/{done['id']}", headers={"Authorization": "Bearer sk-other"})
        assert "x-recollect-stored" not in of_another.headers
    else:
        events = [{"type": "response.output_text.delta", "delta": "raisins."}]
        events.append({"type": "response.completed", "response": done})
        behind.answer = stream_of(*(b"data: " + json.dumps(one).encode() + b"\n\n" for one in events))
    for _ in range(2):  # whoever fetches it again stores nothing more
        found = _get(f"{url}/{done['id']}?stream={fetched != 'whole'}", headers=headers)
        assert found.headers["x-recollect-stored"] == "yes"
        assert kept(proxy, namespace) == BOTH
    assert behind.last.method == "GET"
    assert behind.last.size == 0


@pytest.mark.parametrize("number", [b"1e400", b"NaN", b"-Infinity"])
def test_a_number_that_cannot_be_written_again_goes_on_as_it_came_or_is_told(
    proxy: Proxy, behind: Plain, namespace: str, number: bytes
) -> None:
    url = f"{proxy.address}/v1/chat/completions"
    headers = {**KEY, "X-Recollect-Namespace": namespace, "Content-Type": "application/json"}
    body = json.dumps(asking("chat/completions")).encode()[:-1] + b', "logit": ' + number + b"}"
    behind.answer = lambda handler: whole(handler, json.dumps(in_one("chat/completions")).encode())
    answer = _post(url, content=body, headers=headers)
    assert answer.status_code == 200
    assert behind.last.size == len(body)
    proxy.memory(namespace).store_message("Rex must not eat chicken: What must Rex not eat? He gets a rash.")
    behind.expect(behind.answer)
    refused = _post(url, content=body, headers={**headers, "X-Recollect-Conversation": "another"})
    assert refused.status_code == 400
    assert "number" in refused.json()["error"]["message"]
    assert not behind.asked


def test_an_answer_that_cannot_be_decompressed_is_told_as_such(proxy: Proxy, behind: Plain, namespace: str) -> None:
    behind.answer = lambda handler: whole(handler, b"no gzip", Content_Encoding="gzip")
    headers = {**KEY, "X-Recollect-Namespace": namespace}
    path = "chat/completions"
    for stream in (False, True):
        answer = _post(f"{proxy.address}/v1/{path}", json=asking(path, stream=stream), headers=headers)
        assert answer.status_code == 502
        assert "cannot be decompressed" in answer.json()["error"]["message"]
    assert kept(proxy, namespace) == []
