"""A fact said once, long ago, is at most two calls of tools away from the context, however much was said since."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollect
from benchmarks.generator import write_openai
from benchmarks.needles import _calls, _histories, reach

LONG_AGO = datetime(2022, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("size", [10, 400, 3_000])
def test_every_needle_is_reached_with_at_most_two_calls(size: int) -> None:
    for memory, needles in _histories(size, None):
        with memory:
            for needle in needles:
                assert reach(memory, needle).calls <= 2


def test_a_needle_that_no_context_shows_is_found_by_the_tools() -> None:
    for memory, needles in _histories(400, None):
        with memory:
            tools = memory.toolbox(read_only=True)
            assert max(_calls(tools, "", needle) for needle in needles) <= 2


def test_the_same_on_neo4j(neo4j_place: str, tmp_path: Path) -> None:
    export = tmp_path / "export.jsonl"
    write_openai(export, 300)
    with recollect.open(neo4j_place, background=False) as memory:
        memory.import_file(export)
        memory.store_message("The spare key hangs in the boathouse.", conversation_id="needle", timestamp=LONG_AGO)
        memory.upkeep.consolidate()
        for strategy in ("adaptive", "clustered", "hierarchical"):
            config = {"index_strategy": strategy}
            context = memory.prepare_context("Where does the spare key hang?", budget=4_000, config=config)
            assert context.degraded is None
            assert context.tokens <= 4_000
            assert "boathouse" in context.text
            codes = re.findall(r"\[([0-9A-Z]{8})\]", context.text)[:10]
            assert "Not there" not in memory.toolbox().call("get_messages_by_ids", {"ids": codes}).text
