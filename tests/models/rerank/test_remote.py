"""Re-rankers on servers, against one on loopback."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from recollect.errors import InvalidInput, ModelError
from recollect.models.rerank.choose import KEY as VARIABLE
from recollect.models.rerank.choose import PAUSE, LazyReranker, open_reranker, read_reranker
from recollect.models.rerank.folder import RemoteReranker, read_scores
from tests.models.rerank.rerank_server import KEY, RerankServer, rerank_server

QUESTION, TEXTS = "blue heron fish", ["no bird", "blue heron", "blue heron fish", " "]


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with rerank_server() as running:
        yield running


def test_the_usual_form(server: RerankServer) -> None:
    reranker = RemoteReranker(server.url, "bge")
    assert reranker.score(QUESTION, TEXTS) == [0.0, 2.0, 3.0, 0.0]
    (request,) = server.requests
    assert request["path"] == "/v1/rerank"
    assert (request["model"], request["top_n"], request["query"]) == ("bge", 4, QUESTION)
    assert all(text.strip() for text in request["documents"])  # servers refuse blank ones


def test_the_form_of_text_embeddings_inference_is_noticed_once(server: RerankServer) -> None:
    server.form = "texts"
    reranker = RemoteReranker(f"{server.url}/rerank")
    assert reranker.score(QUESTION, TEXTS) == [0.0, 2.0, 3.0, 0.0]
    assert reranker.score(QUESTION, TEXTS[:2]) == [0.0, 2.0]
    assert ["texts" in request for request in server.requests] == [False, True, True]
    assert {request["path"] for request in server.requests} == {"/v1/rerank"}


def test_many_texts_are_several_requests(server: RerankServer) -> None:
    scores = RemoteReranker(server.url).score("word", ["word"] * 20 + ["other"] * 50)
    assert scores == [1.0] * 20 + [0.0] * 50
    assert max(len(request["documents"]) for request in server.requests) <= 32


def test_the_key_is_sent_and_never_shown(server: RerankServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.key = KEY
    monkeypatch.setenv(VARIABLE, KEY)
    reranker = open_reranker(server.url)
    assert reranker is not None
    assert reranker.score(QUESTION, TEXTS[:1]) == [0.0]
    monkeypatch.setenv(VARIABLE, "wrong-key")
    refused = open_reranker(server.url)
    assert refused is not None
    with pytest.raises(ModelError) as caught:
        refused.score(QUESTION, TEXTS)
    assert "wrong-key" not in str(caught.value)
    assert VARIABLE in caught.value.hint


def test_a_server_that_is_busy_for_a_moment_is_asked_again(server: RerankServer) -> None:
    server.statuses = [503]
    pauses: list[float] = []
    assert RemoteReranker(server.url, sleep=pauses.append).score(QUESTION, TEXTS[:1]) == [0.0]
    assert len(pauses) == 1


def test_a_server_that_stays_silent_is_left(server: RerankServer) -> None:
    server.silence = 1.0
    began = time.monotonic()
    with pytest.raises(ModelError, match="cannot be reached") as caught:
        RemoteReranker(server.url, longest=0.1, sleep=lambda _: None).score(QUESTION, TEXTS)
    assert time.monotonic() - began < 0.9
    assert "reranker" in caught.value.hint


@pytest.mark.parametrize(
    "answer",
    [
        "<html>",
        {"results": [{"index": 0, "relevance_score": 1.0}]},  # too few
        {"results": None},
        [1, 2],
        {"results": [{"index": n, "relevance_score": "nan"} for n in range(4)]},
    ],
)
def test_nonsense_is_refused(server: RerankServer, answer: object) -> None:
    server.answer = answer
    with pytest.raises(ModelError):
        RemoteReranker(server.url).score(QUESTION, TEXTS)


def test_scores_are_read_in_the_order_of_the_texts() -> None:
    assert read_scores({"results": [{"index": 1, "relevance_score": 9}, {"index": 0, "score": -1}]}, 2) == [-1.0, 9.0]


@pytest.mark.parametrize(
    ("spec", "url", "model"),
    [
        ("http://localhost:8012/v1", "http://localhost:8012/v1", ""),
        ("bge-m3@https://host/v1/rerank", "https://host/v1/rerank", "bge-m3"),
        ("org/bge@v2@https://host", "https://host", "org/bge@v2"),
    ],
)
def test_addresses_are_read(spec: str, url: str, model: str) -> None:
    meant = read_reranker(spec)
    assert meant is not None
    assert (meant.url, meant.model) == (url, model)


def test_folders_are_read_from_where_they_are_named(tmp_path) -> None:
    meant = read_reranker("folder:models/cross", tmp_path)
    assert meant is not None
    assert meant.folder == tmp_path / "models" / "cross"
    assert read_reranker("none") is read_reranker("") is None


@pytest.mark.parametrize("spec", ["bge", "folder:", "ftp://host", "m@http://", "http://ana:secret@host/rerank"])
def test_what_is_none_is_said(spec: str) -> None:
    with pytest.raises(InvalidInput):
        read_reranker(spec)


def test_one_that_failed_is_left_alone_for_a_while() -> None:
    now, calls = [0.0], [0]

    class Broken:
        name = "broken"

        def score(self, question: str, texts: object) -> list[float]:
            calls[0] += 1
            raise ModelError("It broke.")

    lazy = LazyReranker("http://host/rerank", opened=lambda _: Broken(), clock=lambda: now[0])
    for _ in range(3):
        with pytest.raises(ModelError, match="It broke"):
            lazy.score("q", ["a"])
    assert calls == [1]
    now[0] = PAUSE + 1
    with pytest.raises(ModelError, match="It broke"):
        lazy.score("q", ["a"])
    assert calls == [2]
