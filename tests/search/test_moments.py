"""A time that is told by what happened: the memory knows when that was, and what was said then comes first."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollect
from recollect.memory import Memory

TALKS = {
    "2024-02-03": ("Bread", "The bread came out flat, I used the old oven at 230 degrees"),
    "2024-05-20": ("Moving", "We are moving to Porto on 12 June, the van is booked"),
    "2024-09-01": ("Bread again", "The bread came out flat, I used the new oven at 250 degrees"),
    "2025-01-10": ("Plumber", "The plumber came for the sink and wanted 80 euros"),
    "2025-06-10": ("Plumber again", "The plumber came for the sink and wanted 95 euros"),
    "2025-07-01": ("Work", "I started at Kartona today as a clerk"),
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with recollect.open(tmp_path_factory.mktemp("moments") / "memory.db") as memory:
        for day, (title, text) in TALKS.items():
            at = datetime.fromisoformat(day).replace(hour=9, tzinfo=UTC)
            memory.store_message(text, "user", title=title, timestamp=at)
        for number in range(30):
            at = datetime(2024, 1 + number % 12, 1, tzinfo=UTC)
            memory.store_message(f"Note {number}: the weather and the garden", "user", title="Garden", timestamp=at)
        yield memory


def said(memory: Memory, question: str, about: str) -> list[str]:
    """What messages about something say, best first."""
    found = memory.search(question, group_by="message", limit=5, mode="instant")
    texts = [hit.best.message.content for hit in found]
    return [text for text in texts if about in text]


def test_what_was_said_on_that_side_of_what_happened_comes_first(memory: Memory) -> None:
    assert "old oven" in said(memory, "How did the bread come out before we moved to Porto?", "bread")[0]
    assert "new oven" in said(memory, "How did the bread come out after we moved to Porto?", "bread")[0]


def test_the_moment_is_told_with_the_message_that_proves_it(memory: Memory) -> None:
    found = memory.search("How did the bread come out before we moved to Porto?")
    moment = found.moment
    assert moment is not None
    assert str(moment) == "before 12 June 2024: “We are moving to Porto on 12 June, the van is booked”"
    assert moment.is_sure
    proof = memory.messages([moment.message_id])[0]
    assert moment.quote in proof.content
    assert "moment" in found.signals
    assert found.to_json()["moment"]["message_id"] == proof.id


def test_the_first_and_the_last_time_are_told_apart(memory: Memory) -> None:
    assert "80 euros" in said(memory, "What did the plumber want the first time?", "plumber")[0]
    assert "95 euros" in said(memory, "What did the plumber want the last time?", "plumber")[0]
    assert "order" in memory.search("What did the plumber want the last time?").signals


def test_a_fact_knows_since_when(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db") as memory:
        at = datetime(2025, 7, 1, tzinfo=UTC)
        memory.store_message("I moved to Porto in March 2024.", "user", title="Home", timestamp=at)
        memory.upkeep.consolidate()
        found = memory.search("what did I cook before I moved")
        assert found.moment is not None
        assert (found.moment.day.year, found.moment.day.month) == (2024, 3)


def test_what_the_memory_does_not_know_is_no_moment(memory: Memory) -> None:
    found = memory.search("How did the bread come out before the coronation?")
    assert found.moment is None
    assert "moment" not in found.to_json()


def test_a_moment_is_looked_up_only_where_the_search_may_look(memory: Memory) -> None:
    where = memory.conversations(title="Bread again")[0].conversation.id
    assert memory.search("how was it before we moved to Porto", conversation=where).moment is None


def test_words_that_are_shut_out_are_not_quoted_by_the_moment(memory: Memory) -> None:
    question = "How did the bread come out before we moved to Porto?"
    assert memory.search(question).moment is not None
    found = memory.search(f"{question} -van")
    assert found.moment is None or "van" not in found.moment.quote
