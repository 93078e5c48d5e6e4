"""Amounts in facts: read whole, the same in another spelling, structured, and found by what was decided before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from recollect.derive.facts import claim as claims
from recollect.derive.facts import correct
from recollect.derive.facts.claim import identity_of, slot_of
from recollect.derive.facts.structured import structured
from recollect.memory import Memory
from recollect.memory.removal import Removal
from tests.derive.facts.conftest import contents, drain
from tests.derive.facts.test_by_hand import carried, only, rebuilt
from tests.derive.facts.test_draw import drawn
from tests.derive.facts.test_facts import day, say


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I prefer laptops under $1,200.", "laptops under $1,200"),
        ("I own a 1,200 watt drill.", "1,200 watt drill"),
        ("I own a 1.200,50 € guitar.", "1.200,50 € guitar"),
        ("I weigh 70,5 kg.", "70,5 kg"),
        ("My horse Bella weighs 1,200.5 lbs.", "1,200.5 lbs"),
        ("I take 1,200 mg of ibuprofen.", "1,200 mg"),
        ("I take 10–15 mg of fluoxetine.", "10–15 mg"),
        ("I take 2.5-5 mg/day of enalapril.", "2.5-5 mg/day"),
    ],
)
def test_an_amount_is_read_whole(text: str, value: str) -> None:
    assert value in [found for _, _, found in drawn(text)]


def test_a_list_is_not_cut_within_a_number() -> None:
    assert [value for _, _, value in drawn("I love rice, beans and hikes of 1,200 m.")] == [
        "rice", "beans", "hikes of 1,200 m"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("attribute", "one", "other"),
    [("weight", "0.5 kg", "500 g"), ("dose of enalapril", "15mg", "15 mg"), ("rent", "US$1,200", "USD 1200")],
)
def test_the_same_amount_is_the_same_value(attribute: str, one: str, other: str) -> None:
    assert identity_of(attribute, one) == identity_of(attribute, other)
    assert identity_of(attribute, one) != identity_of(attribute, "7 kg")


def test_words_keep_the_digest_that_they_had() -> None:
    for attribute, value in (("home", "Rio"), ("allergy", "Peanuts"), ("owns", "2019 Honda Civic"), ("age", "4")):
        assert identity_of(attribute, value) == claims.identity_before(attribute, value)
        assert slot_of("Luna", attribute, value) == claims.slot_before("Luna", attribute, value)


def test_the_dose_of_a_medicine_does_not_depend_on_its_case(memory: Memory) -> None:
    say(memory, "My dog Luna takes 5 mg of Enalapril.", day(1), "a")
    say(memory, "Luna takes 10 mg of enalapril.", day(2), "b")
    drain(memory)
    (dose,) = [fact for fact in memory.facts("Luna") if fact.attribute.startswith("dose of")]
    assert (dose.value, [older.value for older in dose.history]) == ("10 mg", ["5 mg"])


def test_who_stops_a_medicine_takes_no_dose_of_it(memory: Memory) -> None:
    say(memory, "I take 15 mg of Fluoxetine.", day(1), "a")
    say(memory, "I take 5 mg of enalapril.", day(1), "a")
    drain(memory)
    assert "The user's dose of Fluoxetine is 15 mg." in contents(memory)
    say(memory, "I stopped taking fluoxetine.", day(2), "b")
    drain(memory)
    assert contents(memory) == ["The user takes enalapril.", "The user's dose of enalapril is 5 mg."]
    say(memory, "I take 20 mg of fluoxetine.", day(3), "c")
    drain(rebuilt(memory))
    assert "The user's dose of fluoxetine is 20 mg." in contents(memory)


def test_a_medicine_that_was_stopped_before_its_dose_was_known_has_none(memory: Memory) -> None:
    say(memory, "I stopped taking fluoxetine.", day(2))
    drain(memory)
    assert contents(memory, include_past=True) == ["No longer: The user takes fluoxetine."]


@pytest.mark.parametrize(
    ("attribute", "value", "told"),
    [
        ("medication", "fluoxetine 15 mg", {"kind": "dose", "numbers": [15], "unit": "mg", "of": "fluoxetine"}),
        ("dose of Enalapril", "2,5 mg/day", {"kind": "dose", "numbers": [2.5], "per": "day", "of": "Enalapril"}),
        ("dose of rimadyl", "10-15 mg", {"kind": "dose", "numbers": [10, 15]}),
        ("test result", "ALT 84", {"kind": "result", "numbers": [84], "unit": "", "of": "ALT"}),
        ("ALT", "84 U/L", {"kind": "result", "numbers": [84], "unit": "U", "per": "L", "of": "ALT"}),
        ("rent", "$1,200 a month", {"kind": "money", "numbers": [1200], "currency": "$", "per": "month"}),
        ("weight", "12 kg", {"kind": "mass", "numbers": [12], "unit": "kg"}),
        ("birthday", "3 May 1990", {"kind": "date", "date": "1990-05-03"}),
        ("birthday", "May 3", {"kind": "date", "date": "--05-03"}),
        ("deadline", "5.3.2026", {"kind": "date", "date": "2026-03-05"}),
    ],
)
def test_a_value_in_figures_is_structured(attribute: str, value: str, told: dict[str, object]) -> None:
    found = structured(attribute, value)
    assert found is not None
    assert told.items() <= found.as_json().items()


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("allergy", "chicken"), ("owns", "iPhone 15"), ("owns", "2019 Honda Civic"), ("version of Python", "3.11"),
        ("phone number", "+49 170 1234567"), ("employer", "7-Eleven"), ("prefers", "laptops under $1,200"),
    ],
)  # fmt: skip
def test_a_value_in_words_is_not(attribute: str, value: str) -> None:
    assert structured(attribute, value) is None


# --- decisions of version 0.2.0 ------------------------------------------------------------------------------------
@contextmanager
def as_in_0_2_0() -> Iterator[None]:
    """Slots and digests as that version made them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(claims, "attribute_key", lambda attribute: attribute)
        patch.setattr(claims, "_plain", lambda value: claims._singular(claims.folded(value)))
        patch.setattr(correct, "_join", lambda *_: None)  # edits joined nothing then
        yield


@pytest.fixture
def old(memory: Memory) -> Memory:
    """Facts as 0.2.0 drew them, of which two spellings were two facts."""
    with as_in_0_2_0():
        say(memory, "My dog Luna weighs 0.5 kg.", day(1), "a")
        say(memory, "Luna takes 15mg of Enalapril.", day(1), "a")
        say(memory, "I love hikes of 5km.", day(1), "a")
        drain(memory)
    return memory


def all_of(memory: Memory, make_memory: Callable[..., Memory], tmp_path: Path) -> Iterator[Memory]:
    """As it is, rebuilt, and carried to a new one."""
    yield memory
    yield rebuilt(memory)
    number = len([*tmp_path.glob("*.db")])
    yield carried(memory, lambda name: make_memory(f"{name}{number}"), tmp_path)


def test_what_was_pinned_stays_pinned(old: Memory, make_memory: Callable[..., Memory], tmp_path: Path) -> None:
    with as_in_0_2_0():
        for value in ("0.5 kg", "15mg", "hikes of 5km"):
            old.knowledge.pin_fact(only(old, value).id)
    rebuilt(old)
    say(old, "Luna weighs 7 kg.", day(2), "b")
    say(old, "Luna takes 20 mg of enalapril.", day(2), "b")
    say(old, "Luna weighs 500 g.", day(3), "c")
    drain(old)
    for memory in all_of(old, make_memory, tmp_path):
        assert sorted(fact.value for fact in memory.facts() if fact.pinned) == ["0.5 kg", "15mg", "hikes of 5km"]
        assert [fact.value for fact in memory.facts("Luna") if fact.attribute == "weight"] == ["0.5 kg"]


def test_what_was_edited_stays_edited(old: Memory, make_memory: Callable[..., Memory], tmp_path: Path) -> None:
    with as_in_0_2_0():
        old.knowledge.edit_fact(only(old, "0.5 kg").id, value="0.6 kg")
        old.knowledge.edit_fact(only(old, "15mg").id, value="16mg")
        old.knowledge.edit_fact(only(old, "hikes of 5km").id, value="hikes of 6km")
    for memory in all_of(old, make_memory, tmp_path):
        assert sorted(fact.value for fact in memory.facts() if fact.by_hand) == ["0.6 kg", "16mg", "hikes of 6km"]
    edited = old.knowledge.edit_fact(only(old, "16mg").id, value="17 mg")
    assert (edited.value, edited.by_hand) == ("17 mg", True)
    for value in ("0.6 kg", "17 mg", "hikes of 6km"):
        old.knowledge.undo_fact(only(old, value).id)
    for memory in all_of(old, make_memory, tmp_path):
        assert not [fact for fact in memory.facts(include_past=True) if fact.by_hand or fact.value == "17 mg"]
        assert {"0.5 kg", "15mg", "hikes of 5km"} <= {fact.value for fact in memory.facts()}


def test_what_was_forgotten_stays_forgotten(old: Memory, make_memory: Callable[..., Memory], tmp_path: Path) -> None:
    with as_in_0_2_0():
        gone = [old.knowledge.forget_fact(only(old, value).id) for value in ("0.5 kg", "15mg", "hikes of 5km")]
    values = {"0.5 kg", "15mg", "hikes of 5km"}
    for memory in all_of(old, make_memory, tmp_path):
        assert not values & {fact.value for fact in memory.facts(include_past=True)}
    for name in gone:
        old.knowledge.undo_fact(name)
    for memory in all_of(old, make_memory, tmp_path):
        assert values <= {fact.value for fact in memory.facts()}


def test_a_decision_before_facts_are_drawn_anew(old: Memory) -> None:
    old.knowledge.pin_fact(only(old, "15mg").id)
    old.knowledge.edit_fact(only(old, "0.5 kg").id, value="0.7 kg")
    for memory in (old, rebuilt(old)):
        assert [fact.value for fact in memory.facts() if fact.pinned] == ["15mg"]
        assert [fact.value for fact in memory.facts() if fact.by_hand] == ["0.7 kg"]


def test_decisions_move_with_their_messages(old: Memory) -> None:
    with as_in_0_2_0():
        for value in ("0.5 kg", "15mg", "hikes of 5km"):
            old.knowledge.pin_fact(only(old, value).id)
    rebuilt(old)
    Removal(old.handle).move(["a"], to="other")
    other = old.beside("other")
    drain(other)
    assert sorted(fact.value for fact in other.facts() if fact.pinned) == ["0.5 kg", "15mg", "hikes of 5km"]
