"""What a write costs, counted in what is read and written rather than in time: it does not grow with what is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from recollect.memory import Memory
from recollect.record import Conversation, Edge, Message, Node, NodeKind, Origin, Thread, Turn, stable_id
from recollect.record.wire import dumps, to_wire
from recollect.store import Change
from recollect.store.sqlite.engine import SQLiteStore
from tests.exports import file, opened
from tests.store.builders import embedder

_RECORDS = (Conversation, Message, Turn, Thread, Edge)


class Counting:
    """Stands before a store, a space or a view, and counts what passes: calls, records read, things written."""

    def __init__(self, inner: Any, counts: Counter[str]) -> None:
        self._inner, self._counts = inner, counts

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if not callable(value):
            return value

        def call(*arguments: Any, **named: Any) -> Any:
            result = value(*arguments, **named)
            if name in ("space", "view"):
                return Counting(result, self._counts)
            self._counts["calls"] += 1
            self._counts["writes"] += name == "write"
            self._counts["read"] += records_in(result)
            for change in (a for a in arguments if isinstance(a, Change)):
                self._counts["written"] += len(change.put) + sum(len(mark.ids) for mark in change.mark)
                self._counts["written"] += len(change.index.passages) if change.index else 0
            return result

        return call

    def __enter__(self) -> Counting:
        return Counting(self._inner.__enter__(), self._counts)

    def __exit__(self, *problem: Any) -> Any:
        return self._inner.__exit__(*problem)


def records_in(result: Any) -> int:
    if isinstance(result, Thread):
        return 1 + len(result.messages)
    if isinstance(result, Sequence) and not isinstance(result, str | bytes):
        return sum(map(records_in, result))
    return int(isinstance(result, _RECORDS))


def counted(path: Path) -> tuple[Memory, Counter[str]]:
    counts: Counter[str] = Counter()
    store: Any = Counting(SQLiteStore(path, durable=False), counts)
    return Memory(store, embedder()), counts


def talk(memory: Memory, messages: int) -> None:
    """A talk of so many messages, in the middle of which an answer was made again."""
    for i in range(messages):
        role = "assistant" if i % 2 else "user"
        memory.store_message(f"number {i}", role, conversation_id="C", id=f"N{i}")
    memory.store_message("made again", "assistant", conversation_id="C", id="R", parent_id=f"N{messages - 2}")


STEPS = {
    "what follows a regenerated answer": lambda memory: memory.store_message("next", conversation_id="C"),
    "an answer to it": lambda memory: memory.store_message("next", "assistant", conversation_id="C"),
    "another regenerated answer": lambda memory: memory.store_message(
        "once more", "assistant", conversation_id="C", parent_id=memory.messages(["R"])[0].parent_id
    ),
    "a tool's result": lambda memory: memory.store_tool_call("tides", "{}", "high", "R"),
    "an edit": lambda memory: memory.update_message("R", "made anew"),
    "a deletion": lambda memory: memory.delete_message("R"),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_after_a_regenerated_answer_costs_the_same_in_a_long_talk_as_in_a_short_one(
    tmp_path: Path, name: str
) -> None:
    costs = []
    for messages in (40, 400):
        memory, counts = counted(tmp_path / f"{messages}.db")
        with memory:
            talk(memory, messages)
            counts.clear()
            STEPS[name](memory)
            costs.append(dict(counts))
    assert costs[0] == costs[1]
    assert costs[0]["read"] < 60


def test_edges_and_nodes_are_imported_in_batches(tmp_path: Path) -> None:
    """S18: a million mentions are no million transactions."""
    facts = [Node(stable_id("f", i), NodeKind.FACT, f"key {i}", "a fact", origin=Origin.SAID) for i in range(300)]
    edges = [Edge(one.id, "RELATED_TO", other.id) for one in facts[:40] for other in facts]
    values = [
        {"recollect_dump": 2},
        *({"type": "node", "node": to_wire(fact)} for fact in facts),
        *({"type": "edge", "edge": to_wire(edge)} for edge in edges),
        {"type": "end"},
    ]
    path = file(tmp_path / "dump.jsonl", b"".join(map(dumps, values)))
    memory, counts = counted(tmp_path / "memory.db")
    with memory:
        assert memory.import_file(path).problems == []
        assert counts["writes"] <= 1 + len([*facts, *edges]) / 5000
        with memory._space.view() as view:
            assert view.edges(None) == sorted(edges, key=lambda e: (e.source_id, e.type, e.target_id))
        assert memory.check() == []


def test_documents_are_imported_in_batches(tmp_path: Path) -> None:
    times = {"created_at": "2025-03-01T09:00:00Z", "updated_at": "2025-03-01T09:00:00Z"}
    docs = [{"uuid": f"d{i}", "filename": f"{i}.md", "content": f"Rule {i} of the quay.", **times} for i in range(200)]
    project = {"uuid": "p", "name": "Harbour", "prompt_template": "Be brief.", "docs": docs, **times}
    memory, counts = counted(tmp_path / "memory.db")
    with memory:
        memory.import_file(file(tmp_path / "projects.json", [project]))
        assert counts["writes"] < 5
        assert memory.stats().documents == 201


def test_what_an_append_writes_does_not_grow(tmp_path: Path) -> None:
    """S17 at the level of the file: the pages that are written for the hundredth step are those for the tenth."""
    with opened(tmp_path / "memory.db") as memory:
        talk(memory, 200)
        store = memory._store
        assert isinstance(store, SQLiteStore)
        sizes = []
        wal = tmp_path / "memory.db-wal"
        for step in range(40):
            before = wal.stat().st_size if wal.exists() else 0
            memory.store_message(f"step {step}", "assistant", conversation_id="C", parent_id="N198")
            sizes.append(wal.stat().st_size - before)
        grown = [size for size in sizes if size > 0]
        assert len(grown) < 2 or max(grown[-10:]) <= 3 * max(grown[:10])
