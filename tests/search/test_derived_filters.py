"""What was derived keeps to the filters of a search: nothing of what they leave out is told in it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect.memory import Memory
from tests.exports import opened

_BEGIN = datetime(2025, 1, 1, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Two talks and a fact on one day, of which the summary of the day tells as well."""
    folder: Path = tmp_path_factory.mktemp("derived")
    talks = [
        ("Kayak", "The kayak trip {} needs planning with a paddle and a vest.", "Plan {}: bring it."),
        ("Bread", "The sourdough {} needs rye flour and a warm oven.", "Bake {}: preheat it."),
    ]
    with opened(folder / "memory.db") as memory:
        for hour, (title, asked, answered) in enumerate(talks):
            for number in range(14):
                at = _BEGIN + timedelta(hours=hour, minutes=number)
                place: dict[str, Any] = {"conversation_id": title, "title": title, "timestamp": at}
                memory.store_message(asked.format(number), **place)
                memory.store_message(answered.format(number), "assistant", **place)
        memory.store_message("I'm allergic to rye flour.", conversation_id="H", timestamp=_BEGIN + timedelta(hours=3))
        memory.upkeep.consolidate()
        yield memory


@pytest.mark.parametrize(
    ("filters", "shown"),
    [
        ({}, ["fact", "conversation"]),
        ({"conversation": "Kayak"}, []),
        ({"conversation": "Bread"}, ["conversation"]),
        ({"role": "assistant"}, []),
        ({"role": "user"}, ["fact"]),
        ({"since": "2025-01-01T12:00"}, ["fact"]),
        ({"before": "2025-01-01T12:00"}, ["conversation"]),
        ({"since": "2025-01-02"}, []),
    ],
)
def test_a_summary_is_shown_where_all_that_it_covers_may_be(
    memory: Memory, filters: dict[str, Any], shown: list[str]
) -> None:
    found = memory.search("rye flour", **filters).derived
    assert [hit.level or hit.kind for hit in found] == shown


def test_a_day_is_not_told_to_who_asks_about_one_of_its_talks(memory: Memory) -> None:
    assert [hit.level for hit in memory.search("kayak sourdough").derived] == ["period"]
    for title in ("Kayak", "Bread"):
        assert [hit.text for hit in memory.search("kayak sourdough", conversation=title).derived if _of_both(hit)] == []


def _of_both(hit: Any) -> bool:
    return "kayak" in hit.text and "sourdough" in hit.text


def test_a_title_brings_its_own_conversation(tmp_path: Path) -> None:
    """A typed title opens its conversation at the beginning, and brings its summary, not one that says its words."""
    with opened(tmp_path / "memory.db") as memory:
        for title, text in (
            ("Coast walks", "Tell me of flowers in number {}: a thyme that likes sand."),
            ("Thyme", "The planning of the coast walks takes {} days, and the walks along the coast are long."),
        ):
            for number in range(6):
                memory.store_message(text.format(number), conversation_id=title, title=title)
                memory.store_message(f"Answer {number}: so it is.", "assistant", conversation_id=title)
        memory.upkeep.consolidate()
        for query in ("Coast walks", "thyme"):
            found = memory.search(query)
            summaries = [hit for hit in found.derived if hit.kind == "summary"]
            assert [hit.conversation.title.casefold() for hit in (found[0], *summaries)] == [query.casefold()] * 2
            assert (found[0].best.message.position, found[0].best.why.found_in) == (0, "title")
        found = memory.search("coast")
        assert [hit.conversation.id for hit in found.derived] == [found[0].conversation.id]
        assert [len({m.message.id for m in hit.messages}) for hit in found] == [len(hit.messages) for hit in found]
