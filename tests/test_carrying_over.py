"""A memory carried over: exported as a dump and read back, whole and without loss, damaged lines apart."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.memory import Memory
from recollect.record import Edge, stable_id
from recollect.store import Batch
from tests.exports import chat, dump_of, export, file, first_hit, node, opened, texts_of, tree


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "memory.db") as memory:
        yield memory
        assert memory.check() == []


def finds(memory: Memory, words: str) -> list[str]:
    """The ids of the messages that hold these very words, whoever they come from."""
    return [hit.best.message.id for hit in memory.search(f'"{words}"', group_by="message", kind="all")]


def test_a_dump_is_read_back_without_loss(memory: Memory, tmp_path: Path) -> None:
    branches = [
        node("q", None, "Which bread?"),
        node("a", "q", "Rye.", "assistant"),
        node("b", "q", "Spelt.", "assistant", minute=1),
    ]
    memory.import_file(export(tmp_path, [tree(*branches, name="branches"), chat("one", "two", "three")]))
    docs = [
        {"uuid": "d", "filename": "tides.md", "content": "High at noon. " * 4000, "created_at": "2025-03-01T09:00:00Z"}
    ]
    project = {
        "uuid": "p",
        "name": "Harbour",
        "prompt_template": "Be brief.",
        "docs": docs,
        "created_at": "2025-03-01T09:00:00Z",
    }
    memory.import_file(file(tmp_path / "projects.json", [project]))
    live = memory.store_message("Where is the heron?", speaker="Anna", metadata={"deep": {"x": [1, None, 2.5]}})
    memory.store_tool_call("tides", "{}", "high", live.id)
    memory.update_message(live.id, "Where is the otter?")
    memory.delete_message(live.id)
    a, b = stable_id("a"), stable_id("b")
    memory._store.write(memory.namespace, Batch(edges=[Edge(a, "RELATED_TO", b, {"weight": 0.5})]))

    path = tmp_path / "dump.jsonl"
    assert memory.export(path) == 3 + 2 + 1  # conversations, documents, edges
    with opened(tmp_path / "other.db") as other:
        report = other.import_file(path)
        assert not report.problems
        assert dump_of(other) == path.read_bytes()
        assert other.check() == []
        assert other.import_file(path).written.same == 3
        assert dump_of(other) == path.read_bytes()
        assert first_hit(other, "spelt") is not None
        assert finds(other, "the otter") == []  # deleted there, deleted here
        other.restore_message(live.id)
        assert finds(other, "the otter") == [live.id]


def test_a_damaged_line_of_a_dump_costs_itself(memory: Memory, tmp_path: Path) -> None:
    memory.import_file(export(tmp_path, [chat(f"heron {i}", "yes", name=f"c{i}") for i in range(4)]))
    rows = dump_of(memory).splitlines(keepends=True)
    rows[1] = rows[1][:50] + b"\n"
    rows[2] = rows[2].replace(b'"position":1', b'"position":7')
    rows[3] = rows[3].replace(b'"role":"user"', b'"role":null')
    with opened(tmp_path / "other.db") as other:
        report = other.import_file(file(tmp_path / "dump.jsonl", b"".join(rows[:-1])))
        assert [problem.place for problem in report.problems] == [
            "dump.jsonl line 2", "dump.jsonl line 3", "dump.jsonl line 4", "dump.jsonl",
        ]  # fmt: skip
        assert "ends early" in report.problems[-1].reason
        assert other.stats().conversations == 1
        assert other.check() == []


def test_an_export_that_is_cut_off_leaves_the_old_file_as_it_was(memory: Memory, tmp_path: Path) -> None:
    memory.store_message("Hello")
    target = file(tmp_path / "dump.jsonl", "the last good one")

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.export(target, progress=stop)
    assert target.read_text() == "the last good one"


def test_a_dump_can_be_written_to_any_stream(memory: Memory) -> None:
    memory.store_message("Hello")
    target = io.BytesIO()
    assert memory.export(target) == 1
    assert target.getvalue().count(b"\n") == 3
    assert texts_of(memory) == ["Hello"]
