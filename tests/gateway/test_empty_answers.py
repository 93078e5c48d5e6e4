"""An answer without a word is one that nobody got: whoever goes on, or asks again, is in the same talk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from recollect.gateway.exchange import Endless, ProxiedExchange
from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire
from recollect.memory import Memory
from tests.gateway.test_loops import SCOPE, assistant, begin, everything, say, talks, user

WIRES = pytest.mark.parametrize("wire", [COMPLETIONS, MESSAGES, RESPONSES], ids=lambda wire: wire.path)
WHOSE = pytest.mark.parametrize(
    "headers",
    [SCOPE, {"authorization": "sk-1"}, {**SCOPE, "x-recollect-conversation": "c"}],
    ids=["unnamed", "apart", "named"],
)


def empty(exchange: ProxiedExchange) -> None:
    say(exchange, "")


def died(exchange: ProxiedExchange) -> None:
    """The stream broke off before its first word."""
    exchange.keep()


NOTHING = pytest.mark.parametrize("nothing", [empty, died])


def kept(memory: Memory, exchange: ProxiedExchange) -> Memory:
    return memory.beside(exchange.asked.namespace)


@NOTHING
@WHOSE
@WIRES
def test_a_question_that_is_asked_again_is_stored_once(
    memory: Memory,
    endless: Callable[[], Endless],
    wire: Wire,
    headers: dict[str, str],
    nothing: Callable[[ProxiedExchange], None],
) -> None:
    nothing(begin(endless(), wire, [user("Does it rain?")], headers))
    again = begin(endless(), wire, [user("Does it rain?")], headers)
    say(again, "It rains.")
    items = [user("Does it rain?"), assistant("It rains."), user("Thanks.")]
    say(begin(endless(), wire, items, headers), "Welcome.")
    assert talks(kept(memory, again)) == [["Does it rain?", "It rains.", "Thanks.", "Welcome."]]
    assert everything(kept(memory, again)).count("Does it rain?") == 1


@pytest.mark.parametrize("sends", ["empty", "left out"])
@NOTHING
@WHOSE
@WIRES
def test_who_goes_on_is_in_the_same_talk(
    memory: Memory,
    endless: Callable[[], Endless],
    wire: Wire,
    headers: dict[str, str],
    nothing: Callable[[ProxiedExchange], None],
    sends: str,
) -> None:
    nothing(begin(endless(), wire, [user("Does it rain?")], headers))
    items: list[Any] = [user("Does it rain?"), *([assistant("")] if sends == "empty" else []), user("Well?")]
    further = begin(endless(), wire, items, headers)
    say(further, "It rains.")
    assert talks(kept(memory, further)) == [["Does it rain?", "Well?", "It rains."]]
    items += [assistant("It rains."), user("Thanks.")]
    say(begin(endless(), wire, items, headers), "Welcome.")
    assert everything(kept(memory, further)) == ["Does it rain?", "Well?", "It rains.", "Thanks.", "Welcome."]


@WIRES
@pytest.mark.parametrize("restarts", [False, True])
def test_the_same_question_twice_after_an_answer_is_two_talks(memory: Memory, wire: Wire, restarts: bool) -> None:
    one = Endless(memory.beside)
    for text in ("", "It rains.", "It does."):
        say(begin(Endless(memory.beside) if restarts else one, wire, [user("Does it rain?")]), text)
    assert talks(memory) == [["Does it rain?", "It rains."], ["Does it rain?", "It does."]]


@WIRES
def test_an_empty_answer_further_on_adds_no_question(
    memory: Memory, endless: Callable[[], Endless], wire: Wire
) -> None:
    items: list[Any] = [user("Hello")]
    say(begin(endless(), wire, items), "Hello!")
    items += [assistant("Hello!"), user("Does it rain?")]
    for text in ("", "", "It rains."):
        say(begin(endless(), wire, items), text)
    items += [assistant("It rains."), user("Thanks.")]
    say(begin(endless(), wire, items), "Welcome.")
    assert everything(memory) == ["Hello", "Hello!", "Does it rain?", "It rains.", "Thanks.", "Welcome."]
