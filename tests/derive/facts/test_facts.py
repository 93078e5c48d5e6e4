"""Facts through the whole way: messages, the task, facts with proofs and validity."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from recollect.memory import Memory
from tests.derive.facts.conftest import contents, drain


def day(month: int, number: int = 1, year: int = 2025) -> datetime:
    return datetime(year, month, number, 12, tzinfo=UTC)


def say(memory: Memory, text: str, at: datetime | None = None, conversation: str = "c", **more: str) -> str:
    return memory.store_message(text, conversation_id=conversation, timestamp=at or day(1), **more).id


def test_an_allergy_in_the_third_message_of_weeks_about_an_anxious_dog_is_a_fact_of_the_dog(memory: Memory) -> None:
    said = [
        ("user", "Hi! My rescue dog Luna gets very anxious when I leave the house."),
        ("assistant", "Separation anxiety is common. How old is she?"),
        ("user", "She is 4 years old, and by the way she is allergic to chicken."),
    ]
    at = day(3)
    ids = []
    for role, text in said:
        ids.append(say(memory, text, at, role=role))
    for week in range(6):
        for turn in range(20):
            at += timedelta(hours=8)
            say(memory, f"Luna barked again today, walk number {week}-{turn}. What can I try?", at, f"week {week}")
            say(memory, "Try short absences and a stuffed toy.", at, f"week {week}", role="assistant")
    drain(memory)
    (allergy,) = [fact for fact in memory.facts("Luna") if fact.attribute == "allergy"]
    assert (allergy.content, allergy.value, allergy.said_by) == ("Luna is allergic to chicken.", "chicken", "user")
    assert [proof.message_id for proof in allergy.proofs] == [ids[2]]
    assert "Luna is 4 years old." in contents(memory, "Luna")
    assert "The user's dog is Luna." in contents(memory, "me")


def test_a_new_home_closes_the_old_one_and_both_can_be_asked_for(memory: Memory) -> None:
    say(memory, "I live in York.", day(1))
    moved = say(memory, "We moved to Leeds in May.", day(6, 10), "other")
    drain(memory)
    (home,) = [fact for fact in memory.facts("me") if fact.attribute == "home"]
    assert (home.value, home.valid_from, home.valid_to) == ("Leeds", datetime(2025, 5, 1, tzinfo=UTC), None)
    (before,) = home.history
    assert (before.value, before.valid_to, before.known_to) == ("York", datetime(2025, 5, 1, tzinfo=UTC), day(6, 10))
    (proof,) = home.proofs
    assert (proof.message_id, proof.quote) == (moved, "We moved to Leeds in May.")
    assert contents(memory, as_of="2025-03") == ["The user lives in York."]
    assert contents(memory, as_of="2024") == []
    assert contents(memory, include_past=True) == ["The user lives in Leeds.", "The user lives in York."]


def test_the_same_claim_is_one_fact_with_many_proofs(memory: Memory) -> None:
    ids = [say(memory, "I'm allergic to peanuts.", day(month), f"c{month}") for month in (3, 1, 2)]
    drain(memory)
    (fact,) = memory.facts()
    assert [proof.message_id for proof in fact.proofs] == [ids[1], ids[2], ids[0]]
    assert fact.valid_from == day(1)


def test_what_has_several_values_gathers_and_ends_one_by_one(memory: Memory) -> None:
    say(memory, "I drive a Toyota Prius. I own a small sailboat.", day(1))
    drain(memory)
    say(memory, "I sold my Prius.", day(2))
    drain(memory)
    assert contents(memory) == ["The user has a small sailboat."]
    (sold,) = [fact for fact in memory.facts(include_past=True) if not fact.current]
    assert (sold.value, sold.valid_to, len(sold.proofs)) == ("Toyota Prius", day(2), 2)


def test_a_deleted_message_takes_its_facts_back_and_a_restored_one_brings_them(memory: Memory) -> None:
    say(memory, "I live in York.", day(1))
    leeds = say(memory, "I moved to Leeds.", day(2))
    drain(memory)
    memory.delete(leeds)
    drain(memory)
    assert contents(memory, include_past=True) == ["The user lives in York."]
    (home,) = memory.facts()
    assert (home.valid_to, home.history) == (None, ())
    memory.restore(leeds)
    drain(memory)
    assert contents(memory) == ["The user lives in Leeds."]


def test_what_is_said_at_a_moment_is_believed_from_it_on(memory: Memory) -> None:
    say(memory, "I live in Hull.", day(1))
    say(memory, "We moved to York.", day(2))
    drain(memory)
    moved, just_before = day(2), day(2) - timedelta(microseconds=1)
    for moment in (moved, moved.isoformat(), moved.replace(tzinfo=None), moved.isoformat().replace("T", " ")):
        assert contents(memory, as_of=moment) == ["The user lives in York."]
    for moment in (just_before, just_before.isoformat(), str(day(1).date())):
        assert contents(memory, as_of=moment) == ["The user lives in Hull."]
    assert contents(memory, as_of=str(day(2).date())) == ["The user lives in York."]


def test_what_is_deleted_is_in_no_history_from_then_on(memory: Memory) -> None:
    for number, town in enumerate(("Hull", "York", "Leeds")):
        last = say(memory, f"We moved to {town}.", day(1 + number), town)
        drain(memory)
        if town == "York":
            york = last
    memory.delete(york)
    (home,) = memory.facts("me")
    assert [fact.value for fact in home.history] == ["Hull"]
    memory.restore(york)
    drain(memory)
    (home,) = memory.facts("me")
    assert [fact.value for fact in home.history] == ["York", "Hull"]


def test_an_edit_replaces_what_was_claimed(memory: Memory) -> None:
    said = say(memory, "My favourite colour is green.")
    drain(memory)
    memory.update_message(said, "My favourite colour is teal.")
    assert memory.facts() == []  # stale at once
    drain(memory)
    assert contents(memory, include_past=True) == ["The user's favourite colour is teal."]


def test_no_words_of_what_was_forgotten_stay_anywhere(memory: Memory) -> None:
    say(memory, "I'm allergic to canarium.", day(1), "a")
    say(memory, "I'm allergic to peanuts.", day(1), "a")
    say(memory, "I live in Canaryville.", day(2), "b")
    say(memory, "I live in York.", day(3), "c")
    say(memory, "I'm allergic to peanuts.", day(4), "b")
    drain(memory)
    (fact,) = [fact for fact in memory.facts() if fact.value == "canarium"]
    memory.forget(fact.proofs[0].message_id)
    memory.forget("b")
    drain(memory)
    assert contents(memory, include_past=True) == ["The user is allergic to peanuts.", "The user lives in York."]
    assert [len(fact.proofs) for fact in memory.facts()] == [1, 1]
    assert b"canar" not in everything(memory).lower()


def everything(memory: Memory) -> bytes:
    from recollect.record import Node
    from recollect.store.transfer import every

    with memory.handle.space.view() as view:
        nodes = repr(list(every(view, Node)))
        edges = repr([(dict(e.properties), e.name) for e in view.edges(None)])
    return (nodes + edges).encode()


def test_another_namespace_sees_nothing(make_memory: Callable[..., Memory]) -> None:
    rex, luna = make_memory(namespace="acme/rex"), make_memory(namespace="acme/luna")
    say(rex, "My dog Rex is allergic to beef.")
    say(luna, "My dog Luna is allergic to chicken.")
    drain(rex)
    drain(luna)
    assert contents(rex) == ["Rex is allergic to beef.", "The user's dog is Rex."]
    assert b"Rex" not in everything(luna)
    assert luna.facts("Rex") == []


def test_questions_recall_and_assistants_are_no_facts(memory: Memory) -> None:
    say(memory, "You are allergic to peanuts, and I live in a data centre.", role="assistant")
    say(memory, "Am I allergic to soy?")
    say(memory, "I live in Rome.", kind="context")
    drain(memory)
    assert memory.facts() == []


def test_an_edit_that_leaves_the_claim_alone_leaves_the_fact(memory: Memory) -> None:
    said = say(memory, "I live in York. It rains.")
    drain(memory)
    memory.update_message(said, "I live in York. It snows.")
    assert memory.facts() == []  # nobody knows yet
    drain(memory)
    assert contents(memory) == ["The user lives in York."]
    memory.delete(said)
    memory.restore(said)
    drain(memory)
    assert contents(memory) == ["The user lives in York."]


def test_what_is_said_of_the_dog_is_found_by_the_name_that_it_is_given_elsewhere(memory: Memory) -> None:
    say(memory, "My dog is allergic to chicken.", day(1), "a")
    drain(memory)
    assert contents(memory, "dog") == ["The user's dog is allergic to chicken."]
    say(memory, "My dog is called Luna.", day(2), "b")
    drain(memory)
    assert contents(memory, "Luna") == ["The user's dog is allergic to chicken."]
    assert "The user's dog is Luna." in contents(memory, "me")
    say(memory, "I also have a dog named Rex.", day(3), "b")
    drain(memory)
    assert "The user's dog is allergic to chicken." not in contents(memory, "Rex")


def test_words_that_name_somebody_are_whole(memory: Memory) -> None:
    say(memory, "My sister Ana has a home in Leeds.")
    say(memory, "Ana is allergic to peanuts.", conversation="d")
    drain(memory)
    assert contents(memory, "Ana")
    assert contents(memory, "peanuts") == ["Ana is allergic to peanuts."]
    for part in ("an", "nut", "eed", "ana s"):
        assert contents(memory, part) == []


def test_about_me_is_nothing_where_nothing_is_known_of_me(memory: Memory) -> None:
    memory.store_fact("Ana's home has a name, Solar.", "home", entity="Ana")
    assert contents(memory, "me") == contents(memory, "I") == contents(memory, "the user") == []
    assert contents(memory, "home") == ["Ana's home has a name, Solar."]


@pytest.mark.parametrize("name", ["Apoquel", "trazodone"])
@pytest.mark.parametrize("ends", ["Luna stopped taking {}.", "Luna no longer takes {}.", "Luna used to take {}."])
def test_a_medicine_ends_with_its_dose_however_its_name_is_spelled(memory: Memory, name: str, ends: str) -> None:
    say(memory, f"My dog is Luna. Luna takes {name} 16 mg daily.", day(1))
    say(memory, ends.format(name), day(2), "other")
    drain(memory)
    assert [fact.content for fact in memory.facts("Luna") if fact.attribute != "name"] == []
    assert f"Luna takes {name}." in contents(memory, "Luna", include_past=True)


def test_what_is_stopped_and_is_no_medicine_is_none(memory: Memory) -> None:
    for text in (
        "I stopped using Spotify.",
        "I no longer take the bus.",
        "We no longer take walks.",
        "I take Spanish.",
    ):
        say(memory, text)
    drain(memory)
    assert [fact for fact in memory.facts(include_past=True) if "medication" in fact.attribute] == []
