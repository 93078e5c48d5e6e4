"""Facts by a model: asked once a run, only what is quoted word for word counts, and both kinds of claims are one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recollect.derive.tasks.queue import enrol
from recollect.derive.worker import Worker
from recollect.memory import Memory
from recollect.models.language.base import Completion, Request
from tests.derive.facts.conftest import contents
from tests.derive.facts.test_facts import everything, say

pytestmark = pytest.mark.slow

_THEN = datetime(2025, 1, 1, tzinfo=UTC)


class Scripted:
    """A model that finds in the request whatever of its claims is quoted there."""

    name = "scripted:1"

    def __init__(self, claims: Sequence[Mapping[str, Any]]) -> None:
        self.claims, self.asked = claims, 0

    def complete(self, request: Request) -> Completion:
        if request.prompt.name != "facts":
            return Completion(data=dict(request.prompt.example), model=self.name)
        self.asked += 1
        found = []
        number = 0
        for line in request.text.splitlines():
            if line.startswith("[") and line[1 : line.index("]")].isdigit():
                number = int(line[1 : line.index("]")])
            found += [{**c, "message": number} for c in self.claims if c["seen_at"] in line and line.startswith("| ")]
        return Completion(data={"claims": found}, model=self.name)


def claim(seen_at: str, quote: str, attribute: str, value: str, content: str, **more: str) -> dict[str, str]:
    plain = {"category": "semantic", "polarity": "is", "said_by": "", "since": "", "until": "", "entity": "user"}
    return (
        plain | {"seen_at": seen_at, "quote": quote, "attribute": attribute, "value": value, "content": content} | more
    )


CLAIMS = (
    claim("peanuts", "allergic to peanuts", "Allergies", "peanut", "The user has a peanut allergy."),
    claim("the old mill", "we took over the old mill", "home", "the old mill", "The user lives in the old mill.")
    | {"since": "2024-11"},
    claim("the old mill", "words that nobody said", "job", "miller", "The user is a miller."),
)  # fmt: skip


def drain(memory: Memory, model: Scripted) -> None:
    Worker(memory.handle.store, memory.handle.embedder, model=lambda _: model).drain([memory.namespace])


@pytest.fixture
def model() -> Scripted:
    return Scripted(CLAIMS)


def test_claims_of_rules_and_of_a_model_are_one_fact(memory: Memory, model: Scripted) -> None:
    first = say(memory, "I'm allergic to peanuts.", _THEN)
    second = say(memory, "Last autumn we took over the old mill, and nobody regrets it.", _THEN + timedelta(hours=1))
    drain(memory, model)
    assert contents(memory) == ["The user is allergic to peanuts.", "The user lives in the old mill."]
    by_value = {fact.value: fact for fact in memory.facts()}
    assert [proof.message_id for proof in by_value["peanuts"].proofs] == [first]
    mill = by_value["the old mill"]
    assert [(proof.message_id, proof.quote) for proof in mill.proofs] == [(second, "we took over the old mill")]
    assert mill.valid_from == datetime(2024, 11, 1, tzinfo=UTC)


def test_an_event_that_a_model_dates_is_evidence_of_its_time_alone(memory: Memory, model: Scripted) -> None:
    say(memory, "I live in York.", datetime(2024, 12, 24, tzinfo=UTC), "before")
    say(memory, "Last autumn we took over the old mill, and nobody regrets it.", _THEN)
    drain(memory, model)
    (home,) = memory.facts()
    assert (home.value, [older.value for older in home.history]) == ("York", ["the old mill"])


def test_a_run_is_asked_about_once(memory: Memory, model: Scripted) -> None:
    for number in range(45):
        say(memory, f"Number {number}: I'm allergic to peanuts.", _THEN + timedelta(minutes=number))
    drain(memory, model)
    asked = model.asked
    assert 2 <= asked <= 4  # runs of 12 to 28; where they end, the ids of the messages say
    enrol(memory.handle.space, again=True)
    drain(memory, model)
    assert model.asked == asked
    assert len(memory.facts()) == 1


def test_what_a_model_drew_goes_with_its_message(memory: Memory, model: Scripted) -> None:
    said = say(memory, "Last autumn we took over the old mill.", _THEN)
    say(memory, "It rains.", _THEN)
    drain(memory, model)
    assert contents(memory) == ["The user lives in the old mill."]
    memory.update_message(said, "Last autumn we took over nothing.")
    drain(memory, model)
    assert contents(memory, include_past=True) == []


HERON = claim("is shy", "is shy", "temper", "shy", "Heron is shy.") | {"entity": "Heron"}


def talk_of_the_dog(memory: Memory, model: Scripted, before: int) -> str:
    """After so many messages the name in one, and soon what is said of it in another."""
    for number in range(before):
        say(memory, f"Number {number}.", _THEN + timedelta(minutes=number))
        drain(memory, model)
    name = say(memory, "My dog is Heron the mutt.", _THEN + timedelta(hours=1))
    say(memory, "Well.", _THEN + timedelta(hours=1), role="assistant")
    say(memory, "She is shy.", _THEN + timedelta(hours=1))
    drain(memory, model)
    assert "Heron is shy." in contents(memory)
    return name


@pytest.mark.parametrize("before", [0, 18])
@pytest.mark.parametrize("how", ["edited", "deleted", "forgotten"])
def test_what_a_model_drew_goes_with_every_message_that_it_was_shown(memory: Memory, before: int, how: str) -> None:
    model = Scripted([HERON])
    name = talk_of_the_dog(memory, model, before)
    model.claims = ()
    match how:
        case "edited":
            memory.update_message(name, "My dog is a mutt.")
            drain(memory, model)
        case "deleted":
            memory.delete(name)
            drain(memory, model)
        case "forgotten":
            memory.forget(name)
    assert b"Heron" not in everything(memory)
    assert [fact.content for fact in memory.facts(include_past=True)] == []


def test_a_run_is_asked_about_once_in_whatever_portions_it_came(memory: Memory) -> None:
    model = Scripted([HERON])
    talk_of_the_dog(memory, model, 42)
    asked = model.asked
    enrol(memory.handle.space, again=True)
    drain(memory, model)
    assert model.asked == asked
    assert "Heron is shy." in contents(memory)


def test_a_model_is_not_shown_what_is_deleted_or_was_not_said(memory: Memory) -> None:
    shown: list[str] = []

    class Noting(Scripted):
        def complete(self, request: Request) -> Completion:
            shown.append(request.text)
            return super().complete(request)

    for number in range(20):
        last = say(memory, f"Number {number}.", _THEN + timedelta(minutes=number))
    memory.delete(say(memory, "The heron is a secret.", _THEN + timedelta(hours=1)))
    memory.store_tool_call("look", "{}", "A heron.", last, timestamp=_THEN + timedelta(hours=1))
    say(memory, "What else?", _THEN + timedelta(hours=2))
    drain(memory, Noting([]))
    assert any("Number 19." in text and "What else?" in text for text in shown)
    assert not [text for text in shown if "heron" in text]


@pytest.mark.parametrize("name", ["quote", "entity", "attribute", "value", "content"])
def test_a_claim_that_tells_nothing_is_none(memory: Memory, name: str) -> None:
    say(memory, "The old mill is fine.", _THEN)
    drain(memory, Scripted([claim("old mill", "old mill", "home", "mill", "It is a mill.") | {name: " "}]))
    assert memory.facts(include_past=True) == []


@pytest.mark.parametrize("since", ["25-03-02", "0001-01-01", "soon"])
def test_a_date_that_is_none_is_not_believed(memory: Memory, since: str) -> None:
    say(memory, "The old mill is fine.", _THEN)
    proof = claim("old mill", "The old mill is fine", "home", "mill", "It is a mill.")
    drain(memory, Scripted([proof | {"since": since}]))
    assert memory.facts()[0].valid_from == _THEN
