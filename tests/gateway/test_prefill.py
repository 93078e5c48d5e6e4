"""An answer whose beginning the client gives is one message, whatever the wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from recollect.gateway.exchange import Endless
from recollect.gateway.wires import COMPLETIONS, MESSAGES, Wire
from recollect.memory import Memory
from tests.gateway.conftest import restarted
from tests.gateway.test_loops import assistant, begin, everything, say, talks, user

PREFIX = {"prefix": True}


@pytest.fixture
def endless(memory: Memory) -> Callable[[], Endless]:
    """The proxy over one memory, whatever the namespace."""
    return restarted(lambda _: memory)


@pytest.mark.parametrize(
    ("wire", "mark", "more"),
    [
        (MESSAGES, {}, {}),
        (COMPLETIONS, PREFIX, {}),
        (COMPLETIONS, {}, {"continue_final_message": True, "add_generation_prompt": False}),
    ],
    ids=["Messages", "prefix", "continue_final_message"],
)
def test_it_is_stored_as_one_message(
    memory: Memory, endless: Callable[[], Endless], wire: Wire, mark: dict[str, Any], more: dict[str, Any]
) -> None:
    items: list[Any] = []
    for number in range(3):
        items.append(user(f"Question {number}, as JSON?"))
        say(begin(endless(), wire, [*items, {**assistant("{"), **mark}], **more), f' "value": {number}}}')
        items.append(assistant(f'{{ "value": {number}}}'))
    assert talks(memory) == [[one["content"] for one in items]]
    assert len(everything(memory)) == 6


def test_it_is_one_message_in_a_stream_and_in_blocks(memory: Memory) -> None:
    items = [user("A list?"), {"role": "assistant", "content": [{"type": "text", "text": "1. "}]}]
    exchange = begin(Endless(lambda _: memory), MESSAGES, items, stream=True)
    assert exchange.body["messages"] == items  # as it came
    for event in (
        '{"type": "message_start", "message": {"id": "m", "model": "c"}}',
        '{"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}',
        '{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Bread"}}',
        '{"type": "message_stop"}',
    ):
        exchange.hear(f"data: {event}\n\n".encode())
    exchange.keep()
    assert talks(memory) == [["A list?", "1. Bread"]]


def test_a_beginning_that_the_server_gives_back_is_not_there_twice(memory: Memory) -> None:
    items = [user("Who?"), {**assistant("It is "), **PREFIX}]
    say(begin(Endless(lambda _: memory), COMPLETIONS, items), "It is Rex.")
    assert talks(memory) == [["Who?", "It is Rex."]]


def test_nothing_is_stored_of_a_beginning_without_an_answer(memory: Memory) -> None:
    begin(Endless(lambda _: memory), MESSAGES, [user("Who?"), assistant("It is ")]).keep()
    assert talks(memory) == []


def test_what_a_model_said_last_is_a_message_where_it_does_not_go_on_with_it(memory: Memory) -> None:
    """OpenAI's models answer anew."""
    say(begin(Endless(lambda _: memory), COMPLETIONS, [user("Who?"), assistant("Rex.")]), "Rex, as I said.")
    assert talks(memory) == [["Who?", "Rex.", "Rex, as I said."]]
