"""What a person corrects outranks what was derived, survives a rebuild and a dump, and can be taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from recollect import HierarchicalMemory
from recollect.derive.facts.fact import Fact
from recollect.derive.tasks.queue import enrol
from recollect.errors import InvalidInput, NotFound
from recollect.memory import Memory
from tests.derive.facts.conftest import contents, drain
from tests.derive.facts.test_facts import day, everything, say


def only(memory: Memory, value: str) -> Fact:
    (fact,) = [fact for fact in memory.facts(include_past=True) if fact.value == value]
    return fact


def rebuilt(memory: Memory) -> Memory:
    enrol(memory.handle.space, again=True)
    drain(memory)
    return memory


def carried(memory: Memory, make_memory: Callable[..., Memory], tmp_path: Path) -> Memory:
    """The same memory after export and import into an empty one."""
    memory.export(tmp_path / "dump.jsonl", overwrite=True)
    other = make_memory("other")
    other.import_file(tmp_path / "dump.jsonl")
    drain(other)
    return other


@pytest.fixture
def homes(memory: Memory) -> Memory:
    say(memory, "I live in York.", day(1), "a")
    say(memory, "I moved to Leads last week.", day(2), "b")
    drain(memory)
    return memory


def test_an_edit_outranks_what_was_derived(homes: Memory, make_memory: Callable[..., Memory], tmp_path: Path) -> None:
    edited = homes.knowledge.edit_fact(only(homes, "Leads").id, value="Leeds")
    assert (edited.content, edited.value, edited.by_hand, edited.confidence) == (
        "The user lives in Leeds.", "Leeds", True, 1.0
    )  # fmt: skip
    say(homes, "I live in Leads.", day(3), "d")
    say(homes, "I live in Hull.", day(1, 5), "e")
    drain(homes)
    for memory in (homes, rebuilt(homes), carried(homes, make_memory, tmp_path)):
        assert contents(memory) == ["The user lives in Leeds."]
        assert b"Leads." not in "".join(contents(memory, include_past=True)).encode()


def test_what_is_said_after_an_edit_counts(homes: Memory) -> None:
    homes.knowledge.edit_fact(only(homes, "Leads").id, "The user lives in Leeds.")
    assert only(homes, "Leeds").content == "The user lives in Leeds."
    say(homes, "We moved to Bath.", day(1, year=2027), "f")
    drain(homes)
    assert contents(homes) == ["The user lives in Bath."]
    assert [fact.value for fact in only(homes, "Bath").history] == ["Leeds", "York"]


def test_a_pinned_fact_is_not_replaced(homes: Memory, make_memory: Callable[..., Memory], tmp_path: Path) -> None:
    pinned = homes.knowledge.pin_fact(only(homes, "York").id)
    assert pinned.pinned
    say(homes, "I moved to Bath.", day(5), "f")
    drain(homes)
    for memory in (homes, rebuilt(homes), carried(homes, make_memory, tmp_path)):
        assert contents(memory) == ["The user lives in York."]
        assert memory.facts()[0].pinned
    homes.knowledge.pin_fact(pinned.id, pinned=False)
    assert contents(homes) == ["The user lives in Bath."]


def test_a_forgotten_fact_is_not_drawn_again_from_the_same_messages(
    homes: Memory, make_memory: Callable[..., Memory], tmp_path: Path
) -> None:
    gone = homes.knowledge.forget_fact(only(homes, "Leads").id)
    for memory in (homes, rebuilt(homes), carried(homes, make_memory, tmp_path)):
        assert contents(memory, include_past=True) == ["The user lives in York."]
    with pytest.raises(NotFound):
        homes.knowledge.forget_fact(gone)
    (back,) = [fact for fact in homes.knowledge.undo_fact(gone) if fact.current]
    assert back.content == "The user lives in Leads."
    homes.knowledge.forget_fact(gone)
    say(homes, "I live in Leads, really.", day(7), "g")
    drain(homes)
    assert contents(homes) == ["The user lives in Leads."]


def test_merged_facts_are_one_with_all_proofs(
    memory: Memory, make_memory: Callable[..., Memory], tmp_path: Path
) -> None:
    say(memory, "My dog is allergic to chicken.", day(1), "a")
    say(memory, "Our dog Luna is allergic to chicken meat.", day(2), "b")
    drain(memory)
    kept, other = only(memory, "chicken meat"), only(memory, "chicken")
    merged = memory.knowledge.merge_facts(kept.id, other.id)
    assert (merged.entity, len(merged.proofs)) == ("Luna", 2)
    for one in (memory, rebuilt(memory), carried(memory, make_memory, tmp_path)):
        assert [fact.value for fact in one.facts() if fact.attribute == "allergy"] == ["chicken meat"]
    memory.knowledge.undo_fact(kept.id)
    assert sorted(f.value for f in memory.facts() if f.attribute == "allergy") == ["chicken", "chicken meat"]
    memory.knowledge.merge_facts(kept.id, other.id)
    memory.knowledge.undo_fact(other.id)
    assert sorted(f.value for f in memory.facts() if f.attribute == "allergy") == ["chicken", "chicken meat"]


@pytest.fixture
def nuts(memory: Memory) -> Memory:
    for number, name in enumerate(("peanuts", "groundnuts", "arachis")):
        say(memory, f"I'm allergic to {name}.", day(1 + number), name)
    drain(memory)
    return memory


def proved(memory: Memory) -> dict[str, list[str]]:
    return {fact.value: [proof.quote.rstrip(".").split()[-1] for proof in fact.proofs] for fact in memory.facts()}


def test_what_was_merged_before_is_merged_with_it(
    nuts: Memory, make_memory: Callable[..., Memory], tmp_path: Path
) -> None:
    kept = nuts.knowledge.merge_facts(only(nuts, "groundnuts").id, only(nuts, "peanuts").id)
    nuts.knowledge.merge_facts(only(nuts, "arachis").id, kept.id)
    say(nuts, "Remember that I'm allergic to peanuts.", day(9), "again")
    drain(nuts)
    for memory in (nuts, rebuilt(nuts), carried(nuts, make_memory, tmp_path)):
        assert proved(memory) == {"arachis": ["peanuts", "groundnuts", "arachis", "peanuts"]}
    nuts.knowledge.undo_fact(only(nuts, "arachis").id)
    assert proved(nuts) == {"arachis": ["arachis"], "groundnuts": ["peanuts", "groundnuts", "peanuts"]}


def test_a_merged_fact_is_forgotten_with_all_that_went_into_it(
    nuts: Memory, make_memory: Callable[..., Memory], tmp_path: Path
) -> None:
    kept = nuts.knowledge.merge_facts(only(nuts, "peanuts").id, only(nuts, "groundnuts").id, only(nuts, "arachis").id)
    first = kept.proofs[0].message_id
    nuts.knowledge.forget_fact(kept.id)
    for memory in (nuts, rebuilt(nuts), carried(nuts, make_memory, tmp_path)):
        assert contents(memory, include_past=True) == []
    nuts.delete(first)
    drain(nuts)
    assert contents(nuts, include_past=True) == []
    nuts.restore(first)
    drain(nuts)
    nuts.knowledge.undo_fact(kept.id)
    assert sorted(proved(nuts)) == ["arachis", "groundnuts", "peanuts"]


def test_edited_facts_can_be_merged(nuts: Memory, make_memory: Callable[..., Memory], tmp_path: Path) -> None:
    edited = nuts.knowledge.edit_fact(only(nuts, "peanuts").id, value="all nuts")
    merged = nuts.knowledge.merge_facts(edited.id, only(nuts, "groundnuts").id)
    assert (merged.value, len(merged.proofs)) == ("all nuts", 2)
    merged = nuts.knowledge.merge_facts(only(nuts, "arachis").id, merged.id)
    for memory in (nuts, rebuilt(nuts), carried(nuts, make_memory, tmp_path)):
        assert proved(memory) == {"arachis": ["peanuts", "groundnuts", "arachis"]}
    nuts.knowledge.undo_fact(merged.id)
    assert proved(nuts) == {"all nuts": ["peanuts", "groundnuts"], "arachis": ["arachis"]}


def test_the_same_fact_at_two_times_is_not_merged_away(homes: Memory) -> None:
    say(homes, "We moved back to York.", day(3), "c")
    drain(homes)
    now, before = homes.facts()[0], homes.facts()[0].history[-1]
    assert now.value == before.value == "York"
    with pytest.raises(InvalidInput):
        homes.knowledge.merge_facts(now.id, before.id)
    assert [fact.value for fact in homes.facts()] == ["York"]


def test_a_pinned_fact_stays_pinned_when_it_is_edited(homes: Memory) -> None:
    homes.knowledge.pin_fact(only(homes, "Leads").id)
    edited = homes.knowledge.edit_fact(only(homes, "Leads").id, value="Leeds")
    assert edited.pinned
    say(homes, "We moved to Bath.", day(1, year=2027), "f")
    drain(homes)
    assert contents(homes) == ["The user lives in Leeds."]
    homes.knowledge.undo_fact(only(homes, "Leeds").id)
    assert contents(homes) == ["The user lives in Bath."]


def test_an_edit_is_taken_back(homes: Memory) -> None:
    edited = homes.knowledge.edit_fact(only(homes, "Leads").id, value="Leeds")
    twice = homes.knowledge.edit_fact(edited.id, value="Leicester")
    assert contents(homes) == ["The user lives in Leicester."]
    homes.knowledge.undo_fact(twice.id)
    assert contents(homes) == ["The user lives in Leads."]


def test_the_words_of_an_edit_go_with_the_messages_that_it_corrects(homes: Memory) -> None:
    homes.knowledge.edit_fact(only(homes, "Leads").id, "The user lives in Canaria.")
    homes.forget("b")
    drain(homes)
    assert contents(homes, include_past=True) == ["The user lives in York."]
    assert b"anaria" not in everything(homes)


def test_wrong_names_are_said(homes: Memory) -> None:
    fact = only(homes, "York")
    with pytest.raises(NotFound):
        homes.knowledge.edit_fact("nothing", "x")
    with pytest.raises(InvalidInput):
        homes.knowledge.edit_fact(fact.id)
    with pytest.raises(InvalidInput):
        homes.knowledge.merge_facts(fact.id, fact.id)
    with pytest.raises(NotFound):
        homes.knowledge.pin_fact(fact.id[-6:])
    assert homes.knowledge.resolve_fact(fact.id[-6:]) == fact.id


# --- facts that somebody stored as such ----------------------------------------------------------------------------


@pytest.fixture
def belts(tmp_path: Path) -> Iterator[Memory]:
    with HierarchicalMemory("agent", tmp_path) as agent:
        for number in (3, 5):
            agent.store_fact(f"Klebb owns {number} belts", "Klebb", temporal_metadata={"temporal_index": number})
    with recollect.open(tmp_path / "memory.db", namespace="agent", durable=False) as memory:
        yield memory


def belt(memory: Memory, number: int) -> Fact:
    return next(fact for fact in memory.facts(include_past=True) if str(number) in fact.content)


def test_corrections_of_stored_facts_are_taken_back(belts: Memory) -> None:
    before = belts.facts(include_past=True)
    old, new = belt(belts, 3), belt(belts, 5)
    assert [old.current, new.current] == [False, True]
    belts.knowledge.pin_fact(old.id)
    belts.knowledge.edit_fact(old.id, "Klebb owned 33 belts", value="33")
    belts.knowledge.edit_fact(old.id, "Klebb owned 333 belts")
    belts.knowledge.undo_fact(old.id)
    belts.knowledge.forget_fact(old.id)
    assert [fact.history for fact in belts.facts(include_past=True)] == [()]
    belts.knowledge.undo_fact(old.id)
    belts.knowledge.merge_facts(old.id, new.id)
    belts.knowledge.undo_fact(new.id)
    assert belts.facts(include_past=True) == before


def test_a_stored_fact_is_named_by_the_end_of_its_id(belts: Memory) -> None:
    fact = belt(belts, 5)
    for end in (fact.id[-6:], fact.id[-6:].upper()):
        assert belts.knowledge.resolve_fact(end) == fact.id
    belts.knowledge.forget_fact(fact.id)
    assert belts.knowledge.resolve_fact(fact.id[-6:]) == fact.id  # to take it back


@pytest.mark.parametrize(
    ("change", "content", "value"),
    [
        ({"value": "Leeds"}, "I live in Leeds, by the river.", "Leeds"),
        ({"content": "I live in Leeds, by the river."}, "I live in Leeds, by the river.", "Leeds"),
        ({"content": "I moved to Leeds."}, "I moved to Leeds.", "Leeds"),
        ({"content": "York is where I live."}, "York is where I live.", "York"),
        ({"content": "Where I live is a secret."}, "Where I live is a secret.", ""),
        ({"content": "  ", "value": "Leeds"}, "I live in Leeds, by the river.", "Leeds"),
        ({"content": "I live in \0Leeds.", "value": " \0Leeds\n"}, "I live in Leeds.", "Leeds"),
    ],
)
def test_the_words_and_the_value_of_a_stored_fact_stay_one(
    memory: Memory, change: dict[str, str], content: str, value: str
) -> None:
    fact = memory.store_fact("I live in York, by the river.", "home", value="York")
    edited = memory.knowledge.edit_fact(fact.id, change.get("content"), value=change.get("value"))
    assert (edited.content, edited.value) == (content, value)
    memory.knowledge.undo_fact(fact.id)
    assert [(fact.content, fact.value) for fact in memory.facts()] == [("I live in York, by the river.", "York")]


@pytest.mark.parametrize("derived", [False, True])
def test_an_edit_takes_what_a_store_takes(homes: Memory, derived: bool) -> None:
    fact = only(homes, "Leads") if derived else homes.store_fact("Luna weighs 12 kg.")
    with pytest.raises(InvalidInput, match="too long"):
        homes.knowledge.edit_fact(fact.id, "x" * 5_000)
    for empty in ("", " \n", "\0"):
        with pytest.raises(InvalidInput):
            homes.knowledge.edit_fact(fact.id, empty, value=empty)
    assert homes.knowledge.edit_fact(fact.id, "Half \ud83d", value="a \ud83d").content == "Half \ufffd"


# --- corrections of what is over, or not yet ------------------------------------------------------------------------
def dates(memory: Memory) -> list[tuple[str, datetime | None, datetime | None, bool]]:
    now = {fact.id for fact in memory.facts()}
    return sorted((f.value, f.valid_from, f.valid_to, f.id in now) for f in memory.facts(include_past=True))


@pytest.mark.parametrize("concept", ["home", "allergy"])
def test_a_fact_of_the_past_is_pinned(memory: Memory, concept: str) -> None:
    memory.store_fact("No longer beef.", concept, value="beef", ended=True)
    (past,) = memory.facts(include_past=True)
    assert memory.knowledge.pin_fact(past.id).id == past.id
    assert [(fact.id, fact.pinned, fact.current) for fact in memory.facts(include_past=True)] == [
        (past.id, True, False)
    ]
    memory.knowledge.undo_fact(past.id)
    assert memory.facts(include_past=True) == [past]


def test_what_begins_later_is_corrected_and_still_begins_then(memory: Memory) -> None:
    soon = datetime.now(UTC) + timedelta(days=30)
    memory.store_fact("Lives in Porto.", "home", value="Porto", said_at=day(1))
    later = memory.store_fact("Moves to Faro.", "home", value="Faro", since=soon)
    edited = memory.knowledge.edit_fact(later.id, value="Lagos")
    assert (edited.id, edited.value, edited.content) == (later.id, "Lagos", "Moves to Lagos.")
    assert dates(memory) == [("Lagos", soon, None, False), ("Porto", day(1), soon, True)]
    memory.knowledge.undo_fact(later.id)
    assert dates(memory) == [("Faro", soon, None, False), ("Porto", day(1), soon, True)]


def test_what_is_over_is_corrected_and_stays_over(memory: Memory) -> None:
    over = memory.store_fact("Stays in Faro.", "home", value="Faro", said_at=day(1), until=day(6))
    assert memory.knowledge.edit_fact(over.id, value="Lagos").id == over.id
    assert dates(memory) == [("Lagos", day(1), day(6), False)]


@pytest.mark.parametrize(("concept", "told"), [("home", "until"), ("appointment", "since")])
def test_what_ends_later_is_corrected_and_still_ends_then(memory: Memory, concept: str, told: str) -> None:
    soon = datetime.now(UTC) + timedelta(days=30)
    times = {"since": None, "until": None} | {told: soon}
    since, until = times["since"], times["until"]
    stay = memory.store_fact("Faro, for now.", concept, value="Faro", said_at=day(1), since=since, until=until)
    before = dates(memory)
    assert memory.knowledge.edit_fact(stay.id, value="Lagos").id == stay.id
    assert dates(memory) == [("Lagos", *before[0][1:])]


def test_what_is_told_again_without_an_end_has_none_when_it_is_corrected(memory: Memory) -> None:
    soon = datetime.now(UTC) + timedelta(days=30)
    stay = memory.store_fact("Stays in Faro.", "home", value="Faro", said_at=day(1), until=soon)
    memory.store_fact("Lives in Faro.", "home", value="Faro", said_at=day(2))
    memory.knowledge.edit_fact(stay.id, value="Lagos")
    assert dates(memory) == [("Lagos", day(1), None, True)]


def test_what_is_said_in_the_future_is_corrected(memory: Memory) -> None:
    stay = memory.store_fact("Lives in Faro.", "home", value="Faro", said_at=day(1, year=2040))
    memory.knowledge.edit_fact(stay.id, value="Lagos")
    assert [(fact.id, fact.value) for fact in memory.facts(include_past=True)] == [(stay.id, "Lagos")]


def test_what_a_pin_hides_is_still_named_by_the_id_that_it_was_stored_under(memory: Memory) -> None:
    home = memory.store_fact("Lives in Porto.", "home", value="Porto", said_at=day(1))
    memory.knowledge.pin_fact(home.id)
    hidden = memory.store_fact("Lives in Faro.", "home", value="Faro", said_at=day(2))
    memory.knowledge.edit_fact(hidden.id, value="Lagos")
    memory.knowledge.forget_fact(hidden.id)
    memory.knowledge.pin_fact(home.id, pinned=False)
    assert [fact.value for fact in memory.facts(include_past=True)] == ["Porto"]
    assert memory.upkeep.check() == []


# --- a value that is corrected to one that is told elsewhere ----------------------------------------------------------
def allergies(memory: Memory) -> list[tuple[str, str, bool]]:
    return sorted((fact.id, fact.value, fact.current) for fact in memory.facts(include_past=True))


@pytest.mark.parametrize("first", ["edited", "told"])
@pytest.mark.parametrize("way", ["stored", "said", "since"])
def test_what_is_corrected_to_a_value_that_is_told_is_one_with_it(
    memory: Memory, make_memory: Callable[..., Memory], tmp_path: Path, first: str, way: str
) -> None:
    def tell() -> None:
        if way == "said":
            say(memory, "I'm allergic to beef.", day(1, year=2040), "later")
            drain(memory)
        else:
            since = day(1, year=2040) if way == "since" else None
            memory.store_fact("The user is allergic to beef.", "allergy", value="beef", since=since)

    say(memory, "I'm allergic to chicken.", day(1))
    drain(memory)
    (fact,) = memory.facts()
    if first == "told":
        tell()
    assert memory.knowledge.edit_fact(fact.id, value="beef").id == fact.id
    if first == "edited":
        tell()
    for one in (memory, rebuilt(memory), carried(memory, make_memory, tmp_path)):
        assert allergies(one) == [(fact.id, "beef", True)]
    memory.knowledge.undo_fact(fact.id)
    assert sorted(value for _, value, _ in allergies(memory)) == ["beef", "chicken"]
    assert memory.upkeep.check() == []


def test_telling_what_a_fact_was_corrected_to_gives_that_fact(memory: Memory) -> None:
    fact = memory.store_fact("The user is allergic to chicken.", "allergy", value="chicken")
    memory.knowledge.edit_fact(fact.id, value="beef")
    assert memory.store_fact("The user is allergic to beef.", "allergy", value="beef").id == fact.id
    memory.knowledge.edit_fact(fact.id, value="pork")
    assert sorted(value for _, value, _ in allergies(memory)) == ["beef", "pork"]
    memory.knowledge.edit_fact(fact.id, value="beef")
    assert allergies(memory) == [(fact.id, "beef", True)]
    memory.store_fact("No longer allergic to beef.", "allergy", value="beef", ended=True)
    assert allergies(memory) == [(fact.id, "beef", False)]
    memory.knowledge.forget_fact(fact.id)
    assert allergies(memory) == []
    assert memory.upkeep.check() == []


def test_values_that_are_swapped_are_both_kept(memory: Memory) -> None:
    nuts, beef = (memory.store_fact(f"Allergic to {one}.", "allergy", value=one) for one in ("nuts", "beef"))
    memory.knowledge.edit_fact(beef.id, value="eggs")
    memory.knowledge.edit_fact(nuts.id, value="beef")
    memory.knowledge.edit_fact(beef.id, value="nuts")
    assert allergies(memory) == sorted([(nuts.id, "beef", True), (beef.id, "nuts", True)])


def test_a_value_that_was_corrected_to_outlasts_the_correction(memory: Memory) -> None:
    wrong = say(memory, "I'm allergic to chicken.", day(1), "a")
    drain(memory)
    memory.knowledge.edit_fact(memory.facts()[0].id, value="beef")
    say(memory, "I'm allergic to beef.", day(2), "b")
    drain(memory)
    memory.forget(wrong)
    drain(memory)
    assert [fact.value for fact in memory.facts()] == ["beef"]
    say(memory, "I'm allergic to chicken.", day(3), "c")
    drain(memory)
    for one in (memory, rebuilt(memory)):
        assert sorted(fact.value for fact in one.facts()) == ["beef", "chicken"]


def test_what_a_correction_joins_keeps_its_id_and_its_pin(memory: Memory) -> None:
    chicken, beef = (memory.store_fact(f"Allergic to {x}.", "allergy", value=x) for x in ("chicken", "beef"))
    memory.knowledge.pin_fact(beef.id)
    assert memory.knowledge.edit_fact(chicken.id, value="beef").pinned
    assert [memory.knowledge.pin_fact(one.id).id for one in (beef, chicken)] == [chicken.id, chicken.id]
    memory.knowledge.undo_fact(chicken.id)
    assert sorted((fact.id, fact.value, fact.pinned) for fact in memory.facts()) == sorted(
        [(chicken.id, "chicken", False), (beef.id, "beef", True)]
    )
    memory.knowledge.edit_fact(chicken.id, value="beef")
    memory.knowledge.forget_fact(beef.id)
    assert memory.facts(include_past=True) == []
