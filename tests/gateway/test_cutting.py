"""Requests that are cut: valid by the rules of each vendor, within the limit, and seldom cut anew."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.gateway.fitting import ContextWindow, cost_of, fit
from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire
from tests.gateway.talking import Turn, body_of, check

WIRES = [COMPLETIONS, RESPONSES, MESSAGES]
SIZES = st.integers(1, 60)
TURNS = st.lists(
    st.builds(
        Turn,
        question=SIZES,
        steps=st.lists(st.tuples(SIZES, st.integers(1, 3), SIZES, st.booleans()), max_size=6),
        answer=SIZES,
        steers=st.booleans(),
    ),
    min_size=1,
    max_size=14,
)


def kept(wire: Wire, body: Mapping[str, Any]) -> list[Any]:
    found = body[wire.items]
    assert isinstance(found, list)
    return found


def cut_to(wire: Wire, body: Mapping[str, Any], tokens: int) -> Mapping[str, Any]:
    return fit(wire, body, wire.read(body), ContextWindow(tokens, 1.0), 0).rest(wire, body)


@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=60)
@given(turns=TURNS, window=st.integers(100, 3_000), is_answered=st.booleans())
def test_a_cut_request_is_valid_and_short(wire: Wire, turns: list[Turn], window: int, is_answered: bool) -> None:
    body = body_of(wire, turns, is_answered=is_answered)
    shorter = cut_to(wire, body, window)
    check(wire, kept(wire, shorter))
    assert {key: value for key, value in shorter.items() if key != wire.items} == {
        key: value for key, value in body.items() if key != wire.items
    }
    before, after = kept(wire, body), kept(wire, shorter)
    assert [item for item in before if item in after] == after  # in order, and nothing is reworded
    questions = [item for item in before if wire.read({wire.items: [item]}).said and _asks(wire, item)]
    assert questions[-1] in after
    assert before[-1] in after
    assert [item for item in before if wire.links(item).role == "system"] == [
        item for item in after if wire.links(item).role == "system"
    ]
    room = window - ContextWindow(window, 1.0).answer(body)
    least = cost_of(wire, cut_to(wire, body, 1))
    assert cost_of(wire, shorter) <= max(room, least)


@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=40)
@given(turns=TURNS, window=st.integers(300, 3_000))
def test_a_conversation_is_cut_from_its_beginning_on_and_in_steps(wire: Wire, turns: list[Turn], window: int) -> None:
    """What was left out once stays out, and what is left out changes seldom: so much must be said in between."""
    gone: frozenset[int] = frozenset()
    moves = 0
    whole = body_of(wire, turns, is_answered=True)
    items = kept(wire, whole)
    limit = ContextWindow(window, 1.0)
    for end in range(1, len(items) + 1):
        if wire.links(items[end - 1]).role not in ("user", "result") or (
            end < len(items) and wire.links(items[end]).role in ("user", "result")
        ):
            continue  # nobody would send that
        body = {**whole, wire.items: items[:end]}
        now = fit(wire, body, wire.read(body), limit, 0).gone
        assert gone <= now
        moves += now != gone
        gone = now
    # Where a single exchange is longer than a step, its end may be one more place to cut.
    assert moves <= cost_of(wire, whole) // limit.step + len(turns) + 1


def test_short_exchanges_go_whole_and_the_cut_stays_for_many_turns() -> None:
    turns = [Turn(question=20, steps=[], answer=20, steers=False) for _ in range(200)]
    whole = body_of(COMPLETIONS, turns, is_answered=True)
    items = whole["messages"]
    begins = []
    for end in range(2, len(items), 2):
        body = {**whole, "messages": items[:end]}
        begins.append(fit(COMPLETIONS, body, COMPLETIONS.read(body), ContextWindow(2_000, 1.0), 0).gone)
    assert all(len(gone) % 2 == 0 for gone in begins)
    changes = sum(one != other for one, other in pairwise(begins))
    assert changes <= 30  # of about 150 turns that are too long


def test_what_programs_say_behind_a_question_is_none() -> None:
    question = {"role": "user", "content": "What is the code of my locker?"}
    reminder = {"role": "user", "content": "<system-reminder>Todo list: empty</system-reminder>"}
    items = [*({"role": role, "content": "word " * 50} for role in ("user", "assistant") * 5), question]
    items += [{"role": "assistant", "content": "Let me see."}, reminder]
    shorter = cut_to(COMPLETIONS, {"model": "m", "messages": items}, 10)
    assert kept(COMPLETIONS, shorter) == [question, items[-2], reminder]


def test_only_what_a_program_says_is_sent_too() -> None:
    items = [{"role": "assistant", "content": "Hello."}, {"role": "assistant", "content": "word " * 500}]
    assert cut_to(COMPLETIONS, {"messages": items}, 10) == {"messages": items}
    assert cut_to(RESPONSES, {"input": "word " * 500}, 10) == {"input": "word " * 500}
    assert cut_to(MESSAGES, {"messages": []}, 10) == {"messages": []}
    assert cut_to(MESSAGES, {"messages": None}, 10) == {"messages": None}


def _asks(wire: Wire, item: Mapping[str, Any]) -> bool:
    return any(said.role == "user" and said.is_said for said in wire.read({wire.items: [item]}).said)
