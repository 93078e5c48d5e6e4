"""Both engines give the same summaries."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from recollect.engines.neo4j.engine import Neo4jStore
from recollect.memory import Handle, Memory
from tests.derive.histories import Clock, opened
from tests.derive.summaries.talks import CONVERSATION, START, alternating
from tests.exports import embedder
from tests.store import neo4j_server


def told(memory: Memory) -> list[tuple[object, ...]]:
    """What is derived of a talk that grows, is edited, loses a message and is left for a branch; and of short ones."""
    texts = [f"Luna barked for {n} minutes, and she is allergic to chicken." for n in range(70)]
    for one in alternating(texts, minutes=400):
        memory.store_message(one.content, one.role, conversation_id=CONVERSATION, id=one.id, timestamp=one.timestamp)
        if one.position % 25 == 0:
            memory.upkeep.consolidate()
    memory.upkeep.consolidate()
    memory.update_message("message-0003", "Luna weighs 14 kg.")
    memory.delete("message-0041")
    memory.store_message("Another way.", conversation_id=CONVERSATION, parent_id="message-0060", id="other")
    memory.upkeep.consolidate()
    for day in range(7):
        for number in range(10):
            memory.store_message(
                f"Rex slept {number} hours on day {day}.",
                "assistant" if number % 2 else "user",
                conversation_id=f"day{day}",
                id=f"day{day}-{number}",
                timestamp=START + timedelta(days=50 + day, minutes=number),
            )
        if day % 3 == 0:
            memory.upkeep.consolidate()
    memory.upkeep.consolidate()
    memory.update_message("day1-3", "Rex weighs 30 kg.")
    memory.forget("day4")
    memory.upkeep.consolidate()
    assert [s for s in memory.summaries(kind="l2") if s.conversations]
    return [(s.id, s.kind, s.text, s.covers, dict(s.parts), s.block, s.since, s.until) for s in memory.summaries()]


def test_neo4j_and_sqlite_give_the_same_summaries(neo4j_uri: str, tmp_path: Path) -> None:
    clock = Clock()
    clock.now = START + timedelta(days=90)
    with opened(tmp_path / "memory.db", clock) as memory:
        expected = told(memory)
    assert {kind for _, kind, *_ in expected} >= {"l1", "l2", "conversation", "segment", "period"}
    with Memory(Handle(Neo4jStore(neo4j_uri, neo4j_server.auth(), clock=clock), embedder(), clock=clock)) as memory:
        assert told(memory) == expected
