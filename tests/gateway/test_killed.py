"""A proxy that is killed while it stores an answer, and a client that asks again without a word about it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from recollect.engines.sqlite.engine import SQLiteSpace
from recollect.gateway.exchange import Endless
from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire
from recollect.memory import Memory
from tests.gateway.test_loops import SCOPE, begin, called, say, step, user
from tests.test_upgrade import Killed, kill_at

CALLS = (("c1", '{"in": "Porto"}'), ("c2", "{}"))


def stored(memory: Memory) -> list[tuple[list[str], int]]:
    """The words of each conversation, and how many calls it has."""
    threads = [memory.conversation(row.conversation.id) for row in memory.conversations()]
    return [([m.content for m in one.messages if m.content], len(one.tool_calls)) for one in threads]


@pytest.mark.parametrize("before", [False, True], ids=["first", "behind a result"])
@pytest.mark.parametrize("named", [False, True], ids=["unnamed", "named"])
@pytest.mark.parametrize("wire", [COMPLETIONS, MESSAGES, RESPONSES], ids=lambda wire: wire.path)
def test_words_and_their_calls_are_stored_together_whenever_it_is_killed(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, wire: Wire, named: bool, before: bool
) -> None:
    whole = None
    for last in range(12, 0, -1):  # the last of them are not reached: nothing is killed, and that is the measure
        headers = {**SCOPE, "x-recollect-namespace": f"n{last}"} | ({"x-recollect-conversation": "c"} if named else {})
        space = memory.beside(f"n{last}")
        items: list[Any] = [user("Does it rain?")]
        if before:
            say(begin(Endless(memory.beside), wire, items, headers), calls=(("c0", "{}"),))
            items += step(wire, "c0", "{}", "Rain")
        exchange = begin(Endless(memory.beside), wire, items, headers)
        with monkeypatch.context() as patch:
            died = kill_at(patch, SQLiteSpace, last)
            with suppress(Killed):
                say(exchange, "I look.", calls=CALLS)
            patch.undo()
        (found,) = stored(space) or [([], 0)]
        assert ("I look." in found[0]) == (found[1] == len(CALLS) + before)
        if died():
            say(begin(Endless(memory.beside), wire, items, headers), "I look.", calls=CALLS)
        whole = whole or stored(space)
        assert stored(space) == whole
        assert len(called(space)) == len(CALLS) + before
        assert space.upkeep.check() == []
    assert died()
