"""What is handed out when a part takes too long: each is made to happen, with an embedder that does not answer [4]."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from recollect.context import Patience
from recollect.context.building import Staged, TooLong
from recollect.engines import open_store
from recollect.errors import InvalidInput, StoreError
from recollect.memory import Handle, Memory
from recollect.models.embedding.base import Vectors
from recollect.models.embedding.static import StaticEmbedder

ASKED = "Where did we moor the boat?"


class Stalling(StaticEmbedder):
    """Stops at a call, by its number, until it is let go on: as an endpoint that does not answer."""

    def __init__(self) -> None:
        super().__init__()
        self.calls, self.stalls_at = 0, 0
        self.go_on = threading.Event()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if self.calls == self.stalls_at:
            assert self.go_on.wait(30)
        return super().embed(texts)

    def stall_at(self, call: int) -> None:
        self.calls, self.stalls_at = 0, call


@pytest.fixture
def embedder() -> Iterator[Stalling]:
    embedder = Stalling()
    yield embedder
    embedder.go_on.set()


@pytest.fixture
def memory(tmp_path: Path, embedder: Stalling) -> Iterator[Memory]:
    """A conversation of which the newest messages do not hold the answer, and more than fits in full."""
    with Memory(Handle(open_store(str(tmp_path / "memory.db")), embedder)) as memory:
        memory.store_message("We moored the boat in Kalmar, below the castle.", conversation_id="talk")
        for n in range(60):
            words = (
                f"The boat needs varnish, part {n}. " + "It takes a long while to dry in the cold of the spring. " * 6
            )
            memory.store_message(words, conversation_id="talk")
        yield memory


def test_without_stalling_there_is_all_of_it(memory: Memory) -> None:
    context = memory.prepare_context(ASKED, "talk", 2_000)
    assert context.degraded is None
    assert context.index_form in ("full", "snippet")
    assert context.part("index") is not None
    assert "Kalmar" in context.text


def test_on_a_vector_time_out_there_are_the_newest_messages(memory: Memory, embedder: Stalling) -> None:
    embedder.stall_at(1)  # the question's own vector
    began = time.perf_counter()
    context = memory.prepare_context(ASKED, "talk", 2_000, patience=Patience(vector_search_timeout=100))
    assert time.perf_counter() - began < 10
    assert context.index_form == "recent_only"
    assert context.degraded
    assert "100 ms" in context.degraded
    assert [part.name for part in context.parts] == ["guide", "recent", "asked"]
    assert "varnish, part 59" in context.messages[-2]["content"]
    assert context.messages[-1]["content"] == ASKED


def test_on_an_index_time_out_the_index_is_the_simple_one(memory: Memory, embedder: Stalling) -> None:
    embedder.stall_at(2)  # the sentences of the index
    context = memory.prepare_context(ASKED, "talk", 2_000, patience=Patience(index_build_timeout=100))
    assert context.index_form == "simple"
    assert context.degraded
    assert "Kalmar" in context.text  # what was found is there
    index = context.part("index")
    assert index is not None
    assert '"The boat needs varnish' in index.text  # how messages begin
    assert context.tokens <= 2_000


def test_the_next_one_does_not_wait_for_what_was_given_up(memory: Memory, embedder: Stalling) -> None:
    embedder.stall_at(1)
    assert memory.prepare_context(ASKED, "talk", patience=Patience(vector_search_timeout=50)).degraded
    assert memory.prepare_context(ASKED, "talk").degraded is None


def test_a_memory_can_be_closed_while_something_was_given_up(memory: Memory, embedder: Stalling) -> None:
    embedder.stall_at(1)
    memory.prepare_context(ASKED, "talk", patience=Patience(vector_search_timeout=50))
    memory.close()
    embedder.go_on.set()
    with pytest.raises(StoreError):
        memory.prepare_context(ASKED, "talk")


@pytest.mark.parametrize("value", [0, -1, True, "soon"])
def test_a_patience_that_makes_no_sense_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="index_build_timeout"):
        Patience(index_build_timeout=value)  # type: ignore[arg-type]


def test_patience_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VECTOR_SEARCH_TIMEOUT", "1234")
    assert Patience.from_environment() == Patience(vector_search_timeout=1234)
    monkeypatch.setenv("INDEX_BUILD_TIMEOUT", "later")
    with pytest.raises(InvalidInput, match="INDEX_BUILD_TIMEOUT"):
        Patience.from_environment()


# --- stages --------------------------------------------------------------------------------------------------------
def test_a_stage_that_fails_tells_why() -> None:
    def work() -> Iterator[int]:
        yield 1
        raise KeyError("two")

    with Staged(work, "test") as stages:  # type: ignore[arg-type]
        assert stages.next() == 1
        with pytest.raises(KeyError):
            stages.next()


def test_what_was_given_up_ends_with_its_stage() -> None:
    go_on, ended = threading.Event(), threading.Event()

    def work() -> Iterator[int]:
        try:
            go_on.wait(30)
            yield 1
            raise AssertionError("the next stage was begun")
        finally:
            ended.set()

    with Staged(work, "test") as stages, pytest.raises(TooLong):  # type: ignore[arg-type]
        stages.next(0.01)
    go_on.set()
    assert ended.wait(30)
