"""What a write costs, counted in what is read and written rather than in time: it does not grow with what is there."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from recollect.engines.sqlite.engine import SQLiteStore
from recollect.memory import Handle, Memory
from recollect.record import Conversation, Edge, Message, Node, NodeKind, Origin, Thread, Turn, stable_id
from recollect.record.wire import dumps, to_wire
from recollect.store import Change
from tests.exports import chat, export, file, opened
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
    return Memory(Handle(store, embedder())), counts


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A short and a long talk, at whose end an answer, "R", was made again."""
    paths = []
    for messages in (40, 400):
        folder = tmp_path_factory.mktemp(str(messages))
        with opened(folder / "memory.db") as memory:
            memory.import_file(export(folder, [chat(*(f"number {i}" for i in range(messages)))]))
            conversation, asked = asked_last(memory)
            memory.store_message("made again", "assistant", conversation_id=conversation, id="R", parent_id=asked)
        paths.append(folder / "memory.db")
    return paths


def asked_last(memory: Memory) -> tuple[str, str]:
    """The conversation and the last question in it."""
    conversation = memory.conversations()[0].conversation.id
    return conversation, memory.conversation(conversation).turns[-1].query_id


#: Each is told the conversation, the last question in it, and the first answer to that.
STEPS: dict[str, Callable[[Memory, str, str, str], object]] = {
    "what follows a regenerated answer": lambda m, talk, asked, first: m.store_message("next", conversation_id=talk),
    "an answer to it": lambda m, talk, asked, first: m.store_message("next", "assistant", conversation_id=talk),
    "another regenerated answer": lambda m, talk, asked, first: m.store_message(
        "once more", "assistant", conversation_id=talk, parent_id=asked
    ),
    "the first answer taken up again": lambda m, talk, asked, first: m.store_message(
        "go on", conversation_id=talk, parent_id=first
    ),
    "a tool's result": lambda m, talk, asked, first: m.store_tool_call("tides", "{}", "high", "R"),
    "an edit": lambda m, talk, asked, first: m.update_message("R", "made anew"),
    "a deletion": lambda m, talk, asked, first: m.delete("R"),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_after_a_regenerated_answer_costs_the_same_in_a_long_talk_as_in_a_short_one(
    tmp_path: Path, talks: list[Path], name: str
) -> None:
    costs = []
    for path in talks:
        own = Path(shutil.copy(path, tmp_path / f"{path.parent.name}.db"))
        with opened(own) as plain:
            talk, asked = asked_last(plain)
            first = plain.conversation(talk).turns[-1].response_ids[0]
        memory, counts = counted(own)
        with memory:
            STEPS[name](memory, talk, asked, first)
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
        with memory.handle.space.view() as view:
            assert view.edges(None) == sorted(edges, key=lambda e: (e.source_id, e.type, e.target_id))
        assert memory.upkeep.check() == []


def test_documents_are_imported_in_batches(tmp_path: Path) -> None:
    times = {"created_at": "2025-03-01T09:00:00Z", "updated_at": "2025-03-01T09:00:00Z"}
    docs = [{"uuid": f"d{i}", "filename": f"{i}.md", "content": f"Rule {i} of the quay.", **times} for i in range(200)]
    project = {"uuid": "p", "name": "Harbour", "prompt_template": "Be brief.", "docs": docs, **times}
    memory, counts = counted(tmp_path / "memory.db")
    with memory:
        memory.import_file(file(tmp_path / "projects.json", [project]))
        assert counts["writes"] < 5
        assert memory.upkeep.stats().documents == 201


def test_what_an_append_writes_does_not_grow(tmp_path: Path, talks: list[Path]) -> None:
    """S17 at the level of the file: a regenerated answer writes as many pages in a long talk as in a short one."""
    grown = []
    for path in talks:
        folder = tmp_path / path.parent.name
        folder.mkdir()
        shutil.copy(path, folder / "memory.db")
        with opened(folder / "memory.db") as memory:
            talk, asked = asked_last(memory)
            memory.store_message("once", "assistant", conversation_id=talk, parent_id=asked)
            log = folder / "memory.db-wal"
            before = log.stat().st_size
            for step in range(5):
                memory.store_message(f"step {step}", "assistant", conversation_id=talk, parent_id=asked)
            grown.append(log.stat().st_size - before)
    assert 0 < grown[1] < 2 * grown[0]
