"""Attacks on histories: clients that shorten them in any way, and what was forgotten at any moment of a loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.gateway.exchange import Endless
from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire
from recollect.memory import Memory
from tests.gateway.test_loops import assistant, begin, everything, say, step, talks, user

pytestmark = pytest.mark.long

WIRES = pytest.mark.parametrize("wire", [COMPLETIONS, MESSAGES, RESPONSES], ids=lambda wire: wire.path)
RESTARTS = pytest.mark.parametrize("restarts", [False, True], ids=["on", "restarted"])
SCOPES = {
    "namespace": {"x-recollect-namespace": "acme"},
    "named": {"x-recollect-namespace": "acme", "x-recollect-conversation": "main"},
    "apart": {"authorization": "sk-1"},
}
KEPT: dict[str, Callable[[list[Any]], list[Any]]] = {
    "first two": lambda items: items if len(items) < 8 else [*items[:2], *items[-5:]],
    "first": lambda items: items if len(items) < 8 else [items[0], *items[-6:]],
    "first four": lambda items: items if len(items) < 10 else [*items[:4], *items[-3:]],
    "last five": lambda items: items[-5:],
    "last three": lambda items: items[-3:],
    "from an answer": lambda items: items[-4:],
    "a summary": lambda items: items if len(items) < 8 else [user(f"Summary of {len(items)}."), *items[-5:]],
    "an acknowledged summary": lambda items: (
        items if len(items) < 8 else [user(f"Summary of {len(items)}."), assistant("Understood."), *items[-5:]]
    ),
    "every other": lambda items: [one for n, one in enumerate(items) if n // 2 % 2 == 0 or n > len(items) - 4],
    "no old answers": lambda items: [one for n, one in enumerate(items) if n % 2 == 0 or n > len(items) - 5],
    "placeholders": lambda items: [
        one if n > len(items) - 6 else {**one, "content": "[omitted]"} for n, one in enumerate(items)
    ],
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with recollect.open(tmp_path / "memory.db", background=False, durable=False) as memory:
        yield memory


@RESTARTS
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("kept", KEPT)
@WIRES
def test_whatever_a_client_keeps_of_a_history_it_is_stored_once(
    memory: Memory, wire: Wire, kept: str, scope: str, restarts: bool
) -> None:
    endless, items = Endless(memory.beside), list[Any]()
    for number in range(12):
        items.append(user(f"What about the harbour {number} in Porto?"))
        endless = Endless(memory.beside) if restarts else endless
        say(begin(endless, wire, KEPT[kept](items), SCOPES[scope]), f"It has {number} boats.", name=f"r{number}")
        items.append(assistant(f"It has {number} boats."))
    own, said = memory.beside("apart" if scope == "apart" else "acme"), [one["content"] for one in items]
    assert [text for talk in talks(own) for text in talk if text in said] == said
    counted = Counter(everything(own))
    assert {counted[text] for text in said} == {1}
    assert own.upkeep.check() == []


def _gone(own: Memory, what: str) -> None:
    if what == "everything":
        own.forget(everything=True)
        return
    conversation = own.conversations()[0].conversation.id
    question = [message.id for message in own.latest(conversation, 99) if message.role.value == "user"][-1]
    name = conversation if what.endswith("conversation") else question
    if what.startswith("deleted"):
        own.delete(name)
    else:
        own.forget(name)


@RESTARTS
@pytest.mark.parametrize("what", ["conversation", "question", "everything", "deleted conversation", "deleted question"])
@pytest.mark.parametrize("when", ["in the first step", "between", "in the second step", "afterwards"])
@pytest.mark.parametrize("earlier", [False, True], ids=["first", "later"])
@pytest.mark.parametrize("scope", ["namespace", "named"])
@WIRES
def test_whatever_is_forgotten_in_a_loop_the_talk_goes_on(
    memory: Memory, wire: Wire, scope: str, earlier: bool, when: str, what: str, restarts: bool
) -> None:
    endless, own, items = Endless(memory.beside), memory.beside("acme"), list[Any]()

    def ask(new: list[Any], answer: str, calls: tuple[tuple[str, str], ...] = (), moment: str = "") -> None:
        nonlocal endless
        items.extend(new)
        endless = Endless(memory.beside) if restarts else endless
        exchange = begin(endless, wire, items, SCOPES[scope])
        if moment == when and own.conversations():
            _gone(own, what)
        say(exchange, answer, calls, name=f"r{len(items)}")
        if answer:
            items.append(assistant(answer))

    if earlier:
        ask([user("Earlier words")], "Earlier answer.")
    ask([user("What is the code?")], "", (("c0", "{}"),), "in the first step")
    if when == "between":
        _gone(own, what)
    ask(step(wire, "c0", "{}", "It is 4417"), "Found it.", (), "in the second step")
    if when == "afterwards":
        _gone(own, what)
    for number in (2, 3):
        ask([user(f"Question {number} of the talk")], f"Answer {number}.")
    stored = Counter(everything(own))
    asked = [text for number in (2, 3) for text in (f"Question {number} of the talk", f"Answer {number}.")]
    assert [stored[text] for text in asked] == [1] * 4
    assert own.upkeep.check() == []
