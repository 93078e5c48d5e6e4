"""Handles on the namespaces of one store: a process that serves ever more of them stays as it is."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import recollect
from recollect.errors import StoreError
from recollect.index.corpus import MOST_NAMESPACES
from recollect.index.snapshot import Snapshot
from recollect.memory import Memory
from recollect.record import NodeId

DOG = "My dog Rex is allergic to chicken."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        yield memory


@contextmanager
def without_collection() -> Iterator[None]:
    """With nothing freed but by who let go of it."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def behind(handle: Memory) -> None:
    handle.chat(None, "What is my dog allergic to?", save="behind")
    handle.close()


USES: dict[str, Callable[[Memory], object]] = {
    "search": lambda handle: handle.search("dog"),
    "context": lambda handle: handle.prepare_context("Is the dog allergic?"),
    "ask": lambda handle: handle.ask("What is the dog allergic to?"),
    "chat": lambda handle: handle.chat(None, "What is my dog allergic to?"),
    "chat behind": behind,
    "research": lambda handle: handle.research("the dog"),
    "facts": lambda handle: handle.store_fact("dog", "Rex is allergic to chicken"),
    "consolidate": lambda handle: handle.upkeep.consolidate(),
    "work": lambda handle: handle.upkeep.work(namespaces=[handle.namespace], once=True),
    "tools": lambda handle: handle.toolbox().call("vector_search", {"query": "dog"}),
}


@pytest.mark.parametrize("use", USES)
def test_a_handle_that_is_dropped_is_gone_at_once(memory: Memory, use: str) -> None:
    """With all that it keeps, without waiting for the garbage collector."""
    handle = memory.beside("people/one")
    handle.store_message(DOG)
    with without_collection():
        gone = weakref.ref(handle)
        USES[use](handle)
        del handle
        assert gone() is None


def test_what_searches_load_is_bounded_however_many_namespaces_there_are(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[weakref.ref[Snapshot]] = []
    begin = Snapshot.__init__

    def begun(self: Snapshot, *arguments: Any, **named: Any) -> None:
        begin(self, *arguments, **named)
        if self.size:
            made.append(weakref.ref(self))

    monkeypatch.setattr(Snapshot, "__init__", begun)
    many = MOST_NAMESPACES + 20
    for number in range(many):
        memory.beside(f"people/{number}").store_message(DOG)
        assert len(memory.beside(f"people/{number}").search("dog")) == 1
    gc.collect()
    assert len(made) >= many
    assert sum(one() is not None for one in made) * many <= len(made) * MOST_NAMESPACES


def test_the_background_is_told_of_the_end_though_a_turn_was_not_written(tmp_path: Path) -> None:
    """Else it goes on with a store that is closed."""
    memory = recollect.open(tmp_path / "memory.db", durable=False, background=False)
    background = memory.handle.background = Mock()

    def fails() -> None:
        raise StoreError("The disk is full.")

    memory.handle.behind.write(NodeId("C"), fails)
    with pytest.raises(StoreError, match="full"):
        memory.close()
    background.close.assert_called_once_with()
