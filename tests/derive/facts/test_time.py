"""The clock of facts: what was said when, and of which time; through the whole way."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollect
from recollect.memory import Memory
from tests.derive.facts.conftest import contents, drain
from tests.derive.facts.test_facts import day, say
from tests.derive.facts.test_one_engine import homes, year


def test_what_was_said_at_a_time_is_proof_that_it_held_then(memory: Memory) -> None:
    say(memory, "I live in Porto.", day(5, year=2022), "a")
    say(memory, "I moved to York in 2019, before Porto.", day(5, year=2024), "b")
    drain(memory)
    (home,) = memory.facts()
    (york,) = home.history
    assert (home.value, home.valid_from, home.since_told) == ("Porto", day(5, year=2022), False)
    assert (york.value, york.valid_from, york.since_told) == ("York", year(2019), True)
    assert (york.valid_to, york.until_told) == (day(5, year=2022), False)
    assert contents(memory, as_of="2023") == ["The user lives in Porto."]
    assert contents(memory, as_of="2025") == ["The user lives in Porto."]


def test_a_date_before_the_sentence_is_that_of_what_it_tells(memory: Memory) -> None:
    say(memory, "In 2019 I moved to York.", day(5, year=2024))
    drain(memory)
    (home,) = memory.facts()
    assert (home.valid_from, home.since_told, home.known_from) == (year(2019), True, day(5, year=2024))


def test_without_times_the_order_of_messages_decides(make_memory: Callable[..., Memory], tmp_path: Path) -> None:
    texts = ["I live in Leeds.", "I live in Porto now.", "I live in Porto.", "I moved to Faro."]
    talk = {"id": "c", "messages": [{"role": "user", "content": text} for text in texts]}
    (tmp_path / "talk.jsonl").write_text(json.dumps(talk) + "\n", encoding="utf-8")
    memory = make_memory()
    memory.import_file(tmp_path / "talk.jsonl")
    drain(memory)
    assert homes(memory) == ["Faro", "Porto", "Leeds"]
    memory.store_fact("Lives in York.", "home", value="York")
    assert homes(memory) == ["York", "Faro", "Porto", "Leeds"]


def test_since_is_told_or_is_not(memory: Memory) -> None:
    say(memory, "I live in York.", day(3, 3, 2023))
    say(memory, "I'm allergic to peanuts. We moved to Hull in May.", day(7, 3, 2023))
    drain(memory)

    def worded(moment: datetime) -> str:
        return f"{moment:%Y-%m-%d}"

    when = {fact.value: fact.when(worded) for fact in memory.facts(include_past=True)}
    assert when == {
        "York": "said 2023-03-03, until 2023-05-01",
        "peanuts": "said 2023-07-03",
        "Hull": "since 2023-05-01",
    }
    assert "(said 2023-07-03)" in memory.prepare_context("Where do I live, and what may I eat?").text


@pytest.mark.parametrize(("now", "plans"), [(day(9, 20), 1), (day(11, year=2026), 0)])
def test_a_plan_passes(tmp_path: Path, now: datetime, plans: int) -> None:
    with recollect.open(tmp_path / "memory.db", durable=False) as memory:
        memory.handle.clock = lambda: now
        say(memory, "I'm visiting my sister in Hull this weekend.", day(9, 18))
        drain(memory)
        assert len(memory.facts()) == plans
        assert len(memory.facts(include_past=True)) == 1
        assert len(memory.toolbox().search_facts("sister Hull")) == plans
        assert len([hit for hit in memory.search("sister Hull").derived if hit.kind == "fact"]) == plans
        known = [part.text for part in memory.prepare_context("Hi!").parts if part.name == "facts"]
        assert ("Hull" in "".join(known)) == bool(plans)


def test_a_plan_that_a_program_stores_ends_with_its_day(memory: Memory) -> None:
    memory.store_fact(
        "The dentist, on 4 March.", "appointment", value="dentist", until=datetime(2026, 3, 5, tzinfo=UTC)
    )
    memory.store_fact("The optician.", "appointment", value="optician", since=datetime(2099, 3, 4, tzinfo=UTC))
    assert contents(memory) == ["The optician."]


@pytest.mark.parametrize("together", [False, True], ids=["one a day", "all at once"])
def test_a_program_may_store_a_history_of_which_it_knows_the_beginnings(memory: Memory, together: bool) -> None:
    homes = {"Malmö": datetime(2024, 5, 1, tzinfo=UTC), "Porto": year(2025), "Faro": datetime(2025, 9, 1, tzinfo=UTC)}
    for number, (town, since) in enumerate(homes.items()):
        said = day(5, year=2026) if together else day(5 + number, year=2026)
        memory.store_fact(f"Sam lives in {town}", "home", entity="Sam", value=town, since=since, said_at=said)
    (home,) = memory.facts("Sam")
    held = [home, *home.history]
    assert [(fact.value, fact.valid_from, fact.since_told) for fact in held] == [
        (town, since, True) for town, since in reversed(homes.items())
    ]
    assert [fact.valid_to for fact in held] == [None, homes["Faro"], homes["Porto"]]
