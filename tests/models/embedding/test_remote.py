"""Embeddings from a server, against one that speaks the wire format on loopback."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from recollect.errors import InvalidInput, ModelError
from recollect.models.embedding.remote import OpenAIEmbeddings

KEY = "sk-right-key"


@dataclass
class Server:
    """An embedding server whose answers a test prepares: statuses first, then vectors."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    statuses: list[tuple[int, dict[str, str], str]] = field(default_factory=list)
    dimensions: int = 3
    answer: Any = None
    key: str | None = KEY

    def vectors(self, body: dict[str, Any]) -> Any:
        size = body.get("dimensions", self.dimensions)
        data = [
            {"object": "embedding", "index": n, "embedding": [float(len(text))] + [1.0] * (size - 1)}
            for n, text in enumerate(body["input"])
        ]
        return {"object": "list", "data": data[::-1], "model": body["model"]}  # servers need not keep the order


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append({"path": self.path, "key": self.headers.get("Authorization"), **body})
            if state.key and self.headers.get("Authorization") != f"Bearer {state.key}":
                self.reply(401, {}, json.dumps({"error": {"message": f"Bad key {self.headers['Authorization']}"}}))
            elif state.statuses:
                self.reply(*state.statuses.pop(0))
            else:
                answer = state.vectors(body) if state.answer is None else state.answer
                self.reply(200, {}, answer if isinstance(answer, str) else json.dumps(answer))

        def reply(self, status: int, headers: dict[str, str], text: str) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(text.encode()))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """A client may hang up; what another test reads of stderr is not to tell of it."""

    listening = Quiet(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{listening.server_port}/v1"
    yield state
    listening.shutdown()
    thread.join()
    listening.server_close()


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def embedder(server, pauses, monkeypatch) -> OpenAIEmbeddings:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return OpenAIEmbeddings("tiny", base_url=server.url, sleep=pauses.append)


def test_texts_become_unit_rows_in_their_order(embedder, server):
    rows = embedder.embed(["a", "", "four", " \n"])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 0, 1, 0], atol=1e-6)
    np.testing.assert_allclose(rows[2] / rows[2, 1], [4, 1, 1], atol=1e-5)
    assert server.requests[-1]["input"] == ["a", "four"]
    assert server.requests[-1]["path"] == "/v1/embeddings"
    assert server.requests[-1]["model"] == "tiny"


def test_the_dimensions_of_an_unknown_model_are_asked_once(embedder, server):
    assert (embedder.dimensions, embedder.dimensions, embedder.name) == (3, 3, "openai:tiny")
    assert len(server.requests) == 1


def test_nothing_is_asked_before_something_is_wanted(embedder, server):
    assert server.requests == []


def test_shorter_vectors_are_asked_for_and_named(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    embedder = OpenAIEmbeddings("tiny", base_url=server.url, dimensions=2)
    assert embedder.embed(["a"]).shape == (1, 2)
    assert embedder.name == "openai:tiny@2"


def test_many_texts_go_in_several_requests(embedder, server):
    rows = embedder.embed([f"text {n}" for n in range(600)])
    assert np.isclose(np.linalg.norm(rows, axis=1), 1).all()
    assert [len(request["input"]) for request in server.requests[1:]] == [256, 256, 88]


def test_a_long_text_is_sent_in_parts_and_counts_whole(embedder, server):
    (row,) = embedder.embed(["word " * 3_000])
    assert np.linalg.norm(row) == pytest.approx(1)
    assert "".join(server.requests[-1]["input"]) == "word " * 3_000


def test_a_busy_server_is_asked_again_after_the_pause_it_names(embedder, server, pauses):
    server.statuses = [(429, {"Retry-After": "7"}, "slow down"), (503, {}, "starting")]
    assert embedder.embed(["a"]).shape == (1, 3)
    assert pauses[0] == 7
    assert 0.5 < pauses[1] < 2


def test_a_server_that_stays_busy_is_given_up_with_its_words(embedder, server, pauses):
    server.statuses = [(429, {}, "slow down")] * 5
    with pytest.raises(ModelError, match="429: slow down"):
        embedder.embed(["a"])
    assert len(pauses) == 4
    assert pauses == sorted(pauses)


def test_a_used_up_quota_is_told_at_once(embedder, server, pauses):
    server.statuses = [(429, {}, '{"error": {"code": "insufficient_quota"}}')]
    with pytest.raises(ModelError, match="quota"):
        embedder.embed(["a"])
    assert pauses == []


def test_a_wrong_key_is_told_at_once_and_never_shown(server, pauses, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-key")
    with pytest.raises(ModelError, match="401") as caught:
        OpenAIEmbeddings("tiny", base_url=server.url, sleep=pauses.append).embed(["a"])
    assert "OPENAI_API_KEY" in caught.value.hint
    assert "sk-wrong-key" not in str(caught.value)
    assert pauses == []


def test_a_server_without_keys_gets_none(server, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    server.key = None
    OpenAIEmbeddings("tiny", base_url=server.url).embed(["a"])
    assert server.requests[0]["key"] is None


def test_openai_without_a_key_is_refused_before_any_request(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match="key"):
        OpenAIEmbeddings("text-embedding-3-small")


def test_other_dimensions_than_before_are_refused(embedder, server):
    embedder.embed(["a"])
    server.dimensions = 4
    with pytest.raises(ModelError, match="4 dimensions, expected 3"):
        embedder.embed(["b"])


@pytest.mark.parametrize(
    "answer",
    [
        "<html>a page</html>",
        "[]",
        {},
        {"data": []},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": "text"}]},
        {"data": [{"index": 1, "embedding": [1.0]}]},
        '{"data": [{"index": 0, "embedding": [NaN, 1]}]}',
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]},
    ],
)
def test_nonsense_is_refused(embedder, server, answer):
    server.answer = answer
    with pytest.raises(ModelError):
        embedder.embed(["a"])


def test_a_redirect_is_not_followed(embedder, server):
    server.statuses = [(302, {"Location": "http://127.0.0.1:9/elsewhere"}, "moved")]
    with pytest.raises(ModelError, match="302"):
        embedder.embed(["a"])
    assert len(server.requests) == 1


def test_a_server_that_is_not_there_is_told_with_its_address(pauses, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9/v1/embeddings cannot be reached"):
        OpenAIEmbeddings("tiny", base_url="http://127.0.0.1:9/v1", sleep=pauses.append).embed(["a"])
    assert len(pauses) == 4


def test_an_address_that_is_none_is_refused():
    with pytest.raises(InvalidInput):
        OpenAIEmbeddings("tiny", base_url="file:///etc/hosts")
