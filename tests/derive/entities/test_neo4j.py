"""On Neo4j everything is derived and read as on SQLite."""

from __future__ import annotations

from pathlib import Path

import recollect
from recollect.memory import Memory
from tests.derive.entities.talking import WORDS, derived, drain, say


def lived(memory: Memory) -> None:
    """Messages come, change and go, in portions."""
    ids = []
    for number, words in enumerate(WORDS * 2):
        ids.append(say(memory, words, "abc"[number % 3], number))
        if number % 5 == 4:
            drain(memory)
    memory.update_message(ids[3], "We use Redis with Next.js.")
    memory.delete(ids[0])
    drain(memory)
    memory.forget(ids[2])
    memory.upkeep.consolidate()


def read(memory: Memory) -> list[str]:
    memory.knowledge.merge_entities("Redis", "PostgreSQL")
    memory.knowledge.edit_entity("Tidepool", "Tidepool Booking", type="project")
    graph, paths = memory.knowledge.graph("Next.js", depth=2), memory.knowledge.paths("SEO", "Lisbon")
    topics = [(topic.label, [m.id for m in memory.toolbox().get_cluster(topic.id)]) for topic in memory.topics()]
    segments = [(s.label, s.messages, s.topic) for s in memory.knowledge.segments("a")]
    return [str(part) for part in (memory.entities(), graph, paths, topics, segments)]


def test_both_engines_derive_and_read_the_same(neo4j_uri: str, tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", durable=False) as one, recollect.open(neo4j_uri) as other:
        lived(one)
        lived(other)
        assert derived(one) == derived(other)
        assert [a for a, b in zip(read(one), read(other), strict=True) if a != b] == []
