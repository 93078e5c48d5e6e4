"""A model that comes late is asked about what rules made before, once, and never about the same again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from recollect.derive.tasks import queue
from recollect.derive.worker import Worker
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.models.language.prompts import prompt
from recollect.record import Node, NodeKind
from recollect.store import Change, Mark, Store, Where
from tests.derive.test_isolation import Echo
from tests.derive.workshop import write
from tests.store.builders import DEFAULT, Clock, embedder, talk


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    opened = SQLiteStore(tmp_path / "memory.db", durable=False, clock=clock)
    yield opened
    opened.close()


def work(store: Store, clock: Clock, model: Any = None) -> None:
    for _ in range(5):
        Worker(store, embedder(), model=lambda _: model, clock=clock, random=Random(1)).drain()
        clock.forward(days=10)


def extracts(store: Store) -> Counter[bool]:
    with store.space(DEFAULT).view() as view:
        where = Where(kinds=(NodeKind.SUMMARY,), states=("live",), deleted=False)
        found = view.find(Node, where, limit=10_000).items
    return Counter(bool(node.body["extractive"]) for node in found)


def lines(name: str) -> list[str]:
    return [f"In {name} I said {n} things about my dog and the weather." for n in range(24)]


def test_what_rules_made_is_asked_about_when_a_model_is_set(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), talk("a", *lines("a")), talk("b", *lines("b")))
    work(store, clock)
    assert extracts(store)[True] > 3
    assert extracts(store)[False] == 0
    echo = Echo()
    work(store, clock, echo)
    assert extracts(store)[True] == 0
    kinds = {request.prompt.name for request in echo.asked}
    assert kinds >= {"l1", "conversation", "facts"}
    asked = len(echo.asked)
    work(store, clock, echo)
    assert len(echo.asked) == asked


def test_times_without_a_model_are_caught_up_without_asking_the_same_again(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), talk("a", *lines("a")))
    echo = Echo()
    work(store, clock, echo)
    before = list(echo.asked)
    write(store.space(DEFAULT), talk("b", *lines("b")))
    work(store, clock)
    assert len(echo.asked) == len(before)
    work(store, clock, echo)
    later = echo.asked[len(before) :]
    assert {request.prompt.name for request in later} >= {"l1", "conversation", "facts"}
    of_runs = [request for request in later if request.prompt in (prompt("l1"), prompt("facts"))]
    assert not {request.text for request in of_runs} & {request.text for request in before}
    assert extracts(store)[True] == 0


def test_topics_that_were_summed_up_without_a_model_are_asked_about_when_it_is_there_again(
    store: Store, clock: Clock
) -> None:
    echo = Echo()
    write(store.space(DEFAULT), talk("a", "Where is the belfry?"))
    Worker(store, embedder(), model=lambda _: echo, clock=clock, random=Random(1)).drain()
    short = [talk(f"s{n}", f"The sourdough of day {n} rose, and I baked the bread at 240 degrees.") for n in range(4)]
    write(store.space(DEFAULT), *short)
    Worker(store, embedder(), clock=clock, random=Random(1)).drain()
    assert extracts(store) == {True: 1}  # days are summed up when they are over
    Worker(store, embedder(), model=lambda _: echo, clock=clock, random=Random(1)).drain()
    assert extracts(store) == {False: 1}


def test_hiding_a_message_in_the_middle_asks_again_about_what_it_touches_alone(store: Store, clock: Clock) -> None:
    said = talk("long", *(f"On day {n} my dog Milo ate {n} plums and I ran {n} miles." for n in range(400)))
    write(store.space(DEFAULT), said)
    first = Echo()
    work(store, clock, first)
    store.space(DEFAULT).write(Change(mark=[Mark(ids=[said.messages[200].id], deleted=True)]))
    again = Echo()
    with store.space(DEFAULT).view() as view:
        number = view.revisions([said.conversation.id])[said.conversation.id].number
    store.space(DEFAULT).write(Change(expect={said.conversation.id: number}, tasks=queue.due([said.conversation.id])))
    work(store, clock, again)
    assert 0 < len(again.asked) <= 12
