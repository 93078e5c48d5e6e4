"""What was forgotten stays away however a client tells it again, and the talk goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from recollect.gateway.exchange import Endless
from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire
from recollect.memory import Memory
from tests.gateway.test_loops import SCOPE, assistant, begin, say, step, talks, user

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
    assert own.check() == []
