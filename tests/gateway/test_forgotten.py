"""What was forgotten stays away however a client tells it again, and the talk goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from recollect.gateway.exchange import Endless
from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire
from recollect.memory import Memory
from tests.gateway.test_loops import SCOPE, assistant, begin, everything, say, step, talks, user

WIRES = pytest.mark.parametrize("wire", [COMPLETIONS, MESSAGES, RESPONSES], ids=lambda wire: wire.path)
NAMED = {**SCOPE, "x-recollect-conversation": "main"}


@pytest.mark.parametrize("headers", [SCOPE, NAMED], ids=["unnamed", "named"])
@pytest.mark.parametrize("when", ["between", "while it is answered"])
@WIRES
def test_a_talk_goes_on_whose_question_was_forgotten_while_tools_ran(
    memory: Memory, endless: Callable[[], Endless], wire: Wire, when: str, headers: dict[str, str]
) -> None:
    own = memory.beside("default")
    items: list[Any] = [user("Hello there"), assistant("Hello!"), user("What is the code?")]
    say(begin(endless(), wire, items[:1], headers), "Hello!")
    say(begin(endless(), wire, items, headers), calls=(("c1", "{}"),))
    question = next(m.id for m in own.latest(own.conversations()[0].conversation.id) if "code" in m.content)
    items += step(wire, "c1", "{}", "It is 4417")
    if when == "between":
        own.forget(question)
    exchange = begin(endless(), wire, items, headers)
    if when != "between":
        own.forget(question)
    say(exchange, "I told you.")
    assert exchange.headers["X-Recollect-Stored"] == "yes"
    say(begin(endless(), wire, [*items, assistant("I told you."), user("And now?")], headers), "Nothing new.")
    assert talks(own) == [["Hello there", "Hello!", "I told you.", "And now?", "Nothing new."]]
    assert own.upkeep.check() == []


PARTS = {
    "the newest": lambda items: items[-5:],
    "the newest from a question": lambda items: items[-4:],
    "a summary and the newest": lambda items: [user("Summary: of codes."), *items[-4:]],
    "the first and the newest": lambda items: [*items[:2], *items[-3:]],
}


@pytest.mark.parametrize("headers", [SCOPE, NAMED, {"authorization": "sk-1"}], ids=["unnamed", "named", "apart"])
@pytest.mark.parametrize("what", ["conversation", "messages", "everything"])
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@WIRES
def test_a_part_of_a_history_brings_back_nothing_that_was_forgotten(
    memory: Memory,
    endless: Callable[[], Endless],
    wire: Wire,
    part: Callable[[list[Any]], list[Any]],
    what: str,
    headers: dict[str, str],
) -> None:
    items: list[Any] = []
    for number in range(4):
        items.append(user(f"The code of the door number {number} is 4417{number}."))
        say(begin(endless(), wire, items, headers), f"I noted that the code of {number} is 4417{number}.")
        items.append(assistant(f"I noted that the code of {number} is 4417{number}."))
    own = memory.beside(headers.get("x-recollect-namespace", "apart"))
    (row,) = own.conversations()
    gone = [row.conversation.id] if what == "conversation" else [m.id for m in own.latest(row.conversation.id, 99)]
    own.forget(*([] if what == "everything" else gone), everything=what == "everything")
    for number in range(2):
        sent = [*part(items), user(f"What of the lighthouse in Faro {number}?")]
        say(begin(endless(), wire, sent, headers), f"It is {number} metres high.", name=f"r{number}")
        items += [sent[-1], assistant(f"It is {number} metres high.")]
    stored = everything(own)
    assert not [text for text in stored if "4417" in text]
    assert {one["content"] for one in items[-4:]} <= set(stored)
    assert own.upkeep.check() == []


@pytest.mark.parametrize("headers", [SCOPE, NAMED], ids=["unnamed", "named"])
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("what", ["forget", "delete"])
@WIRES
def test_a_question_whose_answer_was_forgotten_is_not_stored_again(
    memory: Memory,
    endless: Callable[[], Endless],
    wire: Wire,
    what: str,
    part: Callable[[list[Any]], list[Any]],
    headers: dict[str, str],
) -> None:
    items: list[Any] = []
    for number in range(8):
        items.append(user(f"What of the lighthouse in Faro {number}?"))
        sent = [*part(items[:-1]), items[-1]] if number > 3 else items
        say(begin(endless(), wire, sent, headers), f"It is {number}0 metres high, I think.", name=f"r{number}")
        items.append(assistant(f"It is {number}0 metres high, I think."))
        own = memory.beside("default")
        if number == 5:
            getattr(own, what)(own.latest(own.conversations()[0].conversation.id, 1)[0].id)
    stored = [m.content for row in own.conversations() for m in own.conversation(row.conversation.id).messages]
    assert Counter(text for text in stored if text.startswith("What")) == Counter(
        items[n]["content"] for n in range(0, 16, 2)
    )


@pytest.mark.parametrize("headers", [SCOPE, NAMED, {"authorization": "sk-1"}], ids=["unnamed", "named", "apart"])
@pytest.mark.parametrize("gone", [0, 2])
@WIRES
def test_a_short_answer_that_was_forgotten_alone_stays_away(
    memory: Memory, endless: Callable[[], Endless], wire: Wire, gone: int, headers: dict[str, str]
) -> None:
    own = memory.beside(headers.get("x-recollect-namespace", "apart"))
    items: list[Any] = []
    for number in range(4):
        items.append(user(f"Hi {number}"))
        say(begin(endless(), wire, items, headers), f"Hello {number}", name=f"r{number}")
        items.append(assistant(f"Hello {number}"))
        if number == gone:
            own.forget(own.latest(own.conversations()[0].conversation.id, 1)[0].id)
    assert len(own.conversations()) == 1
    assert list(filter(None, everything(own))) == [one["content"] for n, one in enumerate(items) if n != 2 * gone + 1]
