"""Settling: pure, and the same whatever the order of conversations and the portions that they came in."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect.derive.facts.claim import Claim, Polarity, Provenance
from recollect.derive.facts.settle import settle
from recollect.derive.tasks.queue import enrol
from recollect.memory import Memory
from recollect.record import Node, NodeId
from recollect.store.transfer import every
from tests.derive.facts.conftest import drain
from tests.properties import examples

_START = datetime(2025, 1, 1, tzinfo=UTC)
SENTENCES = (
    "I live in York.", "We moved to Leeds in January.", "I no longer live in Leeds.", "I moved to Bath.",
    "I'm allergic to nuts.", "I own a small sailboat.", "I sold my sailboat.", "I love jazz.", "I hate jazz.",
    "I'm vegan.", "I'm not vegan anymore.", "My dog is called Rex.", "Rex is allergic to beef.", "What time is it?",
    "He is 4 years old.", "My favourite colour is red.", "My favourite colour is blue.", "Pretend I live in Rome.",
)  # fmt: skip


def claim(number: int, value: str, attribute: str = "home", polarity: Polarity = Polarity.IS, **more: Any) -> Claim:
    return Claim(
        entity="user",
        attribute=attribute,
        value=value,
        content=f"{attribute} {value}",
        message_id=NodeId(f"m{number}"),
        start=0,
        end=4,
        quote="said",
        said_by="user",
        said_at=_START + timedelta(days=number),
        polarity=polarity,
        **more,
    )


CLAIMS = st.builds(
    claim,
    st.integers(0, 12),
    st.sampled_from(["York", "Leeds", "Bath"]),
    st.just("home"),
    st.sampled_from([Polarity.IS, Polarity.IS, Polarity.ENDED]),
    since=st.none() | st.integers(-30, 12).map(lambda days: _START + timedelta(days=days)),
    until=st.none() | st.integers(-30, 30).map(lambda days: _START + timedelta(days=days)),
    event=st.booleans(),
    before=st.sampled_from(["", "", "York", "Leeds"]),
    corrects=st.sampled_from(["", "", "", "Bath"]),
    turn=st.sampled_from([0, 0, 0, 1, 2.5]),
    provenance=st.sampled_from(list(Provenance)),
    said_by_assistant=st.booleans(),
)


@given(st.lists(CLAIMS, max_size=10), st.randoms(use_true_random=False))
def test_the_order_in_which_claims_come_does_not_matter(claims: list[Claim], mixed: random.Random) -> None:
    other = list(claims)
    mixed.shuffle(other)
    assert outline(claims) == outline(other)


@given(st.lists(CLAIMS, max_size=10))
def test_one_home_at_a_time(claims: list[Claim]) -> None:
    facts = settle(claims)
    assert sum(fact.is_open for fact in facts) <= 1
    assert all(f.valid_from is None or f.valid_to is None or f.valid_from <= f.valid_to for f in facts if f.replaces)
    assert {c.message_id for fact in facts for c in fact.claims} <= {c.message_id for c in claims}


def outline(claims: Sequence[Claim]) -> list[object]:
    return [
        (f.first.value, f.run, f.valid_from, f.valid_to, f.known_to, f.replaces and f.replaces.first.value)
        for f in settle(claims)
    ]


def test_what_was_told_of_an_earlier_time_replaces_nothing() -> None:
    now = claim(1, "Leeds", since=_START)
    earlier = claim(2, "York", since=_START - timedelta(days=900), event=True)
    york, leeds = settle([now, earlier])
    assert (leeds.is_open, york.valid_to, york.valid_from) == (True, _START, _START - timedelta(days=900))


def test_a_guess_of_an_assistant_never_outranks_the_user() -> None:
    said, guessed = claim(1, "York"), claim(2, "Leeds", said_by_assistant=True)
    assert [fact.first.value for fact in settle([said, guessed])] == ["York"]
    assert [fact.first.value for fact in settle([guessed])] == ["Leeds"]


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from(SENTENCES)), min_size=1, max_size=12),
    st.randoms(use_true_random=False),
    st.data(),
)
def test_conversations_in_any_order_and_in_any_portions_give_the_same_facts(
    tmp_path_factory: Any, said: list[tuple[str, str]], mixed: random.Random, data: st.DataObject
) -> None:
    folder: Path = tmp_path_factory.mktemp("m")
    at_once, in_portions = open_memory(folder / "one.db"), open_memory(folder / "two.db")
    for number, (conversation, text) in enumerate(said):
        write(at_once, conversation, text, number)
    drain(at_once)
    by_conversation: dict[str, list[tuple[int, str]]] = {}
    for number, (conversation, text) in enumerate(said):
        by_conversation.setdefault(conversation, []).append((number, text))
    order = list(by_conversation)
    mixed.shuffle(order)
    for conversation in order:
        for number, text in by_conversation[conversation]:
            write(in_portions, conversation, text, number)
            if mixed.random() < 0.5:
                drain(in_portions)
    drain(in_portions)
    assert facts_in(in_portions) == facts_in(at_once)
    gone = data.draw(st.sampled_from(range(len(said))))
    for memory in (at_once, in_portions):
        memory.delete(f"m{gone}")
        drain(memory)
    rest = open_memory(folder / "three.db")
    for number, (conversation, text) in enumerate(said):
        if number != gone:
            write(rest, conversation, text, number)
    drain(rest)
    assert facts_in(in_portions) == facts_in(at_once)
    values = [(node.text, node.state, node.valid_from, node.valid_to) for node, _ in facts_in(rest)]
    assert values == [(node.text, node.state, node.valid_from, node.valid_to) for node, _ in facts_in(at_once)]
    enrol(at_once.handle.space, again=True)
    drain(at_once)
    assert facts_in(in_portions) == facts_in(at_once)


def open_memory(path: Path) -> Memory:
    return recollect.open(path, durable=False)


def write(memory: Memory, conversation: str, text: str, number: int) -> None:
    at = _START + timedelta(days=number)
    memory.store_message(text, conversation_id=conversation, timestamp=at, id=f"m{number}")


def facts_in(memory: Memory) -> list[tuple[Node, list[tuple[str, str]]]]:
    with memory.handle.space.view() as view:
        nodes = [node for node in every(view, Node) if node.kind == "fact" and node.text]
        return [
            (node, [(edge.type, edge.target_id) for edge in view.edges([node.id])])
            for node in sorted(nodes, key=lambda n: n.id)
        ]
