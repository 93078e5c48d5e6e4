"""Moving between the engines: a dump of one, read by the other, is the same dump there, byte for byte."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("neo4j", reason="the Neo4j driver is not installed")

import recollect
from recollect.ingest.importing import Progress
from recollect.memory import Memory
from recollect.record import Document, Edge, Node, NodeKind, Origin, stable_id
from tests.exports import dump_of
from tests.paths import ROOT

#: Small batches, so that a kill finds some of them done and others not.
IMPORT = """
import sys, recollect, recollect.ingest.importing
recollect.ingest.importing.BATCH_MESSAGES = 40
with recollect.open(sys.argv[1]) as memory:
    memory.import_file(sys.argv[2])
"""


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory, sample_archive: list[Path]) -> Path:
    """The dump of a memory with everything in it that can be moved."""
    folder = tmp_path_factory.mktemp("moved")
    with recollect.open(folder / "memory.db") as memory:
        memory.import_file(sample_archive[0])
        fill(memory)
        memory.export(folder / "dump.jsonl")
    return folder / "dump.jsonl"


def fill(memory: Memory) -> None:
    """What no export holds: own messages, an earlier wording, a deletion, a branch, a document, edges."""
    asked = memory.store_message("Which bread holds most water?", title="Bread", metadata={"mood": "curious"})
    answer = memory.store_message("Ciabatta.", "assistant", conversation_id=asked.conversation_id)
    memory.store_message("Focaccia.", "assistant", conversation_id=asked.conversation_id, parent_id=asked.id)
    memory.store_tool_call("look_up", '{"q": "rye"}', "rye: 78 percent", answer.id)
    memory.update_message(answer.id, "Ciabatta, at 80 percent.")
    memory.delete(memory.store_message("Not this, \U0001f35e \u0000 Straße.", title="Gone").id)
    documents = [Document(stable_id("d", str(n)), "test", f"Rules {n}", "Hold water. " * 3000) for n in range(2)]
    memory.handle.ingest.documents([(document, ()) for document in documents])
    forgotten = memory.store_message("Nor this.", title="Forgotten")
    memory.forget(forgotten.conversation_id)
    rye = Node(stable_id("fact", "rye"), NodeKind.FACT, "rye", "Rye holds 78 percent.", origin=Origin.SAID)
    memory.handle.ingest.others([
        rye,
        Edge(asked.id, "SOURCED_FROM", documents[0].id, {"weight": 0.5}),
        Edge(rye.id, "RELATED_TO", asked.id, name="ANSWERS"),
        Edge(rye.id, "RELATED_TO", asked.id, {"since": 1}, name="CONTRADICTS"),
        Edge(asked.id, "MENTIONS", stable_id("entity", "nobody made it yet")),
    ])  # fmt: skip


def test_there_and_back_it_is_the_same_dump(moved: Path, neo4j_place: str, tmp_path: Path) -> None:
    told: list[Progress] = []
    with recollect.open(neo4j_place) as server:
        report = server.import_file(moved, progress=told.append)
        assert dump_of(server) == moved.read_bytes()
        assert server.upkeep.check() == []
        gone = 2  # one is deleted, one forgotten
        assert report.stored.messages == server.upkeep.stats().messages == told[-1].messages - gone
        server.export(tmp_path / "back.jsonl")
        found = [hit.conversation.id for hit in server.search("adding water late", limit=5)]
    assert 0 < told[-1].read <= told[-1].total == moved.stat().st_size
    with recollect.open(tmp_path / "back.db") as file:
        file.import_file(tmp_path / "back.jsonl")
        assert dump_of(file) == moved.read_bytes()
        assert file.upkeep.check() == []
        assert [hit.conversation.id for hit in file.search("adding water late", limit=5)] == found


def test_a_move_that_is_killed_goes_on_where_it_was(moved: Path, neo4j_place: str) -> None:
    command = [sys.executable, "-c", IMPORT, neo4j_place, str(moved)]
    with recollect.open(neo4j_place) as server, subprocess.Popen(command, cwd=ROOT) as process:
        for conversations in conversations_in(server):
            if conversations:
                break
        process.kill()
        process.wait(10)
        assert server.upkeep.check() == []
        assert 0 < server.upkeep.stats().conversations < moved.read_bytes().count(b'"type":"conversation"')
        server.import_file(moved)
        assert dump_of(server) == moved.read_bytes()
        assert server.upkeep.check() == []


def conversations_in(memory: Memory) -> Iterator[int]:
    """How many there are, again and again for some seconds."""
    limit = time.monotonic() + 20
    while time.monotonic() < limit:
        yield memory.upkeep.stats().conversations
        time.sleep(0.02)
    pytest.fail("nothing was imported within 20 s")
