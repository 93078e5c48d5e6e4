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
