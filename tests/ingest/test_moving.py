"""What moves to another namespace is there before it goes here, and no more goes than is there."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import recollect
import recollect.ingest.forget
from recollect.memory import Memory
from recollect.memory.removal import Removal
from recollect.record import Document, NodeId


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """An empty memory."""
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as opened:
        yield opened


def said(memory: Memory) -> list[str]:
    """All that stands in a namespace, in order."""
    rows = memory.conversations(limit=100)
    return [m.content for row in rows for m in memory.conversation(row.conversation.id).messages]


def test_what_both_hold_is_joined(memory: Memory) -> None:
    there = memory.beside("default/user/ann")
    there.store_message("one heron", conversation_id="C")
    memory.store_message("two otters", conversation_id="C")
    memory.store_message("three weirs", conversation_id="C")
    assert Removal(memory.handle).move(["C"], to="default/user/ann") == 1
    assert sorted(said(there)) == ["one heron", "three weirs", "two otters"]
    assert said(memory) == []
    memory.store_message("four locks", conversation_id="D")
    Removal(memory.handle).move(["D"], to="default/user/ann")
    assert "four locks" in said(there)
    assert memory.upkeep.check() == there.upkeep.check() == []


def test_what_comes_in_while_it_moves_stays(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.store_message("one heron", conversation_id="C")
    copy = recollect.ingest.forget.copy

    def copied(*arguments: object) -> object:
        done = copy(*arguments)  # type: ignore[arg-type]
        memory.store_message("two otters", conversation_id="C")
        return done

    monkeypatch.setattr(recollect.ingest.forget, "copy", copied)
    Removal(memory.handle).move(["C"], to="default/user/ann")
    assert said(memory.beside("default/user/ann")) == ["one heron"]
    assert "two otters" in said(memory)


def test_several_may_move_the_same(memory: Memory) -> None:
    for number in range(4):
        memory.store_message(f"heron {number}", conversation_id=f"C{number}")
    with ThreadPoolExecutor(4) as several:
        moves = [
            several.submit(lambda: [Removal(memory.handle).move([f"C{n}"], to="default/user/ann") for n in range(4)])
            for _ in "four"
        ]
        for move in moves:
            move.result(60)
    assert sorted(said(memory.beside("default/user/ann"))) == [f"heron {n}" for n in range(4)]
    assert said(memory) == []


def test_a_document_with_another_text_there_is_not_lost(memory: Memory) -> None:
    there = memory.beside("default/user/ann")
    for space, text in ((there, "one heron"), (memory, "two otters")):
        space.handle.ingest.documents([(Document(NodeId("D"), "notes", "birds", text), [])])
    assert Removal(memory.handle).move(["D"], to="default/user/ann") == 0
    assert [one.content for one in memory.documents()] == ["two otters"]
    assert [one.content for one in there.documents()] == ["one heron"]
