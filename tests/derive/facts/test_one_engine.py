"""All claims about one thing settle together: said in a message, stored by a program, imported, or made by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect import HierarchicalMemory
from recollect.derive.facts.fact import Fact
from recollect.errors import InvalidInput, NotFound
from recollect.memory import Memory
from tests.derive.facts.conftest import contents, drain
from tests.derive.facts.test_by_hand import carried, only, rebuilt
from tests.derive.facts.test_facts import day, everything, say
from tests.properties import examples


def homes(memory: Memory) -> list[str]:
    """The home that holds, and those before it, newest first."""
    (home,) = [fact for fact in memory.facts() if fact.attribute == "home"]
    return [home.value, *(older.value for older in home.history)]


def test_a_stored_and_a_said_home_are_one(memory: Memory, make_memory: Callable[..., Memory], tmp_path: Path) -> None:
    memory.store_fact("The user lives in Leeds", "home", value="Leeds")
    memory.store_message("I live in Porto now.")
    drain(memory)
    for one in (memory, rebuilt(memory), carried(memory, make_memory, tmp_path)):
        assert homes(one) == ["Porto", "Leeds"]
        assert [fact.provenance for fact in one.facts()] == [("said",)]
    memory.store_fact("The user lives in Faro", "home", value="Faro")
    assert homes(memory) == ["Faro", "Porto", "Leeds"]
    assert memory.upkeep.check() == []


def test_a_stored_and_a_said_fact_that_say_the_same_are_one_under_the_stored_id(memory: Memory) -> None:
    said = say(memory, "I live in Porto.", day(1))
    drain(memory)
    drawn = memory.facts()[0]
    stored = memory.store_fact("The user has a flat in Porto.", "home", value="Porto", said_at=day(2))
    (fact,) = memory.facts()
    assert (fact.id, fact.content, fact.provenance) == (stored.id, stored.content, ("said", "stored"))
    assert [proof.message_id for proof in fact.proofs] == [said]
    memory.knowledge.pin_fact(drawn.id)  # the id from before still names it
    assert memory.facts()[0].pinned
    memory.forget(said)
    drain(memory)
    assert [(fact.id, fact.provenance) for fact in memory.facts()] == [(stored.id, ("stored",))]


def test_a_stored_fact_and_its_id_outlast_what_is_done_to_it(
    memory: Memory, make_memory: Callable[..., Memory], tmp_path: Path
) -> None:
    fact = memory.store_fact("The user lives in Leads.", "home", value="Leads")
    edited = memory.knowledge.edit_fact(fact.id, value="Leeds")
    assert (edited.id, edited.content, edited.confidence) == (fact.id, "The user lives in Leeds.", 1.0)
    memory.knowledge.pin_fact(fact.id)
    say(memory, "I live in Porto now.", day(1, year=2030))
    drain(memory)
    for one in (memory, rebuilt(memory), carried(memory, make_memory, tmp_path)):
        assert [(fact.id, fact.value, fact.pinned) for fact in one.facts()] == [(fact.id, "Leeds", True)]
    memory.knowledge.pin_fact(fact.id, pinned=False)
    assert homes(memory) == ["Porto", "Leeds"]
    assert only(memory, "Leeds").id == fact.id
    memory.knowledge.forget_fact(fact.id)
    assert homes(memory) == ["Porto"]
    with pytest.raises(NotFound):
        memory.knowledge.forget_fact(fact.id)
    assert [one.value for one in memory.knowledge.undo_fact(fact.id) if one.id == fact.id] == ["Leads"]
    assert homes(memory) == ["Porto", "Leads"]


def test_an_edited_fact_of_a_message_keeps_its_id(memory: Memory) -> None:
    say(memory, "I live in Leads.", day(1))
    drain(memory)
    fact = memory.facts()[0]
    assert memory.knowledge.edit_fact(fact.id, value="Leeds").id == fact.id
    assert memory.knowledge.edit_fact(fact.id, value="Leicester").id == fact.id


def test_stored_and_said_facts_are_merged(memory: Memory, make_memory: Callable[..., Memory], tmp_path: Path) -> None:
    say(memory, "I'm allergic to peanuts.", day(1))
    drain(memory)
    stored = memory.store_fact("Groundnuts make the user ill.", "allergy", value="groundnuts")
    kept = memory.knowledge.merge_facts(only(memory, "peanuts").id, stored.id)
    for one in (memory, rebuilt(memory), carried(memory, make_memory, tmp_path)):
        assert [(fact.id, fact.value, fact.provenance) for fact in one.facts()] == [
            (kept.id, "peanuts", ("said", "stored"))
        ]
    memory.knowledge.undo_fact(stored.id)
    assert sorted(fact.value for fact in memory.facts()) == ["groundnuts", "peanuts"]
    memory.knowledge.merge_facts(stored.id, kept.id)
    assert [(fact.id, fact.value) for fact in memory.facts()] == [(stored.id, "groundnuts")]


def test_no_words_of_a_stored_fact_outlast_forgetting_everything(memory: Memory) -> None:
    for town in ("Canaryville", "Canaria"):
        fact = memory.store_fact(f"The user lives in {town}.", "home", value=town)
    memory.knowledge.edit_fact(fact.id, value="Canarium")
    memory.knowledge.forget_fact(fact.id)
    memory.forget(everything=True)
    assert b"anari" not in everything(memory)
    assert memory.upkeep.check() == []


# --- beside HierarchicalMemory -----------------------------------------------------------------------------------
@pytest.fixture(params=["sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def beside(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[HierarchicalMemory, Memory]]:
    place = request.getfixturevalue("neo4j_place") if request.param == "neo4j" else tmp_path / "memory.db"
    with (
        HierarchicalMemory("agent", place) as agent,
        recollect.open(place, namespace="agent", durable=False) as memory,
    ):
        yield agent, memory


def test_one_weight_of_a_dog(beside: tuple[HierarchicalMemory, Memory]) -> None:
    agent, memory = beside
    first = agent.store_fact("Luna weighs 12 kg", "Luna weight")
    memory.store_fact("Luna weighs 13 kg", "weight", entity="Luna", value="13 kg")
    memory.store_message("My dog Luna weighs 14 kg now.")
    drain(memory)
    (weight,) = [fact for fact in memory.facts("Luna") if fact.attribute == "weight"]
    assert [weight.value, *(older.value for older in weight.history)] == ["14 kg", "13 kg", "12 kg"]
    assert weight.history[-1].id == first
    assert [fact["node_id"] for fact in agent.get_all_facts()] == [first]
    assert [fact["confidence"] for fact in agent.search_facts("Luna weight")] == [0.4]
    last = agent.store_fact("Luna weighs 15 kg", "Luna weight", temporal_metadata={"temporal_index": 2})
    (weight,) = [fact for fact in memory.facts("Luna") if fact.attribute == "weight"]
    assert (weight.id, weight.value) == (last, "15 kg")
    assert agent.get_statistics()["semantic_nodes"] == 2
    assert memory.upkeep.check() == []


def test_an_id_of_hierarchical_memory_names_its_fact_everywhere(beside: tuple[HierarchicalMemory, Memory]) -> None:
    agent, memory = beside
    same = [agent.store_fact("Luna weighs 12 kg", "Luna weight") for _ in range(2)]
    plain = agent.store_fact("The quay closes at ten", "quay")
    assert [fact["node_id"] for fact in agent.get_all_facts()] == [plain, same[1], same[0]]
    assert sorted(fact.content for fact in memory.facts()) == ["Luna weighs 12 kg", "The quay closes at ten"]
    for name in (*same, plain):
        assert memory.knowledge.pin_fact(name).pinned
        memory.knowledge.pin_fact(name, pinned=False)
    assert memory.knowledge.edit_fact(plain, "The quay closes at nine").id == plain
    memory.knowledge.forget_fact(same[1])
    assert [fact["content"] for fact in agent.get_all_facts()] == ["The quay closes at nine"]
    memory.knowledge.undo_fact(same[0])
    memory.knowledge.undo_fact(plain)
    assert [fact["content"] for fact in agent.get_all_facts()] == [
        "The quay closes at ten", "Luna weighs 12 kg", "Luna weighs 12 kg"
    ]  # fmt: skip


def test_what_replaces_an_import_is_settled_anew(beside: tuple[HierarchicalMemory, Memory]) -> None:
    agent, memory = beside
    say(memory, "My dog Luna weighs 11 kg.", day(1))
    drain(memory)
    agent.store_fact("Luna weighs 12 kg", "Luna weight")
    assert only(memory, "11 kg").current is False
    agent.import_graph({"nodes": []}, merge=False)
    assert only(memory, "11 kg").current
    assert contents(memory, "Luna") == ["Luna weighs 11 kg."]


# --- a history told through store_fact ---------------------------------------------------------------------------
def year(number: int) -> datetime:
    return datetime(number, 1, 1, tzinfo=UTC)


def test_a_history_is_told_out_of_order(memory: Memory) -> None:
    porto = memory.store_fact("Lives in Porto.", "home", value="Porto", said_at=year(2022))
    york = memory.store_fact(
        "Moved to York in 2019.", "home", value="York", since=year(2019), said_at=year(2024), before="Porto"
    )
    memory.store_fact("Lived in Hull.", "home", value="Hull", since=year(2015), until=year(2018), said_at=year(2024))
    memory.store_fact("Lived in Bath before Hull.", "home", value="Bath", before="Hull")
    assert (porto.current, york.current) == (True, False)
    assert homes(memory) == ["Porto", "York", "Hull", "Bath"]
    (home,) = memory.facts()
    told = [(f.value, f.valid_from, f.since_told, f.valid_to, f.until_told) for f in (home, *home.history)]
    assert told == [
        ("Porto", year(2022), False, None, False),
        ("York", year(2019), True, year(2022), False),
        ("Hull", year(2015), True, year(2018), True),
        ("Bath", None, False, year(2015), True),
    ]
    ended = memory.store_fact("Left Porto.", "home", value="Porto", ended=True, until=year(2025))
    assert (ended.id, ended.current, ended.valid_to) == (porto.id, False, year(2025))
    assert memory.facts() == []


def test_what_begins_later_is_not_yet(memory: Memory) -> None:
    soon = datetime.now(UTC) + timedelta(days=30)
    memory.store_fact("Lives in Porto.", "home", value="Porto")
    memory.store_fact("Moves to Faro.", "home", value="Faro", since=soon)
    assert contents(memory) == ["Lives in Porto."]
    memory.store_fact("Stays here.", "home", value="Faro", ended=True)
    assert contents(memory, include_past=True) == ["Lives in Porto."]


def test_what_ends_before_it_begins_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="cannot end"):
        memory.store_fact("x", "home", value="York", since=year(2020), until=year(2019))


def test_telling_the_same_again_is_evidence_for_that_time_too(memory: Memory) -> None:
    first = memory.store_fact("Lives in Porto.", "home", value="Porto", said_at=year(2020))
    for number in range(40):
        again = memory.store_fact("lives in porto", "home", value="Porto", said_at=year(2024) + timedelta(days=number))
        assert again.id == first.id
    say(memory, "I live in Leeds.", year(2022))
    drain(memory)
    assert homes(memory) == ["Porto", "Leeds", "Porto"]
    assert memory.facts()[0].id == first.id


# --- any order ----------------------------------------------------------------------------------------------------
TELLINGS = st.lists(
    st.fixed_dictionaries(
        {
            "value": st.sampled_from(["York", "Leeds", "Bath"]),
            "said": st.integers(1, 30),
            "way": st.sampled_from(["message", "program", "program", "import"]),
            "since": st.none() | st.integers(-20, 25),
            "ended": st.sampled_from([False, False, False, True]),
        }
    ),
    min_size=1,
    max_size=7,
    unique_by=lambda one: one["said"],
)


def tell(memory: Memory, told: dict[str, object], folder: Path) -> None:
    said = year(2025) + timedelta(days=int(str(told["said"])))
    if told["way"] == "message":
        text = f"I no longer live in {told['value']}." if told["ended"] else f"I live in {told['value']}."
        say(memory, text, said, f"c{told['said']}")
        return
    own = memory
    if told["way"] == "import":
        own = recollect.open(folder / f"{told['said']}.db", durable=False)
    since = None if told["since"] is None else year(2025) + timedelta(days=int(str(told["since"])))
    words, value, ended = f"Home: {told['value']}", str(told["value"]), bool(told["ended"])
    begins, ends = (None, since) if ended else (since, None)
    own.store_fact(words, "home", value=value, said_at=said, since=begins, until=ends, ended=ended)
    if own is not memory:
        own.export(folder / "dump.jsonl", overwrite=True)
        memory.import_file(folder / "dump.jsonl")
        own.close()


def history(memory: Memory) -> list[tuple[object, ...]]:
    def plain(fact: Fact) -> tuple[object, ...]:
        told = (fact.since_told, fact.until_told, fact.current, fact.known_from, fact.known_to)
        return (fact.value, fact.valid_from, fact.valid_to, *told, [older.value for older in fact.history])

    found = memory.facts(include_past=True)
    return sorted((plain(fact) for fact in found if fact.attribute == "home"), key=repr)


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(TELLINGS, st.randoms(use_true_random=False))
def test_any_order_and_any_mixture_give_the_same_history(
    tmp_path_factory: pytest.TempPathFactory, told: list[dict[str, object]], mixed: Random
) -> None:
    histories = []
    for turn in range(2):
        folder = tmp_path_factory.mktemp("m")
        with recollect.open(folder / "memory.db", durable=False) as memory:
            for one in told if turn == 0 else mixed.sample(told, len(told)):
                tell(memory, one, folder)
                if turn:
                    drain(memory)
            drain(memory)
            histories.append(history(memory))
            assert history(rebuilt(memory)) == histories[-1]
            assert memory.upkeep.check() == []
    assert histories[0] == histories[1]


@pytest.mark.parametrize(("first", "second"), [("1.9 µg/dl", "2.4 µg/dl"), ("1.9", "2.4")])
def test_another_stored_amount_of_the_same_takes_its_place(memory: Memory, first: str, second: str) -> None:
    memory.store_message("My dog is Luna.")
    memory.store_fact(f"Luna's T4 was {first}", "T4", entity="Luna", value=first, said_at=day(1))
    memory.store_fact(f"Luna's T4 was {second}", "t4", entity="luna", value=second, said_at=day(2))
    (fact,) = memory.facts("Luna")
    assert (fact.value, [older.value for older in fact.history]) == (second, [first])
    for city in ("Porto", "York"):  # words may be several
        memory.store_fact(f"Luna visited {city}", "visited", entity="Luna", value=city)
    assert len(memory.facts("Luna")) == 3
    assert memory.upkeep.check() == []


@pytest.mark.parametrize("messages", [1, 150])
def test_a_stored_fact_that_answers_is_in_the_context(memory: Memory, messages: int) -> None:
    for number in range(messages):
        memory.store_message(f"The wind at buoy {number} was weak.", conversation_id="talk")
    memory.store_fact("Luna's T4 was 1.9 µg/dl", "T4", entity="Luna", value="1.9 µg/dl")
    drain(memory)
    knowledge = memory.prepare_context("What is Luna's T4?").part("knowledge")
    assert knowledge is not None
    assert "Luna's T4 was 1.9 µg/dl" in knowledge.text
    assert memory.prepare_context("Good morning!").part("knowledge") is None
