"""What was tried in a branch that is not shown any more is summed up beside what is."""

from __future__ import annotations

from pathlib import Path

from tests.derive.histories import Clock, derived, opened, rebuilt


def test_a_branch_that_was_left_has_a_summary_of_its_own(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path / "memory.db", clock) as memory:
        first = memory.store_message("Which database shall we take?", conversation_id="talk", timestamp=clock())
        for number in range(6):
            clock.move(2)
            role = "user" if number % 2 else "assistant"
            memory.store_message(f"MongoDB needs {number} servers.", role, conversation_id="talk", timestamp=clock())
        memory.upkeep.consolidate()
        assert not memory.summaries("talk", "segment")
        left = memory.summaries("talk", "conversation")[0].covers[1:]
        clock.move(2)
        memory.store_message(
            "PostgreSQL runs on one.", "assistant", conversation_id="talk", parent_id=first.id, timestamp=clock()
        )
        memory.upkeep.consolidate()
        (branch,) = memory.summaries("talk", "segment")
        assert branch.covers == left
        assert "MongoDB" in branch.text
        assert branch.extractive
        (found,) = [
            hit for hit in memory.search("How many servers does MongoDB need?").derived if hit.kind == "summary"
        ]
        assert (found.id, found.level) == (branch.id, "segment")
        assert not memory.summaries("talk", "conversation")  # two messages are left
        assert derived(memory, clock) == rebuilt(memory, tmp_path, clock)
        memory.delete(left[0])
        memory.upkeep.consolidate()
        assert not memory.summaries("talk", "segment")  # five are too few
