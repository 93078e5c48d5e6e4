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
    assert "Petar Hektorovic" in memory.toolbox().vector_search(ASKED)[0].snippet


@pytest.mark.parametrize("messages", [5, 10, 30])
def test_a_context_has_the_tool_result_that_holds_the_words(memory: Memory, messages: int) -> None:
    fill(memory, messages)
    assert "Petar Hektorovic" in memory.prepare_context(ASKED).text


def test_a_tool_result_without_the_words_comes_behind_what_was_said(memory: Memory) -> None:
    fill(memory, 10)
    said = memory.store_message("The ferry from Split to Vis sails at noon, with Krilo.", title="Islands")
    memory.store_tool_call("weather", '{"place": "Vis"}', "Light wind from the north.", said.id)
    found = memory.toolbox().vector_search("does Krilo sail from Split to Vis at noon")
    assert (found[0].type, found[0].message_id) == ("message", said.id)


QUESTIONS = [
    "Zebra printers",
    "What did Zebra printers cost?",
    "What was the price of Zebra printers?",
    "What did it say about Zebra printers?",
    "What did the web_search tool return for Zebra printers?",
    "Is Lidl any good for zebra stuff, what did you find?",
]


@pytest.mark.parametrize("results", [1, 80])
def test_a_rare_word_that_nobody_said_brings_up_the_tool_result_that_holds_it(memory: Memory, results: int) -> None:
    fill(memory, 150, results)
    said = memory.store_message("Look up what they cost, please.", title="Printers")
    answer = '{"answer": "Zebra printers cost 412 euros at Lidl."}'
    memory.store_tool_call("web_search", '{"query": "zebra pricing"}', answer, said.id)
    contexts = {asked: memory.prepare_context(asked).text for asked in QUESTIONS}
    assert [asked for asked, text in contexts.items() if "412 euros" not in text] == []
    assert "412 euros" not in memory.prepare_context("What about tomatoes on the balcony?").text


def test_a_young_memory_shows_what_a_tool_gave_back_though_no_word_is_the_same(memory: Memory) -> None:
    """The example of the Infinite Chat specification."""
    said = memory.store_message("We need to implement rate limiting for the API", title="Chat")
    paragraph = "OAuth2 refresh tokens are rotated at each use. " * 40
    result = "\n\n".join(f"{n}. {paragraph}" for n in range(40))
    memory.store_tool_call("web_search", '{"query": "OAuth2 best practices"}', result, said.id)
    for asked in ("Tell me about our authentication decisions", "OAuth2 refresh tokens best practices"):
        assert "refresh tokens" in memory.prepare_context(asked, said.conversation_id).text.replace(asked, "")
    assert "refresh tokens" not in memory.prepare_context("hello", said.conversation_id).text
