"""What was deleted softly stays away when a client tells it again, and what is said anew is kept."""

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
PARTS: dict[str, Callable[[list[Any]], list[Any]]] = {
    "all": lambda items: items,
    "the newest": lambda items: items[-5:],
    "the newest from a question": lambda items: items[-4:],
    "the last exchange": lambda items: items[-2:],
    "a summary and the newest": lambda items: [user("Summary: of codes."), *items[-4:]],
    "the first and the newest": lambda items: [*items[:2], *items[-3:]],
}
GONE: dict[str, Callable[[list[Any]], list[Any]]] = {
    "the last exchange": lambda ids: ids[-2:],
    "the last question": lambda ids: ids[-2:-1],
    "two exchanges": lambda ids: ids[-4:],
    "one in the middle": lambda ids: ids[-4:-2],
    "all messages": lambda ids: ids,
    "conversation": lambda ids: ids,
}


@pytest.mark.parametrize("headers", [SCOPE, NAMED, {"authorization": "sk-1"}], ids=["unnamed", "named", "apart"])
@pytest.mark.parametrize("gone", GONE)
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_a_history_brings_back_nothing_that_was_deleted(
    memory: Memory,
    endless: Callable[[], Endless],
    part: Callable[[list[Any]], list[Any]],
    gone: str,
    headers: dict[str, str],
) -> None:
    items: list[Any] = []
    for number in range(4):
        items.append(user(f"The code of the door number {number} is 4417{number}."))
        say(begin(endless(), COMPLETIONS, items, headers), f"I noted that the code of {number} is 4417{number}.")
        items.append(assistant(f"I noted that the code of {number} is 4417{number}."))
    own = memory.beside(headers.get("x-recollect-namespace", "apart"))
    (row,) = own.conversations()
    path = own.latest(row.conversation.id, 99)
    for one in [row.conversation] if gone == "conversation" else GONE[gone](path):
        own.delete(one.id)
    stays = [one.content for one in path if one not in GONE[gone](path)]
    for number in range(3):
        sent = [*part(items), user(f"What of the lighthouse in Faro {number}?")]
        say(begin(endless(), COMPLETIONS, sent, headers), f"It is {number} metres high.", name=f"r{number}")
        items += [sent[-1], assistant(f"It is {number} metres high.")]
    messages = [m for row in own.conversations() for m in own.conversation(row.conversation.id).messages]
    told = [m.content for m in messages if not m.deleted and not m.content.startswith("Summary")]
    assert sorted(told) == sorted([*stays, *(one["content"] for one in items[-6:])])
    assert own.upkeep.check() == []


@pytest.mark.parametrize("headers", [SCOPE, NAMED], ids=["unnamed", "named"])
@pytest.mark.parametrize("what", ["delete", "forget"])
@pytest.mark.parametrize("begins", ["all", "all but what was deleted", "the last exchange", "the newest"])
@WIRES
def test_what_was_deleted_can_be_said_anew(
    memory: Memory, endless: Callable[[], Endless], wire: Wire, begins: str, what: str, headers: dict[str, str]
) -> None:
    items: list[Any] = []
    for number in range(4):
        items.append(user(f"The code of the door number {number} is 4417{number}."))
        say(begin(endless(), wire, items, headers), f"I noted that the code of {number} is 4417{number}.")
        items.append(assistant(f"I noted that the code of {number} is 4417{number}."))
    own = memory.beside("default")
    (row,) = own.conversations()
    for one in own.latest(row.conversation.id, 2):
        getattr(own, what)(one.id)
    again = items[-2]["content"]
    if begins == "all but what was deleted":
        del items[-2:]
    for number, asked in enumerate((again, "And now?")):
        sent = [*PARTS.get(begins, PARTS["all"])(items), user(asked)]
        say(begin(endless(), wire, sent, headers), f"It is {number} metres high.", name=f"r{number}")
        items += [sent[-1], assistant(f"It is {number} metres high.")]
    row = own.conversations()[0]  # of what was forgotten nothing is left to go on from
    told = [m.content for m in own.latest(row.conversation.id, 99)]
    assert told[-4:] == [one["content"] for one in items[-4:]]
    assert sum(row.messages for row in own.conversations()) == 10
    assert own.upkeep.check() == []


@pytest.mark.parametrize("gone", [slice(-2, None), slice(-4, -2)], ids=["the newest", "the one before"])
@WIRES
def test_a_summary_goes_on_beside_an_exchange_that_was_forgotten(
    memory: Memory, endless: Callable[[], Endless], wire: Wire, gone: slice
) -> None:
    """Of a summary and two exchanges one is left to be known by: that is no other talk, whose messages are new."""
    items: list[Any] = []
    for number in range(4):
        items.append(user(f"The code of the door number {number} is 4417{number}."))
        say(
            begin(endless(), wire, items, SCOPE),
            f"I noted that the code of {number} is 4417{number}.",
            name=f"a{number}",
        )
        items.append(assistant(f"I noted that the code of {number} is 4417{number}."))
    own = memory.beside("default")
    (row,) = own.conversations()
    path = own.latest(row.conversation.id, 99)
    own.forget(*(one.id for one in path[gone]))
    stays = [one.content for one in path if one not in path[gone]]
    sent = [user("Summary: of codes."), assistant("Understood."), *items[-4:], user("And now?")]
    say(begin(endless(), wire, sent, SCOPE), "It is 9 metres high.", name="z")
    (row,) = own.conversations()
    told = [m.content for m in own.latest(row.conversation.id, 99)]
    assert told == [*stays, "And now?", "It is 9 metres high."]


@WIRES
def test_a_first_answer_that_was_forgotten_begins_no_other_talk(
    memory: Memory, endless: Callable[[], Endless], wire: Wire
) -> None:
    """Of the first exchange the question is left: the calls that would prove it went with the answer."""
    items: list[Any] = [user("What of the lighthouse in Faro?")]
    say(begin(endless(), wire, items), calls=(("c1", "{}"),), name="a1")
    items += step(wire, "c1", "{}", "It is 26 metres high.")
    say(begin(endless(), wire, items), "It is 26 metres high, says the list.", name="a2")
    items += [assistant("It is 26 metres high, says the list."), user("And in Lagos?")]
    own = memory.beside("default")
    (row,) = own.conversations()
    own.forget(own.latest(row.conversation.id, 1)[0].id)
    say(begin(endless(), wire, items), "That one is lower.", name="a3")
    (told,) = talks(own)
    assert (told[0], told[-2:]) == ("What of the lighthouse in Faro?", ["And in Lagos?", "That one is lower."])
