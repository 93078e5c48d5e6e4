"""Summaries lead to the entities that they name, and entities are counted as if they did not."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from recollect.memory import Memory
from tests.derive.histories import Clock, broken, derived, opened, rebuilt
from tests.derive.summaries.talks import START


def named(memory: Memory, kind: str) -> set[str]:
    """What the summaries of a kind lead to."""
    ids = [summary.id for summary in memory.summaries(kind=kind)]
    with memory.handle.space.view() as view:
        targets = {edge.target_id for edge in view.edges(ids, ("MENTIONS",), "out")}
    return {entity.name for entity in memory.entities(limit=50) if set(entity.ids) & targets}


def test_a_summary_leads_to_what_it_names_as_long_as_it_does(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path / "memory.db", clock) as memory:
        for number in range(24):
            clock.now = START + timedelta(minutes=number)
            words = "We moved to Porto with Luna." if number == 2 else f"She walked {number} minutes with Ben Carter."
            memory.store_message(words, "assistant" if number % 2 else "user", conversation_id="talk", id=f"m{number}")
        clock.now = START + timedelta(days=3)
        before = {entity.name: entity.mentions for entity in memory.entities(limit=50)}
        memory.upkeep.consolidate()
        for kind in ("l1", "conversation", "period"):
            assert named(memory, kind) >= {"Porto", "Ben Carter"}
        counted = {entity.name: entity.mentions for entity in memory.entities(limit=50)}
        assert counted["Porto"] == 1
        assert not before
        assert all(message.id == "m2" for message in memory.knowledge.mentions("Porto"))
        memory.update_message("m2", "We moved to Lisbon with Luna.")
        memory.upkeep.consolidate()
        assert "Porto" not in named(memory, "l1")
        assert "Lisbon" in named(memory, "l1")
        assert broken(memory, {"Porto"}) == []
        assert derived(memory, clock) == rebuilt(memory, tmp_path, clock)
