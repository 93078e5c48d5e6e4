"""What passes the proxy arrives whole, and what was said until the server ends is kept."""

from __future__ import annotations

import http.client
import threading
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

import recollect
from recollect.faces.server import server
from tests.faces.proxy.conftest import Proxy, serving
from tests.gateway.upstream import Upstream
from tests.models.language.wire_server import Says

pytestmark = pytest.mark.slow

KEEP = {"role": "user", "content": "Keep this, please."}


def test_a_server_that_ends_in_the_middle_of_an_answer_keeps_what_was_said(
    tmp_path: Path, provider: Upstream, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_PATIENCE", 1)
    provider.otherwise = Says("A long answer that goes on and on.", fault="pause")
    begun = threading.Event()

    def ask(address: str) -> None:
        body = {"model": "m", "stream": True, "messages": [KEEP]}
        url, headers = f"{address}/v1/chat/completions", {"X-Recollect-Namespace": "k"}
        with (
            suppress(httpx2.RemoteProtocolError),
            httpx2.stream("POST", url, json=body, headers=headers) as answer,
        ):
            for piece in answer.iter_text():
                if "A long" in piece:
                    begun.set()

    with serving(tmp_path, provider) as proxy:
        asking = threading.Thread(target=ask, args=(proxy.address,), daemon=True)
        asking.start()
        assert begun.wait(10)
    asking.join(10)
    with recollect.open(tmp_path / "memory.db", namespace="k", background=False) as memory:
        [row] = memory.conversations()
        asked, answered = memory.conversation(row.conversation.id).messages
    assert asked.content == KEEP["content"]
    assert answered.content.startswith("A long")
    assert answered.metadata["incomplete"] is True


def test_headers_in_several_lines_arrive_all(proxy: Proxy) -> None:
    headers = [("anthropic-beta", "a"), ("anthropic-beta", "b"), ("x-api-key", "k")]
    body = {"model": "m", "max_tokens": 9, "messages": [KEEP]}
    assert httpx2.post(f"{proxy.address}/v1/messages", json=body, headers=headers).status_code == 200
    assert proxy.provider.headers["anthropic-beta"] == "a, b"


@pytest.mark.parametrize("name", ["token", "%74oken", "t%6Fken"])
def test_the_token_does_not_go_on_in_an_address(tmp_path: Path, provider: Upstream, home: Path, name: str) -> None:
    token = "t" * 40
    with serving(tmp_path, provider, token=token) as proxy:
        url = f"{proxy.address}/v1/chat/completions?beta=true&{name}={token}"
        answer = httpx2.post(url, json={"model": "m", "messages": [KEEP]}, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 200
    assert provider.asked[-1][0] == "/v1/chat/completions?beta=true"


def test_half_a_character_goes_on_as_the_escape_that_it_came_as(proxy: Proxy) -> None:
    body = r'{"model": "m", "messages": [{"role": "user", "content": "Cut \ud83d off. Grüße 🐕"}]}'.encode()
    headers = {"Content-Type": "application/json", "X-Recollect-Namespace": "k"}
    answer = httpx2.post(f"{proxy.address}/v1/chat/completions", content=body, headers=headers)
    assert answer.status_code == 200
    arrived = proxy.provider.raw.decode("utf-8")
    assert r"Cut \ud83d off. Grüße 🐕" in arrived


def told_to_be(length: int, url: str, headers: dict[str, str]) -> httpx2.Response:
    """The answer to a request of which the body is said to be so long, and only begins."""
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(parts.netloc, timeout=20)) as connection:
        connection.putrequest("POST", parts.path)
        for name, value in {**headers, "Content-Length": str(length)}.items():
            connection.putheader(name, value)
        connection.endheaders(b"{")
        answer = connection.getresponse()
        return httpx2.Response(answer.status, headers=answer.getheaders(), content=answer.read())


@pytest.mark.parametrize(
    ("path", "headers", "anthropic"),
    [
        ("/v1/chat/completions", {}, False),
        ("/v1/models", {}, False),
        ("/v1/messages", {}, True),
        ("/v1/models", {"anthropic-version": "2023-06-01"}, True),
        ("/in/acme/rex/v1/messages", {}, True),
    ],
)
def test_refusals_have_the_shape_that_the_client_reads(
    tmp_path: Path, provider: Upstream, home: Path, path: str, headers: dict[str, str], anthropic: bool
) -> None:
    with serving(tmp_path, provider, token="t" * 40) as proxy:
        url = proxy.address + path
        refused = httpx2.post(url, json={}, headers=headers)
        large = told_to_be(512_000_001, url, {"X-Recollect-Token": "t" * 40, **headers})
    assert refused.headers["www-authenticate"].startswith("Bearer")
    for answer, status, kind in ((refused, 401, "authentication_error"), (large, 413, "request_too_large")):
        assert answer.status_code == status
        assert answer.headers["content-type"] == "application/json"
        told = answer.json()
        assert told.get("type") == ("error" if anthropic else None)
        assert told["error"]["type"] == kind
        assert told["error"]["message"]


def test_the_clients_of_both_vendors_know_a_refusal(tmp_path: Path, provider: Upstream, home: Path) -> None:
    import anthropic
    import openai

    with serving(tmp_path, provider, token="t" * 40) as proxy:
        with pytest.raises(openai.AuthenticationError, match="asks for a token"):
            proxy.openai().models.list()
        with pytest.raises(anthropic.AuthenticationError, match="asks for a token"):
            proxy.anthropic().models.list()


def test_answers_that_all_have_one_name_are_all_kept(proxy: Proxy) -> None:
    """As servers on one's own machine give them: `response.id` is not theirs to be told apart by."""
    headers = {"X-Recollect-Namespace": "k"}
    for text in ("one", "two", "three"):
        proxy.provider.script.append(Says(f"Answer {text}.", headers={"id": "resp_same"}))
        body = {"model": "m", "input": f"Question {text}?"}
        assert httpx2.post(f"{proxy.address}/v1/responses", json=body, headers=headers).status_code == 200
    memory = proxy.memory("k")
    kept = {m.content for row in memory.conversations() for m in memory.conversation(row.conversation.id).messages}
    assert kept == {words for text in ("one", "two", "three") for words in (f"Question {text}?", f"Answer {text}.")}
