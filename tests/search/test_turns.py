"""Many searches at once: by turns, which come before connections, and not for those who wait for a server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from recollect.engines.sqlite import connection
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.memory import Handle, Memory
from recollect.models.embedding import CachedEmbedder, is_remote
from recollect.models.embedding.choose import LazyEmbedder
from recollect.runtime import processes
from recollect.runtime.processes import Turns, turn
from tests.store.builders import embedder


class Served:
    """An embedder that is a server: others search while it is waited for."""

    name, dimensions, is_remote = "served", embedder().dimensions, True

    def __init__(self) -> None:
        self.asked = 0

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        other = threading.Thread(target=_have_a_turn, daemon=True)
        other.start()
        other.join(10)
        assert not other.is_alive(), "nobody else has a turn"
        self.asked += 1
        return embedder().embed(texts)


def _have_a_turn() -> None:
    with turn():
        pass


@pytest.fixture
def one_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_turns", Turns(1))


@pytest.fixture
def served(tmp_path: Path, one_turn: None) -> Iterator[tuple[Memory, Served]]:
    own = Served()
    with Memory(Handle(SQLiteStore(tmp_path / "memory.db", durable=False), own)) as memory:
        memory.store_message("We moved to Porto when the heron nested in the belfry.")
        own.asked = 0
        yield memory, own


@pytest.mark.parametrize(
    ("ask", "times"),
    [
        (lambda memory: memory.search("heron"), 1),
        (lambda memory: memory.search("hereon belfri"), 2),  # corrected, and asked again
        (lambda memory: memory.prepare_context("Where did the heron nest?"), 1),
    ],
)
def test_while_an_embedder_is_waited_for_others_have_turns(
    served: tuple[Memory, Served], ask: Callable[[Memory], object], times: int
) -> None:
    memory, embedder = served
    ask(memory)
    assert embedder.asked == times


def test_the_embedder_of_a_server_is_known_before_it_is_asked() -> None:
    assert is_remote(LazyEmbedder("openai:some-model"))
    assert is_remote(CachedEmbedder(Served()))
    assert not is_remote(LazyEmbedder("static"))


def test_who_waits_for_a_turn_has_no_connection(tmp_path: Path, one_turn: None) -> None:
    """All others could have it, those who write among them."""
    with Memory(Handle(SQLiteStore(tmp_path / "memory.db", durable=False), embedder())) as memory:
        memory.store_message("A heron by the weir.")
        store = memory.handle.store
        assert isinstance(store, SQLiteStore)
        searching = [
            threading.Thread(target=ask)
            for ask in (lambda: memory.search("heron"), lambda: memory.prepare_context("Where is the heron?"))
        ]
        with turn():
            for thread in searching:
                thread.start()
            while len(processes._turns._waiting) < len(searching):
                time.sleep(0.001)
            assert store.database._lent == {}
        for thread in searching:
            thread.join()


def test_searches_and_contexts_never_wait_for_each_other(
    tmp_path: Path, one_turn: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_MOST", 2)
    with Memory(Handle(SQLiteStore(tmp_path / "memory.db", durable=False, wait=5), embedder())) as memory:
        memory.store_message("A heron by the weir.")

        def work(number: int) -> int:
            for _ in range(10):
                if number % 2:
                    memory.prepare_context("Where is the heron?")
                else:
                    memory.search("heron")
            return number

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(work, range(8))) == list(range(8))
