"""The memory by time, and the messages that mention somebody."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

import recollect
from recollect import InvalidInput, Memory, NotFound


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    opened = recollect.open(tmp_path / "memory.db", durable=False, background=False)
    said = [
        ("Ana and I walked to Sintra.", datetime(2024, 1, 31, 23, 50, tzinfo=UTC), "walk"),
        ("And back, with Ana asleep in the tram.", datetime(2024, 2, 1, 0, 10, tzinfo=UTC), "walk"),
        ("Ana asked for the recipe.", datetime(2024, 2, 1, 9, 0, tzinfo=UTC), "recipe"),
    ]
    for text, moment, talk in said:
        opened.store_message(text, conversation_id=talk, title=talk, timestamp=moment)
    opened.upkeep.consolidate()
    return opened


def test_each_message_counts_on_its_utc_day(memory: Memory) -> None:
    timeline = memory.knowledge.timeline()

    assert timeline.days == ((date(2024, 1, 31), 1), (date(2024, 2, 1), 2))
    assert timeline.undated == 0


def test_the_days_of_a_month_hold_its_conversations_in_their_order(memory: Memory) -> None:
    (day,) = memory.knowledge.days("2024-02")

    assert [(row.conversation.title, row.messages) for row in day.rows] == [("walk", 1), ("recipe", 1)]
    assert memory.messages([day.rows[0].first])[0].content.startswith("And back")
    assert [d.day for d in memory.knowledge.days("2024-01 to 2024-02")] == [date(2024, 2, 1), date(2024, 1, 31)]


def test_a_time_that_is_none_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput):
        memory.knowledge.days("the day of the walrus")


def test_what_was_deleted_is_on_no_day(memory: Memory) -> None:
    memory.delete("recipe")

    assert [row.conversation.title for row in memory.knowledge.days("2024-02")[0].rows] == ["walk"]


def test_messages_that_mention_somebody_come_newest_first(memory: Memory) -> None:
    assert [m.content.split()[0] for m in memory.knowledge.mentions("ana")] == ["Ana", "And", "Ana"]
    assert len(memory.knowledge.mentions("Ana", limit=2)) == 2


def test_messages_that_mention_two_mention_both(memory: Memory) -> None:
    assert [m.content for m in memory.knowledge.mentions("Ana", "Sintra")] == ["Ana and I walked to Sintra."]


def test_nobody_is_mentioned_under_a_name_that_is_not_there(memory: Memory) -> None:
    with pytest.raises(NotFound):
        memory.knowledge.mentions("Zarathustra")


def test_topics_stand_on_the_months_in_which_they_began(derived_store: Path) -> None:
    with recollect.open(derived_store, background=False) as memory:
        bands = memory.knowledge.timeline(3).bands

    assert len(bands) == 3
    for band in bands:
        assert [m.month for m in band.months] == sorted({m.month for m in band.months})
        assert sum(m.messages for m in band.months) == band.topic.messages
        assert all(1 <= m.conversations <= m.messages for m in band.months)


def test_summaries_of_a_time_are_those_of_what_began_in_it(memory: Memory) -> None:
    march = datetime(2024, 3, 1, tzinfo=UTC)
    february = datetime(2024, 2, 1, tzinfo=UTC)

    months = [s.period for s in memory.summaries(kind="period", since=february, before=march)]

    assert all(period is None or "2024-01" not in period for period in months)
    assert memory.summaries(kind="period", since=march) == []
