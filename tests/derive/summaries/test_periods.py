"""Days, weeks and months are summed up again without what was forgotten of them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from tests.derive.histories import Clock, opened
from tests.derive.summaries.talks import START


def test_a_week_is_summed_up_again_without_the_day_that_was_forgotten(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path / "memory.db", clock) as memory:
        for day in range(2):
            words = f"Luna walked {day + 20} minutes in the park."
            memory.store_message(words, conversation_id=f"day{day}", timestamp=START + timedelta(days=day))
        clock.now = START + timedelta(days=8)
        memory.upkeep.consolidate()
        memory.forget("day1")
        memory.upkeep.consolidate()
        periods = {summary.period: summary.text for summary in memory.summaries(kind="period")}
        assert list(periods) == ["day 2025-03-03", "week 2025-W10"]
        assert "21 minutes" not in str(periods)
