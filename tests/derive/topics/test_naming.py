"""What topics are called without a model: as people write it, and what they are about."""

from __future__ import annotations

from pathlib import Path

import pytest

import recollect
from recollect.memory import Memory

SAID = {
    "running": (
        "I hold a steady pace on the half marathon in Lisbon, and hold back on hills. A half marathon needs shoes.",
        "My shin hurts after the half marathon. Hold the pace lower, hold it on runs, rest before the half marathon.",
        "Which shoes for a half marathon? My shin hurts, so I hold a slower pace and hold back. Half marathon shoes!",
    ),
    "baking": (
        "The sourdough dough doubled. Hold the dough at 24 degrees, hold it, then bake it with Großtante Gerda.",
        "Bake the sourdough when the dough has doubled. Hold back water in the dough: hold it, says Großtante Gerda.",
        "The sourdough turned out flat: hold the dough longer. Großtante Gerda says to hold a sourdough dough cool.",
    ),
    "booking": (
        "The bookings froze while a booking was written: Postgres locks all bookings until each booking is in.",
        "Bookings are lost when Postgres retries a booking. Hold the lock, then write the bookings, each booking.",
        "Each booking takes a lock in Postgres. Two bookings, one booking: hold the lock and hold the other bookings.",
    ),
}


@pytest.fixture
def labels(tmp_path: Path) -> dict[str, list[str]]:
    """The terms of the topic of each subject."""
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        for subject, texts in SAID.items():
            for number, text in enumerate(texts):
                memory.store_message(text, conversation_id=f"{subject}{number}", title="New chat")
        memory.upkeep.consolidate()
        return {_subject(memory, topic.id): list(topic.terms) for topic in memory.topics()}


def _subject(memory: Memory, topic: str) -> str:
    return memory.toolbox().get_cluster(topic)[0].conversation_id[:-1]


def test_words_that_stand_together_are_one_term(labels: dict[str, list[str]]) -> None:
    assert "half marathon" in labels["running"][:3]
    assert not {"half", "marathon"} & set(labels["running"])


def test_names_are_as_they_are_written(labels: dict[str, list[str]]) -> None:
    assert "Großtante Gerda" in labels["baking"]
    assert "Postgres" in labels["booking"]


def test_forms_of_one_word_are_one_term(labels: dict[str, list[str]]) -> None:
    assert [term for term in labels["booking"] if term.startswith("booking")] == ["booking"]
