"""What requests are given gathers: two requests in a row begin alike, seldom less, and what answers is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.gateway.blocks import Blocks
from recollect.gateway.exchange import Endless
from recollect.gateway.wires import COMPLETIONS
from recollect.memory import Memory

_CITIES = ("Lisbon", "Oslo", "Lyon", "Gdansk", "Turin", "Cork", "Graz", "Bergen", "Ghent", "Porto", "Bari", "Brno")
_THINGS = ("harbour", "library", "bakery", "tram", "garden", "museum", "market", "bridge", "theatre", "station")
_PLACES = [(city, thing) for city in _CITIES for thing in _THINGS]
_MORE = "We walked there slowly after lunch and talked about it for a while, since nobody was in a hurry that day."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A hundred and twenty messages of earlier, each of which answers one question."""
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        for city in _CITIES:
            said = [{"content": answer(place)} for place in _PLACES if place[0] == city]
            memory.store_messages(said, conversation_id=city, title=f"A week in {city}")
        yield memory


def answer(place: tuple[str, str]) -> str:
    city, thing = place
    return f"The {thing} of {city} opens at {7 + len(thing) % 5}:{10 + _PLACES.index(place) % 50}. {_MORE}"


class Client:
    """Sends all that was said, each time."""

    def __init__(self, endless: Endless) -> None:
        self.endless, self.sent = endless, list[list[dict[str, Any]]]()
        self.talk: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]

    def ask(self, question: str, budget: int = 600) -> str:
        """The whole request as it is sent on."""
        self.talk.append({"role": "user", "content": question})
        body = {"model": "m", "messages": list(self.talk)}
        exchange = self.endless.begin(
            COMPLETIONS, body, {"x-recollect-budget": str(budget)}, address="default", upstream="u"
        )
        assert not exchange.degraded
        self.sent.append(list(exchange.body["messages"]))
        said = {"role": "assistant", "content": f"So it is, number {len(self.sent)}."}
        exchange.hear_whole({"id": "c", "model": "m", "choices": [{"message": said, "finish_reason": "stop"}]})
        exchange.keep()
        self.talk.append(said)
        return "\n".join(message["content"] for message in self.sent[-1])

    @property
    def cuts(self) -> list[int]:
        """The requests that do not begin with the whole of the one before."""
        pairs = zip(self.sent, self.sent[1:], strict=False)
        return [n for n, (before, after) in enumerate(pairs, 1) if after[: len(before)] != before]


def question(place: tuple[str, str]) -> str:
    return f"Do you still know at which hour of the day the {place[1]} of {place[0]} opens?"


def test_two_requests_in_a_row_begin_alike_all_but_once_in_many_turns(memory: Memory) -> None:
    """F5: from the 25th turn on the provider's cache was lost at every turn."""
    client = Client(Endless(lambda _: memory))
    asked = [_PLACES[(37 * number) % len(_PLACES)] for number in range(60)]
    found = [answer(place) in client.ask(question(place), budget=1_000) for place in asked]
    assert sum(found) >= 0.9 * len(asked)
    assert 1 <= len(client.cuts) <= len(asked) / 20  # what is told is bounded, so that it has to go now and then


def test_what_was_dropped_stays_dropped(memory: Memory) -> None:
    client = Client(Endless(lambda _: memory))
    while not client.cuts:
        client.ask(question(_PLACES[(37 * len(client.sent)) % len(_PLACES)]), budget=1_000)
        assert len(client.sent) < 80
    at = client.cuts[0]
    plain = {message["content"] for message in client.talk}
    assert [message["content"] in plain for message in client.sent[at]] == [*[True] * (2 * at + 1), False]
    for number in range(5):
        client.ask(question(_PLACES[number]), budget=1_000)
    assert client.cuts == [at]


def test_what_stands_there_is_not_told_again(memory: Memory) -> None:
    client = Client(Endless(lambda _: memory))
    place = _PLACES[0]
    for words in (question(place), "And on which day was that?", f"So the {place[1]} of {place[0]} is open then?"):
        assert client.ask(words, budget=1_000).count(answer(place)) == 1
    assert not client.cuts


def test_what_a_talk_was_given_lasts_as_long_as_it_goes_on(memory: Memory) -> None:
    """Once each block went an hour after it was made: in a long talk, at every turn another one."""
    now = [0.0]
    client = Client(Endless(lambda _: memory, blocks=Blocks(clock=lambda: now[0])))
    for number in range(12):
        assert answer(_PLACES[number]) in client.ask(question(_PLACES[number]), budget=1_000)
        now[0] += 600
    assert not client.cuts
    now[0] += 3_600  # by now the provider has nothing of it
    client.ask(question(_PLACES[-1]), budget=1_000)
    assert client.cuts == [12]


def test_the_next_step_of_a_tool_is_given_the_same(memory: Memory) -> None:
    client = Client(Endless(lambda _: memory))
    for number in range(25):
        client.ask(question(_PLACES[(37 * number) % len(_PLACES)]), budget=1_000)
        body = {"model": "m", "messages": [*client.talk[:-1], *_STEP]}
        step = client.endless.begin(COMPLETIONS, body, {"x-recollect-budget": "1000"}, address="default", upstream="u")
        assert step.body["messages"] == [*client.sent[-1], *_STEP]


_STEP: list[dict[str, Any]] = [
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "Nothing there."},
]
