"""Which conversation a request goes on with: however clients send what was said, it is kept once, in one place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.endless.exchange import Endless, Exchange
from recollect.endless.wires import COMPLETIONS
from recollect.memory import Memory
from recollect.record import Kind

SCOPE = {"x-recollect-namespace": "default"}
NAMED = {**SCOPE, "x-recollect-conversation": "c"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        yield memory


def talk(*words: str) -> list[Any]:
    """A person and a model in turns."""
    return [{"role": "assistant" if n % 2 else "user", "content": text} for n, text in enumerate(words)]


def ask(endless: Endless, messages: list[Any], answer: str, headers: dict[str, str] = SCOPE) -> Exchange:
    exchange = endless.begin(COMPLETIONS, {"messages": messages}, headers)
    message = {"role": "assistant", "content": answer}
    exchange.hear_whole({"model": "m", "choices": [{"message": message}]})
    exchange.keep()
    assert not exchange.degraded
    return exchange


def active(memory: Memory) -> list[list[str]]:
    """The active paths of all conversations, the oldest first."""
    return [[m.content for m in memory.latest(row.conversation.id, 99)] for row in reversed(memory.conversations())]


def count(memory: Memory) -> int:
    return sum(
        m.kind is Kind.SAID for row in memory.conversations() for m in memory.conversation(row.conversation.id).messages
    )


@pytest.mark.parametrize("headers", [SCOPE, NAMED])
@pytest.mark.parametrize("restarted", [False, True])
def test_an_edited_message_and_another_answer_open_branches(
    memory: Memory, headers: dict[str, str], restarted: bool
) -> None:
    endless = Endless(lambda _: memory)

    def said(messages: list[Any], answer: str) -> None:
        nonlocal endless
        if restarted:
            endless = Endless(lambda _: memory)
        ask(endless, messages, answer, headers)

    said(talk("One?"), "1")
    said(talk("One?", "1", "Two?"), "2")
    said(talk("One?", "1", "Two?"), "Two, then.")
    assert active(memory) == [["One?", "1", "Two?", "Two, then."]]
    said(talk("One?", "1", "And three?"), "3")
    assert active(memory) == [["One?", "1", "And three?", "3"]]
    said(talk("One?", "1", "Two?", "2", "Four?"), "4")
    assert active(memory) == [["One?", "1", "Two?", "2", "Four?", "4"]]
    assert count(memory) == 9


def test_talks_that_begin_alike_are_told_apart(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    ask(endless, talk("Hello"), "Hello! How can I help?")
    ask(endless, talk("Hello", "Hello! How can I help?", "With bread."), "Knead it.")
    ask(endless, talk("Hello"), "Hello! How can I help?")
    ask(endless, talk("Hello", "Hello! How can I help?", "With wood."), "Plane it.")
    assert active(memory) == [
        ["Hello", "Hello! How can I help?", "With bread.", "Knead it."],
        ["Hello", "Hello! How can I help?", "With wood.", "Plane it."],
    ]


def test_a_client_that_cuts_off_the_beginning_goes_on(memory: Memory) -> None:
    whole: list[str] = []
    for number in range(6):
        whole.append(f"Question {number}?")
        cut = whole[-5:] if len(whole) % 2 else whole[-4:]
        ask(Endless(lambda _: memory), talk(*cut), f"Answer {number}.", NAMED)
        whole.append(f"Answer {number}.")
    assert active(memory) == [whole]
    assert count(memory) == 12


def test_a_client_that_sends_only_what_is_new_goes_on(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    for number in range(3):
        found = ask(endless, talk("And then?"), f"Part {number}.", NAMED)
    assert active(memory) == [["And then?", "Part 0.", "And then?", "Part 1.", "And then?", "Part 2."]]
    assert "Part 0." in str(found.body)
    again = endless.begin(COMPLETIONS, {"messages": talk("And then?")}, NAMED)
    assert "Part 2." in str(again.body)


def test_a_history_that_was_never_seen_is_kept_whole(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    ask(endless, talk("One?", "1", "Two?", "2", "Three?"), "3")
    assert active(memory) == [["One?", "1", "Two?", "2", "Three?", "3"]]


def test_what_programs_put_in_is_nobodys_words(memory: Memory) -> None:
    reminder = "<system-reminder>Be careful.</system-reminder>"
    messages = [
        {"role": "user", "content": [{"type": "text", "text": reminder}, {"type": "text", "text": "Build it."}]}
    ]
    ask(Endless(lambda _: memory), messages, "Built.")
    assert active(memory) == [["Build it.", "Built."]]


def test_a_picture_is_kept_by_its_name(memory: Memory) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    ask(Endless(lambda _: memory), [{"role": "user", "content": [picture]}], "A cat.")
    thread = memory.conversation(memory.conversations()[0].conversation.id)
    assert [part.name for part in thread.messages[0].parts] == ["image_url"]
    assert "AAAA" not in str(thread)


def test_nothing_is_kept_of_what_was_not_answered(memory: Memory) -> None:
    Endless(lambda _: memory).begin(COMPLETIONS, {"messages": talk("Hello")}, SCOPE).keep()
    assert not memory.conversations()


def test_requests_that_only_try_something_are_not_kept(memory: Memory) -> None:
    endless = Endless(lambda _: memory)
    exchange = endless.begin(COMPLETIONS, {"messages": talk("quota"), "max_tokens": 1}, SCOPE)
    exchange.hear_whole({"choices": [{"message": {"content": "#"}}]})
    exchange.keep()
    assert not memory.conversations()
    for odd in ({}, {"messages": None}, {"messages": [None, 1, {"role": 7}]}, {"messages": [{"role": "user"}]}):
        endless.begin(COMPLETIONS, odd, SCOPE).keep()
    assert not memory.conversations()


def test_the_memory_of_another_namespace_is_never_given(memory: Memory) -> None:
    memory.store_message("Rex may eat no chicken.")
    endless = Endless(lambda name: memory if name == "default" else memory.beside(name))
    for headers in ({}, {"x-recollect-namespace": "acme/other"}, {"x-recollect-conversation": "c"}):
        exchange = ask(endless, talk("What may Rex not eat?"), "I do not know.", headers)
        assert exchange.body == {"messages": talk("What may Rex not eat?")}


def test_what_was_given_stays_to_the_byte_when_the_model_speaks_before_it_calls(memory: Memory) -> None:
    """What is asked is still the question, whatever was said on the way to its answer."""
    endless = Endless(lambda _: memory)
    memory.store_message("It always rains in Porto in November.")
    question = {"role": "user", "content": "Does it rain in Porto?"}
    first = endless.begin(COMPLETIONS, {"messages": [question]}, SCOPE)
    memory.store_message("It rained in Porto on the fourth.")
    call = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    steps = [
        {"role": "assistant", "content": "Let me see.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "rain"},
    ]
    second = endless.begin(COMPLETIONS, {"messages": [question, *steps]}, SCOPE)
    assert first.tokens > 0
    assert second.body["messages"][:1] == first.body["messages"]
