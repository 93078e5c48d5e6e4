"""What reaches the upstream, and what comes back: any method, any body, nothing outside its base, nothing of others."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.faces.proxy.conftest import Proxy, serving
from tests.faces.proxy.plain import Plain, begin, chunk, drop, plain, whole
from tests.faces.proxy.test_passing import told_to_be

pytestmark = pytest.mark.slow

KEY = {"Authorization": "Bearer sk-own"}
# A machine that runs all tests at once is slow.
_post, _request, _stream = (partial(call, timeout=60) for call in (httpx2.post, httpx2.request, httpx2.stream))
HELLO = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}], "input": "Hello"}


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Proxy, Plain]]:
    with plain() as server, serving(tmp_path_factory.mktemp("proxy"), server) as found:
        yield found, server


@pytest.fixture
def behind(once: tuple[Proxy, Plain]) -> Plain:
    """What the proxy asks; nothing has been asked yet."""
    server = once[1]
    server.expect(lambda handler: whole(handler, b"{}"))
    return server


@pytest.fixture
def proxy(once: tuple[Proxy, Plain], home: Path) -> Proxy:
    return once[0]


def ask(address: str, method: str, target: str, headers: dict[str, str] = KEY, body: bytes | None = None) -> Any:
    """The answer to a request of which the first line is sent to the letter."""
    with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=20)) as connection:
        connection.request(method, target, body=body, headers=headers)
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()


def test_no_cookie_of_one_client_reaches_the_upstream_with_another(proxy: Proxy, behind: Plain) -> None:
    behind.answer = lambda handler: whole(handler, b"{}", Set_Cookie="session=of-alice; Path=/")
    for path in ("models", "chat/completions", "messages", "responses"):
        for name in ("alice", "bob"):
            method = "GET" if path == "models" else "POST"
            url, headers = f"{proxy.address}/in/{name}/v1/{path}", {"Cookie": f"own={name}"}
            back = _request(method, url, json=None if method == "GET" else HELLO, headers=headers)
            assert back.status_code == 200
            assert "set-cookie" not in back.headers
    assert len(behind.asked) == 8
    assert not [asked.headers["cookie"] for asked in behind.asked if "cookie" in asked.headers]


OUTSIDE = [
    "../admin",
    "..",
    "./../admin",
    "models/../../admin",
    "%2e%2e/admin",
    "%2E./admin",
    ".%2e/admin",
    "..%2fadmin",
    "..%2Fadmin",
    "%2e%2e%2fadmin",
    "%252e%252e/admin",
    "%25252e%25252e%25252fadmin",
    "..%5cadmin",
    "..\\admin",
    "%2e%2e%5Cadmin",
    "..;/admin",
    "..;a=b/admin",
    "%2e%2e%3b/admin",
    "..%00/admin",
    "..%20/admin",
    "..%09/admin",
    "%c0%ae%c0%ae/admin",
    "%e0%80%ae%e0%80%ae/admin",
    "%u002e%u002e/admin",
    "%25u002e%25u002e/admin",
    "%ef%bc%8e%ef%bc%8e/admin",
    "..%ef%bc%8fadmin",
    "%e2%80%a5/admin",
    "files/%2e%2e/%2e%2e/admin",
    "chat/completions/../../../admin",
    ".../admin",
    "%" + "25" * 30 + "2e%" + "25" * 30 + "2e/admin",
]


@pytest.mark.parametrize("top", ["/v1/", "/in/acme/rex/v1/"])
def test_nothing_outside_of_the_base_is_asked(
    tmp_path: Path, behind: Plain, home: Path, monkeypatch: pytest.MonkeyPatch, top: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{behind.root}/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", behind.root)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-environment")
    with serving(tmp_path, behind, model="openai:m", openai_upstream="", anthropic_upstream="") as proxy:
        for path in OUTSIDE:
            for method, headers in (("GET", {}), ("POST", {"anthropic-version": "2023-06-01"})):
                status, told, body = ask(
                    proxy.address, method, top + path, headers, b"{}" if method == "POST" else None
                )
                assert status == 400, (path, body)
                assert b"leads out of /v1" in body
                assert told["x-should-retry"] == "false"
        assert not behind.asked
        assert ask(proxy.address, "GET", top + "models", {})[0] == 200
    assert behind.last.headers["authorization"] == "Bearer sk-environment"


@pytest.mark.parametrize(
    "path",
    [
        "models/meta%2Fllama-3.1%20x",
        "files/a..b/content",
        "files/.hidden/..x",
        "files/100%25",
        "models/caf%C3%A9:free?after=%2F..%2F&x=a%23b",
        "proxy/v1/models",
        "assistants//x/",
    ],
)
def test_a_path_arrives_as_it_was_sent(proxy: Proxy, behind: Plain, path: str) -> None:
    assert ask(proxy.address, "GET", f"/v1/{path}")[0] == 200
    assert behind.last.target == f"/v1/{path}"
    assert ask(proxy.address, "GET", f"/in/acme/rex/v1/{path}")[0] == 200
    assert behind.last.target == f"/v1/{path.removeprefix('proxy/v1/')}"  # all before the last /v1/ is the namespace
    assert ask(proxy.address, "GET", f"/in/acme/%76%31/{path}")[0] == 200
    assert behind.last.target.startswith("/v1/")


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_every_method_passes(proxy: Proxy, behind: Plain, method: str) -> None:
    behind.answer = lambda handler: whole(handler, b"done", Content_Type="text/plain")
    body = None if method in ("GET", "HEAD") else b'{"a": 1}'
    status, headers, found = ask(proxy.address, method, "/v1/containers/c1?x=1", KEY, body)
    assert (status, found) == (200, b"" if method == "HEAD" else b"done")
    assert headers["content-length"] == "4"
    assert (behind.last.method, behind.last.target) == (method, "/v1/containers/c1?x=1")
    assert behind.last.size == len(body or b"")
    assert "transfer-encoding" not in behind.last.headers


@pytest.mark.parametrize("path", ["audio/speech", "files/f1/content", "realtime/events"])
def test_an_answer_is_passed_on_as_it_comes(proxy: Proxy, behind: Plain, path: str) -> None:
    goes_on = threading.Event()

    def speaks(handler: BaseHTTPRequestHandler) -> None:
        begin(handler, Content_Type="audio/mpeg")
        chunk(handler, b"first")
        assert goes_on.wait(20)
        chunk(handler, b"second")
        chunk(handler, b"")

    behind.answer = speaks
    with _stream("POST", f"{proxy.address}/v1/{path}", json={"input": "Hello"}, headers=KEY) as answer:
        assert answer.headers["content-type"] == "audio/mpeg"
        pieces = answer.iter_raw()
        assert next(pieces) == b"first"  # while the rest is not there yet
        goes_on.set()
        assert b"".join(pieces) == b"second"


@pytest.mark.parametrize("kind", ["Text/Event-Stream; charset=utf-8", "text/plain", "application/x-ndjson"])
def test_a_stream_comes_as_it_is_spoken_whatever_it_is_called(proxy: Proxy, behind: Plain, kind: str) -> None:
    goes_on = threading.Event()
    lead, end = ("", "\n") if "json" in kind else ("data: ", "\n\n")

    def speaks(handler: BaseHTTPRequestHandler) -> None:
        begin(handler, Content_Type=kind)
        for text, reason in (("Good ", None), ("morning.", "stop")):
            said = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason}]}
            chunk(handler, f"{lead}{json.dumps(said)}{end}".encode())
            assert goes_on.wait(20)
        chunk(handler, b"")

    behind.answer = speaks
    namespace = f"spoken-{kind.partition(';')[0].lower().replace('/', '-')}"
    headers = {**KEY, "X-Recollect-Namespace": namespace}
    with _stream(
        "POST", f"{proxy.address}/v1/chat/completions", json={**HELLO, "stream": True}, headers=headers
    ) as answer:
        pieces = answer.iter_raw()
        assert b"Good" in next(pieces)  # while the rest is not there yet
        goes_on.set()
        assert b"morning" in b"".join(pieces)
    if lead:
        memory = proxy.memory(namespace)
        [row] = memory.conversations()
        assert [m.content for m in memory.latest(row.conversation.id)] == ["Hello", "Good morning."]


def test_what_is_compressed_comes_back_so(proxy: Proxy, behind: Plain) -> None:
    behind.answer = lambda handler: whole(handler, b"\x1f\x8b--", Content_Encoding="gzip")
    status, headers, body = ask(proxy.address, "GET", "/v1/files/f1/content", {**KEY, "Accept-Encoding": "gzip"})
    assert (status, headers["content-encoding"], body) == (200, "gzip", b"\x1f\x8b--")
    assert behind.last.headers["accept-encoding"] == "gzip"


def test_what_comes_back_is_no_page_of_this_server(proxy: Proxy, behind: Plain) -> None:
    theirs = {
        "Content_Security_Policy": "script-src * 'unsafe-inline'",
        "X_Content_Type_Options": "none",
        "Clear_Site_Data": '"cookies"',
        "Access_Control_Allow_Origin": "*",
        "Service_Worker_Allowed": "/",
        "X_Recollect_Left_Out": "99",
    }
    page = b"<script src=/v1/files/f2/content></script>"
    behind.answer = lambda handler: whole(handler, page, 200, Content_Type="text/html", **theirs)
    for method, path in (("GET", "files/f1/content"), ("POST", "messages")):
        answer = _request(method, f"{proxy.address}/v1/{path}", json=HELLO if method == "POST" else None)
        assert answer.content == page
        assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
        assert answer.headers["x-content-type-options"] == "nosniff"
        dropped = ("clear-site-data", "access-control-allow-origin", "service-worker-allowed", "x-recollect-left-out")
        assert not [name for name in dropped if name in answer.headers]


def test_an_answer_that_breaks_off_does_so_for_the_client(proxy: Proxy, behind: Plain) -> None:
    def breaks(handler: BaseHTTPRequestHandler) -> None:
        begin(handler, Content_Type="audio/mpeg")
        chunk(handler, b"first")
        drop(handler)

    behind.answer = breaks
    with pytest.raises(httpx2.RemoteProtocolError):
        _post(f"{proxy.address}/v1/audio/speech", json={"input": "Hello"}, headers=KEY)


@pytest.mark.parametrize(
    ("path", "name"), [("files", "file"), ("audio/transcriptions", "file"), ("images/edits", "image")]
)
@pytest.mark.parametrize("headers", [KEY, {"x-api-key": "sk-ant", "anthropic-version": "2023-06-01"}])
def test_uploads_pass(proxy: Proxy, behind: Plain, path: str, name: str, headers: dict[str, str]) -> None:
    sent = {name: ("dog.wav", os.urandom(3_000_000), "audio/wav")}
    for top in ("/v1", "/in/acme/rex/v1"):
        request = httpx2.Request("POST", f"{proxy.address}{top}/{path}", files=sent, data={"model": "m"})
        body = request.read()
        kind = {"Content-Type": request.headers["content-type"], **headers}
        assert _post(request.url, content=body, headers=kind).status_code == 200
        assert (behind.last.target, behind.last.size) == (f"/v1/{path}", len(body))
        assert behind.last.digest == hashlib.sha256(body).hexdigest()
        assert behind.last.headers["content-type"] == request.headers["content-type"]
        assert behind.last.headers["content-length"] == str(len(body))


def test_the_official_clients_upload(proxy: Proxy, behind: Plain) -> None:
    made = b'{"id": "f1", "object": "file", "text": "Woof.", "data": []}'
    behind.answer = lambda handler: whole(handler, made)
    openai, anthropic = proxy.openai(), proxy.anthropic()
    assert openai.files.create(file=("a.jsonl", b"{}"), purpose="batch").id == "f1"
    assert openai.audio.transcriptions.create(model="w", file=("a.wav", b"RIFF")).text == "Woof."
    openai.images.edit(model="i", image=("a.png", b"PNG"), prompt="A hat")
    assert anthropic.beta.files.upload(file=("a.txt", b"Hello", "text/plain")).id == "f1"
    assert [asked.target.partition("?")[0] for asked in behind.asked] == [
        "/v1/files", "/v1/audio/transcriptions", "/v1/images/edits", "/v1/files",
    ]  # fmt: skip


def test_a_form_without_a_key_is_a_pages(proxy: Proxy, behind: Plain) -> None:
    form = {"file": ("a.txt", b"Hello")}
    for headers in ({}, {"Authorization": "Basic dTpw"}):  # which a browser sends by itself
        refused = _post(f"{proxy.address}/v1/files", files=form, headers=headers)
        assert (refused.status_code, refused.json()["error"]["type"]) == (403, "permission_error")
    elsewhere = _post(f"{proxy.address}/v1/files", files=form, headers={**KEY, "Origin": "https://evil.example"})
    assert elsewhere.status_code == 403
    assert _post(f"{proxy.address}/api/v1/messages", files=form, headers=KEY).status_code == 403
    assert not behind.asked


def test_an_upload_goes_on_while_it_comes(proxy: Proxy, behind: Plain) -> None:
    port = urlsplit(proxy.address).port
    with socket.create_connection(("127.0.0.1", port or 0), 20) as sock:
        head = f"POST /v1/files HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer k\r\nConnection: close\r\n"
        head += "Expect: 100-continue\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 10\r\n\r\n"
        sock.sendall(head.encode())
        assert sock.recv(99).startswith(b"HTTP/1.1 100")
        sock.sendall(b"first")
        assert behind.arrived.wait(10)
        assert behind.last.begun.wait(10)  # before the rest is sent
        sock.sendall(b"after")
        assert sock.recv(99).startswith(b"HTTP/1.1 200")
    assert behind.last.size == 10


def test_how_large_a_body_may_be(proxy: Proxy, behind: Plain) -> None:
    def pieces(size: int) -> Iterator[bytes]:
        for _ in range(size // 1_000_000):
            yield bytes(1_000_000)

    upload = {**KEY, "Content-Type": "multipart/form-data; boundary=b"}
    passed = _post(f"{proxy.address}/v1/files", content=pieces(80_000_000), headers=upload)
    assert (passed.status_code, behind.last.size) == (200, 80_000_000)
    for path, length in (("files", 512_000_001), ("chat/completions", 64_000_001), ("messages", 64_000_001)):
        refused = told_to_be(length, f"{proxy.address}/v1/{path}", upload)
        assert (refused.status_code, refused.json()["error"]["type"]) == (413, "request_too_large")


def test_a_client_that_leaves_in_the_middle_of_an_upload_ends_it(proxy: Proxy, behind: Plain) -> None:
    done = threading.Event()
    behind.answer = lambda _: done.set()
    port = urlsplit(proxy.address).port
    with socket.create_connection(("127.0.0.1", port or 0), 20) as sock:
        head = f"POST /v1/files HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer k\r\n"
        sock.sendall(f"{head}Content-Length: 1000\r\n\r\nfirst".encode())
        assert behind.arrived.wait(10)
        assert behind.last.begun.wait(10)
    assert done.wait(10)  # the upstream saw the end of what came
    assert behind.last.size == 5


def test_a_redirect_is_not_followed_with_the_key(proxy: Proxy, behind: Plain) -> None:
    with plain() as elsewhere:
        behind.answer = lambda handler: whole(handler, b"", 307, Location=f"{elsewhere.root}/v1/models")
        for path in ("models", "chat/completions"):
            answer = _post(f"{proxy.address}/v1/{path}", json=HELLO, headers=KEY)
            assert (answer.status_code, answer.headers["location"]) == (307, f"{elsewhere.root}/v1/models")
            assert answer.headers.get("x-recollect-stored", "no") == "no"
        assert not elsewhere.asked


@pytest.mark.parametrize("told", ["{root}/v1/models/", "/v1/models/", "models/"])
def test_a_redirect_within_the_base_leads_back_here(proxy: Proxy, behind: Plain, told: str) -> None:
    behind.answer = lambda handler: whole(handler, b"", 307, Location=told.format(root=behind.root))
    _, headers, _ = ask(proxy.address, "GET", "/in/acme/rex/v1/models")
    assert headers["location"] == "/in/acme/rex/v1/models/"


def test_a_talk_that_is_redirected_to_a_slash_is_remembered(proxy: Proxy, behind: Plain) -> None:
    answer = b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes."}}]}'
    behind.answer = lambda handler: (
        whole(handler, answer) if handler.path.endswith("/") else whole(handler, b"", 307, Location=f"{handler.path}/")
    )
    client = proxy.openai(base_url=f"{proxy.address}/in/slash/v1")
    raw = client.chat.completions.with_raw_response.create(model="m", messages=HELLO["messages"])
    assert raw.headers["x-recollect-stored"] == "yes"
    assert [row.messages for row in proxy.memory("slash").conversations()] == [2]


def test_a_redirect_outside_of_the_base_does_not_lead_into_our_pages(proxy: Proxy, behind: Plain) -> None:
    behind.answer = lambda handler: whole(handler, b"", 302, Location="/status")
    assert ask(proxy.address, "GET", "/v1/models")[1]["location"] == f"{behind.root}/status"


@pytest.mark.parametrize("vendor", ["openai", "anthropic", "responses"])
def test_a_dropped_connection_is_tried_again_by_the_client(proxy: Proxy, behind: Plain, vendor: str) -> None:
    answers: dict[str, bytes] = {
        "openai": b'{"id": "c", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes."}}]}',
        "anthropic": b'{"id": "m", "type": "message", "role": "assistant", "content": []}',
        "responses": b'{"id": "r", "object": "response", "status": "completed", "output": []}',
    }

    def first_drops(handler: BaseHTTPRequestHandler) -> None:
        if len(behind.asked) == 1:
            drop(handler)
        elif len(behind.asked) == 2:  # in the middle of its answer
            handler.send_response(200)
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
            handler.wfile.write(b'{"id": ')
            drop(handler)
        else:
            whole(handler, answers[vendor])

    behind.answer = first_drops
    asked: Any = HELLO["messages"]
    if vendor == "anthropic":
        answer = proxy.anthropic(max_retries=2).messages.create(model="c", max_tokens=9, messages=asked)
    elif vendor == "openai":
        answer = proxy.openai(max_retries=2).chat.completions.create(model="m", messages=asked)
    else:
        answer = proxy.openai(max_retries=2).responses.create(model="m", input="Hello")
    assert answer.id
    assert len(behind.asked) == 3


def test_what_a_client_is_told_of_an_upstream_that_fails(
    tmp_path: Path, proxy: Proxy, behind: Plain, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind.answer = drop
    dropped = _post(f"{proxy.address}/v1/chat/completions", json=HELLO, headers=KEY)
    assert dropped.status_code == 502
    assert "dropped the connection" in dropped.json()["error"]["message"]
    assert "x-should-retry" not in dropped.headers
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        closed = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    with serving(tmp_path / "other", behind, openai_upstream=closed) as other:
        gone = _post(f"{other.address}/v1/chat/completions", json=HELLO, headers=KEY)
    assert gone.status_code == 502
    assert "cannot be reached: ConnectError" in gone.json()["error"]["message"]
    assert "x-should-retry" not in gone.headers
    monkeypatch.setattr("recollect.faces.proxy._SILENCE", 0.2)
    silent = threading.Event()

    def waits(_: BaseHTTPRequestHandler) -> None:
        silent.wait(20)

    behind.answer = waits
    with serving(tmp_path / "third", behind) as other:
        late = _post(f"{other.address}/v1/chat/completions", json=HELLO, headers=KEY)
        silent.set()
    assert late.status_code == 504
    assert "did not answer in time" in late.json()["error"]["message"]
    assert "x-should-retry" not in late.headers


def test_x_should_retry_of_the_upstream_goes_through(proxy: Proxy, behind: Plain) -> None:
    behind.answer = lambda handler: whole(handler, b"{}", 529, X_Should_Retry="true", Retry_After="1")
    answer = _post(f"{proxy.address}/v1/messages", json=HELLO, headers=KEY)
    assert (answer.status_code, answer.headers["x-should-retry"], answer.headers["retry-after"]) == (529, "true", "1")
    assert answer.headers["x-recollect-stored"] == "no"


def test_a_talk_that_is_not_stored_says_so(proxy: Proxy, behind: Plain) -> None:
    for body in (b"<html>", b"[]", b'{"choices": []}', b'{"error": {}}'):
        behind.answer = lambda handler, body=body: whole(handler, body)  # type: ignore[misc]
        answer = _post(f"{proxy.address}/in/k/v1/chat/completions", json=HELLO, headers=KEY)
        assert (answer.content, answer.headers["x-recollect-stored"]) == (body, "no")
    assert "k" not in proxy.memories.names()
