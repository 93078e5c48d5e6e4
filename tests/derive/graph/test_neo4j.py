"""On Neo4j relations are what they are on SQLite."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import recollect
from recollect.memory import Memory

SAID = (
    "I live in Leeds. We use Redis and PostgreSQL.",
    "My sister Ana works for Bosch.",
    "I moved to Porto, and we dropped Redis.",
    "Ana no longer works at Bosch. Ana lives in Porto.",
)


def lived(memory: Memory) -> list[str]:
    """What is shown after messages came, one of them changed, and one was forgotten."""
    ids = [
        memory.store_message(
            words, conversation_id="a", id=f"a{number}", timestamp=datetime(2021 + number, 3, 1, tzinfo=UTC)
        ).id
        for number, words in enumerate((*SAID, "Ana likes Zxcanary."))
    ]
    memory.upkeep.consolidate()
    memory.update_message(ids[2], "I moved to Porto in March, and we dropped Redis.")
    memory.knowledge.add_entity("Zorblax", "animal", sources=[ids[0]])
    memory.knowledge.add_relationship("Ana", "Kartona", "WORKS_AT", sources=[ids[4]])
    memory.knowledge.add_relationship(
        "Zorblax", "Ana", "DEPENDS_ON", since=datetime(2021, 3, 1, tzinfo=UTC), sources=[ids[0]]
    )
    memory.knowledge.add_relationship("Ana", "Braga", "LIVES_IN")
    memory.forget(ids[4])
    memory.upkeep.consolidate()
    shown = []
    for name in ("you", "Ana", "Porto", "Bosch", "Zorblax", "Braga"):
        for past in (False, True):
            found = memory.knowledge.graph(name, 2, include_past=past).relations
            shown += [f"{one} {one.words} {one.current} {one.provenance} {one.evidence}" for one in found]
        shown.append(str(memory.knowledge.paths(name, "PostgreSQL", include_past=True)))
    return shown


def test_both_engines_show_the_same_relations(neo4j_uri: str, tmp_path: Path) -> None:
    with (
        recollect.open(tmp_path / "memory.db", durable=False, background=False) as one,
        recollect.open(neo4j_uri, background=False) as other,
    ):
        shown = lived(one)
        assert not {"Zxcanary", "Kartona"} & set(str(shown).split())
        assert any(line.startswith("Zorblax --[DEPENDS_ON]--> Ana") for line in shown)
        assert shown == lived(other)
