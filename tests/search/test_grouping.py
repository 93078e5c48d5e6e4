"""From passages to results: which pieces of a long message a hit names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.memory import Memory
from recollect.record import NodeId

PADDING = "The tide comes at six and the heron comes with it. " * 400
LONG = f"The sextant is made of brass.\n\n{PADDING}\n\n{PADDING}\n\nThe sextant came from Lisbon."
QUERY = "Where did the brass sextant come from?"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as opened:
        yield opened


@pytest.fixture
def ends(memory: Memory) -> tuple[NodeId, NodeId]:
    """The first and the last piece of a long message that stands among short ones."""
    memory.store_message("Good morning.", title="Navigation")
    stored = memory.store_message(LONG, title="Navigation")
    pieces = memory.toolbox().get_message_with_chunks(stored.id)
    assert len(pieces) > 2
    return pieces[0].id, pieces[-1].id


@pytest.mark.parametrize("group_by", ["message", "conversation"])
def test_a_hit_names_each_piece_that_matches(memory: Memory, ends: tuple[NodeId, NodeId], group_by: Any) -> None:
    found = memory.search(QUERY, group_by=group_by)
    (hit,) = [one for result in found for one in result.messages if one.chunk_ids]
    assert set(hit.chunk_ids) == set(ends)
    assert hit.chunk_id == hit.chunk_ids[0]
    shown = next(one for result in found.to_json()["results"] for one in result["messages"] if "chunk_id" in one)
    assert (shown["chunk_id"], shown["chunk_ids"]) == (hit.chunk_id, list(hit.chunk_ids))


def test_a_short_message_names_no_piece(memory: Memory) -> None:
    memory.store_message("The sextant is made of brass.")
    (hit,) = memory.search(QUERY, group_by="message")
    assert (hit.best.chunk_id, hit.best.chunk_ids) == (None, ())
    assert "chunk_ids" not in hit.best.to_json()


def test_tools_name_the_pieces_and_load_them_where_there_is_room(memory: Memory, ends: tuple[NodeId, NodeId]) -> None:
    found = memory.toolbox().vector_search(QUERY)
    (long,) = [one for one in found if one.chunk_ids]
    assert (set(long.chunk_ids), long.id) == (set(ends), long.chunk_ids[0])
    lines = memory.toolbox().call("vector_search", {"query": QUERY}).text.split("\n[")
    assert [line.count(ends[0]) + line.count(ends[1]) for line in lines if "also its chunks" in line] == [2]
    assert set(ends) <= {one.id for one in memory.toolbox().search_and_retrieve(QUERY)}
    assert not set(ends) <= {one.id for one in memory.toolbox().search_and_retrieve(QUERY, 1)}
