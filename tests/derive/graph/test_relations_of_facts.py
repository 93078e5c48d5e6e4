"""Relations of people, places and work are what the facts hold, with their validity: no others beside them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollect
from recollect.derive.entities.naming import YOU
from recollect.derive.graph.reader import TOGETHER, Relation
from recollect.memory import Memory
from recollect.record import NodeId


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return recollect.open(tmp_path / "memory.db", durable=False, background=False)


def tell(memory: Memory, *said: str | tuple[int, str]) -> list[str]:
    """Says each in a year of its own, or in the one that is given; returns the ids."""
    ids: list[str] = []
    for number, one in enumerate(said):
        year, words = one if isinstance(one, tuple) else (2020 + number, one)
        at = datetime(year, 3, 1, tzinfo=UTC)
        ids.append(memory.store_message(words, conversation_id="a", timestamp=at).id)
    memory.upkeep.consolidate()
    return ids


def relations(memory: Memory, name: str = YOU, *, past: bool = False) -> list[Relation]:
    return [r for r in memory.knowledge.graph(name, include_past=past).relations if r.name != TOGETHER]


def shown(memory: Memory, name: str = YOU, *, past: bool = False) -> list[str]:
    return sorted(str(relation) for relation in relations(memory, name, past=past))


def test_after_three_moves_you_live_in_one_town(memory: Memory) -> None:
    tell(memory, "I live in Leeds.", "I moved to Lisbon.", "I moved to Porto.")
    assert shown(memory) == ["you --[LIVES_IN]--> Porto"]
    assert shown(memory, "Porto") == ["you --[LIVES_IN]--> Porto"]
    assert shown(memory, "Leeds") == []


def test_what_held_before_is_shown_on_request_with_when(memory: Memory) -> None:
    first, second, _ = tell(memory, "I live in Leeds.", "I moved to Lisbon.", "I moved to Porto.")
    told = {r.target: r for r in relations(memory, past=True)}
    assert sorted(told) == ["Leeds", "Lisbon", "Porto"]
    assert [told[name].current for name in ("Leeds", "Lisbon", "Porto")] == [False, False, True]
    assert told["Leeds"].until == told["Lisbon"].since == datetime(2021, 3, 1, tzinfo=UTC)
    assert told["Porto"].until is None
    assert told["Lisbon"].evidence == (NodeId(second),)
    assert first in told["Leeds"].evidence


def test_a_relation_names_the_fact_that_it_is(memory: Memory) -> None:
    tell(memory, "I live in Porto.")
    (relation,) = relations(memory)
    (fact,) = memory.facts("me")
    assert relation.fact == fact.id
    assert relation.since == fact.valid_from


def test_a_correction_of_the_fact_corrects_the_relation(memory: Memory) -> None:
    tell(memory, "I live in Leeds.", "It rains in Porto, says Ana Silva.")
    (fact,) = memory.facts("me")
    memory.knowledge.edit_fact(fact.id, value="Porto")
    assert shown(memory) == ["you --[LIVES_IN]--> Porto"]
    (fact,) = memory.facts("me")
    memory.knowledge.forget_fact(fact.id)
    assert shown(memory, "Porto") == []


def test_what_has_ended_is_not_present(memory: Memory) -> None:
    tell(memory, "I work for Bosch.", "I no longer work at Bosch.")
    assert shown(memory, "Bosch") == []
    (relation,) = relations(memory, "Bosch", past=True)
    assert (str(relation), relation.current) == ("you --[WORKS_AT]--> Bosch", False)


@pytest.mark.parametrize(
    "said",
    [
        "I lived in Leeds.",
        "We used PostgreSQL for years.",
        "I worked for Bosch.",
        "I'd like to use Flexbox.",
        "I switched jobs from Shanghai to Hangzhou.",
        "We moved from Leeds to Kartona.",
        "Ana Silva worked for Bosch.",
        "Ana Silva lived in Leeds.",
        "Tidepool was part of Bosch.",
        "Do you live in Leeds?",
        "I want to live in Lisbon.",
    ],
)
def test_the_past_and_wishes_and_questions_are_no_present_relations(memory: Memory, said: str) -> None:
    tell(memory, said)
    moved = {"you --[LIVES_IN]--> Kartona"} if "Kartona" in said else set()
    assert {r for entity in memory.entities() for r in shown(memory, entity.name)} == moved


def test_family_work_and_tastes_are_faces_of_facts(memory: Memory) -> None:
    tell(
        memory,
        "My wife Clara works at Siemens.",
        "I love Flexbox.",
        "Clara lives in the Netherlands.",
        "Anders came. Then I called Anders Berg. Anders Berg is married to Merle Vik.",
        "My dog Luna is a labrador.",
    )
    assert shown(memory) == ["you --[DOG]--> Luna", "you --[LIKES]--> Flexbox", "you --[WIFE]--> Clara"]
    assert "Clara --[LIVES_IN]--> Netherlands" in shown(memory, "Clara")
    assert "Clara --[WORKS_AT]--> Siemens" in shown(memory, "Siemens")
    assert shown(memory, "Anders Berg") == ["Anders Berg --[MARRIED_TO]--> Merle Vik"]
    kin = [str(path) for path in memory.knowledge.paths(YOU, "Siemens").paths]
    assert kin == ["you --[WIFE]--> Clara --[WORKS_AT]--> Siemens"]


def test_what_was_dropped_later_is_used_no_longer(memory: Memory) -> None:
    tell(memory, "We use Redis.", "We chose PostgreSQL.", "We stopped using Redis.", "We dropped PostgreSQL.")
    assert shown(memory) == ["you --[REJECTED]--> PostgreSQL", "you --[REJECTED]--> Redis"]
    told = {str(r): r.until for r in relations(memory, past=True)}
    assert told["you --[USES]--> Redis"] == datetime(2022, 3, 1, tzinfo=UTC)
    tell(memory, (2025, "We use Redis again."))
    assert "you --[USES]--> Redis" in shown(memory)
    assert "you --[REJECTED]--> Redis" not in shown(memory)


def test_of_what_no_person_is_home_is_a_location(memory: Memory) -> None:
    tell(memory, "Bosch is located in Berlin.")
    assert shown(memory, "Bosch") == ["Bosch --[LOCATED_IN]--> Berlin"]


def test_who_speaks_is_there_without_a_mention(memory: Memory) -> None:
    tell(memory, "I live in Porto.")
    assert memory.knowledge.entity(YOU).type == "person"
    assert YOU in [entity.name for entity in memory.entities()]


def test_paths_lead_through_what_holds_now(memory: Memory) -> None:
    tell(memory, "I work for Bosch.", "I quit my job at Bosch.", "My sister Ana works at Bosch.")
    assert [str(path) for path in memory.knowledge.paths(YOU, "Bosch").paths] == [
        "you --[SISTER]--> Ana --[WORKS_AT]--> Bosch"
    ]
    assert [str(path) for path in memory.knowledge.paths(YOU, "Bosch", include_past=True).paths] == [
        "you --[WORKS_AT]--> Bosch"
    ]


def test_a_merged_entity_has_the_relations_of_both_names(memory: Memory) -> None:
    tell(memory, "Ana Silva lives in Porto.", "Annie Sil works for Bosch.")
    memory.knowledge.merge_entities("Annie Sil", "Ana Silva")
    assert shown(memory, "Ana Silva") == ["Ana Silva --[LIVES_IN]--> Porto", "Ana Silva --[WORKS_AT]--> Bosch"]


def test_what_a_forgotten_message_said_is_no_relation(memory: Memory) -> None:
    ids = tell(memory, "Ana Silva lives in Porto.", "Ana Silva likes Porto too.", "Ana Silva came.")
    memory.forget(ids[0])
    memory.upkeep.consolidate()
    assert "Ana Silva --[LIVES_IN]--> Porto" not in shown(memory, "Ana Silva", past=True)
    with memory.handle.space.view() as view:
        edges = view.edges(None, ("ABOUT",))
        assert all(node.text for node in view.get(recollect.record.Node, [edge.source_id for edge in edges]))
