"""What matches, counted by what it can be filtered by."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import recollect
from recollect.memory import Memory


def _talk(memory: Memory) -> None:
    said = [
        ("a", "user", "2024-01-05T10:00:00Z", "My sourdough is too wet"),
        ("a", "assistant", "2024-01-05T10:01:00Z", "Hold back water from the sourdough"),
        ("a", "user", "2024-02-01T10:00:00Z", "Another day, about trains"),
        ("b", "user", "2025-03-01T10:00:00Z", "sourdough again"),
    ]
    for conversation, role, when, words in said:
        memory.store_message(
            words,
            role,
            conversation_id=conversation,
            timestamp=datetime.fromisoformat(when),
            id=f"{conversation}-{when}",
        )


def test_matches_are_counted_by_role_month_and_conversation(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        _talk(memory)
        found = memory.search("sourdough", limit=1, facets=True).facets
    assert found is not None
    assert (found.messages, found.conversations) == (3, 2)
    assert dict(found.roles) == {"user": 2, "assistant": 1}
    assert dict(found.kinds) == {"said": 3}
    assert dict(found.months) == {"2024-01": 2, "2025-03": 1}
    assert dict(found.all_months) == {"2024-01": 2, "2024-02": 1, "2025-03": 1}
    assert dict(found.by_conversation) == {"a": 2, "b": 1}
    assert sum(found.sources.values()) == 3


def test_what_is_merely_related_is_counted_apart(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        memory.store_message("Sourdough wants a hot oven.", conversation_id="a")
        memory.store_message("The baker sells fresh bread, rolls and pastry.", "assistant", conversation_id="b")
        found = memory.search("What do we know about sourdough?", facets=True)
    assert (found.total, found.with_words, found.related) == (2, 1, 1)
    assert found.facets is not None
    assert (found.facets.messages, dict(found.facets.roles)) == (1, {"user": 1})
    assert (found.facets.related.messages, dict(found.facets.related.roles)) == (1, {"assistant": 1})


def test_a_filter_leaves_only_what_it_lets_through(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        _talk(memory)
        found = memory.search("sourdough", role="assistant", facets=True).facets
        none = memory.search("zeppelin", facets=True).facets
    assert found is not None
    assert dict(found.roles) == {"assistant": 1}
    assert none is not None
    assert (none.messages, dict(none.months)) == (0, {})


def test_they_are_counted_only_when_asked_for(sample_store: Path) -> None:
    with recollect.open(sample_store, background=False) as memory:
        assert memory.search("stripe").facets is None
        assert "facets" not in memory.search("stripe").to_json()
        assert memory.search("stripe", facets=True).to_json()["facets"]["messages"] >= 1


def test_long_messages_of_several_passages_count_once(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", background=False, chunk_tokens=200) as memory:
        memory.store_message("The lighthouse keeper counted ships. " * 200, conversation_id="long")
        found = memory.search("lighthouse", facets=True).facets
    assert found is not None
    assert found.messages == 1
