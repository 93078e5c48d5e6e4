"""Tool results in a young memory: a few passages by themselves do not say how rare a word is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from recollect.memory import Memory

SMALL_TALK = [
    "The tide comes at six.",
    "I planted tomatoes on the balcony.",
    "My sister visits us next weekend with her dog.",
    "The train to Basel was late again.",
    "We painted the kitchen a pale green.",
    "Could you suggest a podcast about history?",
    "The new neighbours play the cello.",
    "I lost my keys in the park.",
    "My bicycle needs a new chain.",
    "We should book the hotel soon.",
]
ASKED = "which ferry sails from Split to Vis at noon on Jadrolinija"
RESULT = "Jadrolinija ferry Petar Hektorovic: Split to Vis, departs 12:00."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as opened:
        yield opened


def fill(memory: Memory, messages: int, results: int = 1) -> None:
    """So many messages in one conversation, of which the first asks for so many calls; the first of these answers."""
    said = memory.store_message("Please look that up for me.", title="Talk")
    memory.store_tool_call("web_search", '{"query": "timetable"}', RESULT, said.id)
    for place in range(results - 1):
        memory.store_tool_call("web_search", f'{{"query": "{place}"}}', f"{place}: {SMALL_TALK[place % 10]}", said.id)
    for place in range(messages - 1):
        text = f"{SMALL_TALK[place % 10]} ({place})"
        memory.store_message(text, "assistant" if place % 2 else "user", conversation_id=said.conversation_id)


@pytest.mark.parametrize(("messages", "results"), [(3, 1), (5, 1), (10, 1), (30, 1), (10, 3), (10, 20), (10, 70)])
def test_the_tool_result_that_holds_the_words_comes_first(memory: Memory, messages: int, results: int) -> None:
    fill(memory, messages, results)
    assert "Petar Hektorovic" in memory.vector_search(ASKED)[0].snippet


@pytest.mark.parametrize("messages", [5, 10, 30])
def test_a_context_has_the_tool_result_that_holds_the_words(memory: Memory, messages: int) -> None:
    fill(memory, messages)
    assert "Petar Hektorovic" in memory.prepare_context(ASKED).text


def test_a_tool_result_without_the_words_comes_behind_what_was_said(memory: Memory) -> None:
    fill(memory, 10)
    said = memory.store_message("The ferry from Split to Vis sails at noon, with Krilo.", title="Islands")
    memory.store_tool_call("weather", '{"place": "Vis"}', "Light wind from the north.", said.id)
    found = memory.vector_search("does Krilo sail from Split to Vis at noon")
    assert (found[0].type, found[0].message_id) == ("message", said.id)
