"""A memory carried over: exported as a dump and read back, whole and without loss, damaged lines apart."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.errors import InvalidInput
from recollect.memory import Memory
from recollect.record import Edge, Node, NodeKind, Origin, stable_id
from recollect.store import Change
from tests.exports import chat, dump_of, export, file, first_hit, node, opened, texts_of, tree


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "memory.db") as memory:
        yield memory
        assert memory.upkeep.check() == []


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
    memory.delete(live.id)
    said = Node(stable_id("n"), NodeKind.FACT, "Anna", "likes otters", origin=Origin.SAID, body={"since": [2024]})
    made = Node(stable_id("m"), NodeKind.TOPIC, "birds", "herons and such", made_by="topics-1")
    edges = [
        Edge(said.id, "MENTIONS", live.id, {"weight": 0.5}),
        Edge(said.id, "RELATED_TO", live.id, name="USES"),
        Edge(said.id, "RELATED_TO", live.id, name="REPLACES"),
    ]
    memory.handle.space.write(Change(put=[said, made], edges=edges))

    path = tmp_path / "dump.jsonl"
    assert memory.export(path) == 3 + 2 + 1 + 3  # conversations, documents, nodes that are not derived, edges
    assert b"herons and such" not in path.read_bytes()
    with opened(tmp_path / "other.db") as other:
        report = other.import_file(path)
        assert not report.problems
        assert dump_of(other) == path.read_bytes()
        assert other.upkeep.check() == []
        assert other.import_file(path).written.same == 3
        assert dump_of(other) == path.read_bytes()
        assert first_hit(other, "spelt") is not None
        assert finds(other, "the otter") == []  # deleted there, deleted here
        other.restore(live.id)
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
        assert other.upkeep.stats().conversations == 1
        assert other.upkeep.check() == []


def test_an_export_that_is_cut_off_leaves_the_old_file_as_it_was(memory: Memory, tmp_path: Path) -> None:
    memory.store_message("Hello")
    target = file(tmp_path / "dump.jsonl", '{"recollect_dump":1}, the last good one')

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.export(target, progress=stop)
    assert target.read_text().endswith("the last good one")
    assert [path.name for path in tmp_path.glob(".*")] == []  # nothing of the new one is left lying about


def test_an_export_replaces_nothing_but_a_dump(memory: Memory, tmp_path: Path) -> None:
    memory.store_message("Hello")
    target = file(tmp_path / "diary.txt", "not yours")
    with pytest.raises(InvalidInput, match=r"diary\.txt exists"):
        memory.export(target)
    assert target.read_text() == "not yours"
    memory.export(target, overwrite=True)
    memory.export(target)  # now it is ours
    assert target.read_bytes() == dump_of(memory)


def test_a_dump_is_for_its_owner_alone(memory: Memory, tmp_path: Path) -> None:
    """S16: the store is readable by its owner alone, and so is what comes out of it."""
    memory.store_message("Hello")
    target = tmp_path / "dump.jsonl"
    memory.export(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    target.chmod(0o644)
    memory.export(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_dump_takes_its_name_when_it_is_on_the_disk(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S16: a power cut leaves the old file or the new one."""
    memory.store_message("Hello")
    target, sync = tmp_path / "dump.jsonl", os.fsync
    there: list[bool] = []

    def noted(number: int) -> None:
        there.append(target.exists())
        sync(number)

    monkeypatch.setattr("recollect.runtime.files.os.fsync", noted)
    memory.export(target)
    assert there == [False, True]  # first the file, then the folder in which it has its name


def test_a_dump_can_be_written_to_any_stream(memory: Memory) -> None:
    memory.store_message("Hello")
    target = io.BytesIO()
    assert memory.export(target) == 1
    assert target.getvalue().count(b"\n") == 3
    assert texts_of(memory) == ["Hello"]
