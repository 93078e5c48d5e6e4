"""Search in the record alone, while the index is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

import recollect
from recollect.memory import Memory


@pytest.fixture
def damaged(tmp_path: Path) -> Iterator[Memory]:
    path = tmp_path / "memory.db"
    with recollect.open(path, durable=False) as memory:
        said = [{"content": f"The heron stands by the weir, day {i}."} for i in range(60)]
        memory.store_messages(said, conversation_id="many")
        memory.store_message("Somebody saw a heron.", "assistant", conversation_id="one")
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("UPDATE tail SET terms = 'x'")
    with recollect.open(path, durable=False) as memory:
        yield memory


@pytest.mark.parametrize("filtered", [{"role": "assistant"}, {"conversation": "one"}])
def test_a_filter_holds_before_anything_is_cut_off(damaged: Memory, filtered: dict[str, str]) -> None:
    found = damaged.search("heron weir", limit=1, **filtered)  # type: ignore[arg-type]
    assert found.notes[0].startswith("The search index is damaged")
    assert [hit.conversation.id for hit in found] == ["one"]


def test_what_is_shut_out_makes_room_for_others(damaged: Memory) -> None:
    assert [hit.conversation.id for hit in damaged.search("heron weir -weir", limit=1)] == ["one"]


def test_counts_are_of_all_that_is_found(damaged: Memory) -> None:
    """A page that could not use the index said "0 messages in 2 conversations"."""
    found = damaged.search("heron", limit=1, facets=True)
    facets = found.facets
    assert facets is not None
    assert (found.total, found.total_exact, found.next) == (2, True, 1)
    assert (facets.messages, facets.conversations) == (61, 2)
    assert (facets.roles, facets.kinds) == ({"user": 60, "assistant": 1}, {"said": 61})
    assert sum(facets.months.values()) == 61
    assert facets.by_conversation == {"many": 60, "one": 1}


def test_a_long_conversation_does_not_hide_others(damaged: Memory) -> None:
    said = [{"content": f"The heron stands by the weir, evening {i}. 🚀"} for i in range(600)]
    damaged.store_message("Once. 🚀", conversation_id="early")
    damaged.store_messages(said, conversation_id="long")
    for query in ("heron", "🚀"):
        found = damaged.search(query, limit=5)
        assert "long" in {hit.conversation.id for hit in found}
        assert {"one", "early"} & {hit.conversation.id for hit in found}, query
