"""A program adds entities and relations beside those of messages; they settle with the facts."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollect
from recollect.derive.entities.entity import ADDED_FROM
from recollect.derive.entities.naming import YOU
from recollect.derive.graph.reader import TOGETHER, Relation
from recollect.derive.tasks.queue import enrol
from recollect.errors import InvalidInput, NotFound
from recollect.memory import Memory
from recollect.memory.removal import Removal
from recollect.record import Node
from recollect.store.transfer import every

MAY = datetime(2021, 5, 1, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return recollect.open(tmp_path / "memory.db", durable=False, background=False)


def tell(memory: Memory, words: str, year: int = 2020) -> str:
    message = memory.store_message(words, conversation_id=f"c{year}", timestamp=datetime(year, 3, 1, tzinfo=UTC))
    memory.upkeep.consolidate()
    return message.id


def shown(memory: Memory, name: str, *, past: bool = False) -> list[str]:
    return sorted(map(str, relations(memory, name, past=past)))


def relations(memory: Memory, name: str, *, past: bool = False) -> list[Relation]:
    return [r for r in memory.knowledge.graph(name, include_past=past).relations if r.name != TOGETHER]


def everything(memory: Memory) -> str:
    with memory.handle.space.view() as view:
        return str([*every(view, Node), *view.edges(None)]).lower()


# --- entities ---------------------------------------------------------------------------------------------------------
def test_an_added_entity_is_listed_beside_those_of_messages(memory: Memory) -> None:
    tell(memory, "I met Ana Silva in Porto.")
    sam = memory.knowledge.add_entity("Sam Berg", "person")
    assert (sam.name, sam.type, sam.mentions) == ("Sam Berg", "person", 0)
    assert (sam.provenance, sam.by_hand) == (("stored",), False)
    assert memory.knowledge.entity("sam berg") == sam
    assert {"Sam Berg", "Ana Silva", "Porto"} <= {entity.name for entity in memory.entities()}
    assert memory.knowledge.entity("Porto").provenance == ("said",)


def test_the_same_again_is_the_same(memory: Memory) -> None:
    first = memory.knowledge.add_entity("Sam Berg", "person", sources=[tell(memory, "Sam called.")])
    before = everything(memory)
    assert memory.knowledge.add_entity("SAM BERG") == first
    assert (
        memory.knowledge.add_entity("Sam Berg", "person", sources=[memory.conversation("c2020").messages[0].id])
        == first
    )
    assert everything(memory) == before


def test_what_messages_mention_gets_the_type_that_a_program_knows(memory: Memory) -> None:
    tell(memory, "I met Zorblax in Porto.")
    added = memory.knowledge.add_entity("Zorblax", "animal")
    assert (added.type, added.mentions, added.provenance) == ("animal", 1, ("said", "stored"))
    memory.knowledge.edit_entity("Zorblax", type="project")
    assert memory.knowledge.entity("Zorblax").type == "project"
    assert memory.knowledge.undo_entity("Zorblax").type == "animal"


def test_an_entity_that_comes_to_be_mentioned_is_the_same(memory: Memory) -> None:
    added = memory.knowledge.add_entity("Next.js", "technology")
    tell(memory, "We use NextJS for Tidepool, and Next.js improves SEO.")
    assert memory.knowledge.entity("nextjs").id == added.id
    assert memory.knowledge.entity("Next.js").mentions > 0


@pytest.mark.parametrize(
    "refused",
    [
        lambda m: m.knowledge.add_entity(" "),
        lambda m: m.knowledge.add_entity("Sam", "machine"),
        lambda m: m.knowledge.add_entity("Sam", provenance="guessed"),
        lambda m: m.knowledge.add_relationship("Sam", "Porto", ""),
        lambda m: m.knowledge.add_relationship("Sam", "Porto", "LIVES IN!"),
        lambda m: m.knowledge.add_relationship("Sam", "Porto", "X" * 41),
        lambda m: m.knowledge.add_relationship("Sam", "Samuel", "SAME_AS"),
        lambda m: m.knowledge.add_relationship("Sam", "Porto", "MENTIONED_WITH"),
        lambda m: m.knowledge.add_relationship("Sam", "Porto", "BIRTHDAY"),
        lambda m: m.knowledge.add_relationship("Sam", "sam", "KNOWS"),
        lambda m: m.knowledge.add_relationship("Sam", "", "KNOWS"),
        lambda m: m.knowledge.add_relationship(
            "Sam", "Ana", "KNOWS", since=MAY, until=datetime(2020, 1, 1, tzinfo=UTC)
        ),
        lambda m: m.knowledge.add_relationship("Sam", "Ana", "KNOWS", provenance="guessed"),
    ],
)
def test_what_means_nothing_is_refused_and_leaves_nothing(memory: Memory, refused: Callable[[Memory], object]) -> None:
    with pytest.raises(InvalidInput) as caught:
        refused(memory)
    assert caught.value.message
    assert memory.entities() == []


def test_a_source_that_is_no_message_is_refused(memory: Memory) -> None:
    for add in (
        lambda: memory.knowledge.add_entity("Sam", sources=["nothing"]),
        lambda: memory.knowledge.add_relationship("Sam", "Ana", "KNOWS", sources=["nothing"]),
    ):
        with pytest.raises(NotFound):
            add()
    assert memory.entities() == []


# --- relationships ----------------------------------------------------------------------------------------------------
def test_a_relationship_adds_what_it_relates(memory: Memory) -> None:
    relation = memory.knowledge.add_relationship("Sam Berg", "Porto", "LIVES_IN", since=MAY)
    assert str(relation) == "Sam Berg --[LIVES_IN]--> Porto"
    assert (relation.since, relation.until, relation.current) == (MAY, None, True)
    assert relation.provenance == ("stored",)
    assert (memory.knowledge.entity("Sam Berg").type, memory.knowledge.entity("Porto").type) == ("person", "place")
    assert shown(memory, "Porto") == ["Sam Berg --[LIVES_IN]--> Porto"]
    assert [fact.content for fact in memory.facts("Sam Berg")] == ["Sam Berg lives in Porto."]


def test_it_settles_with_what_messages_say(memory: Memory) -> None:
    tell(memory, "Sam Berg lives in Leeds.", 2020)
    memory.knowledge.add_relationship("Sam Berg", "Porto", "lives in")
    assert shown(memory, "Sam Berg") == ["Sam Berg --[LIVES_IN]--> Porto"]
    assert shown(memory, "Sam Berg", past=True) == [
        "Sam Berg --[LIVES_IN]--> Leeds",
        "Sam Berg --[LIVES_IN]--> Porto",
    ]


def test_one_may_relate_oneself(memory: Memory) -> None:
    tell(memory, "I live in Leeds.")
    assert str(memory.knowledge.add_relationship("me", "Porto", "LIVES_IN")) == "you --[LIVES_IN]--> Porto"
    assert shown(memory, YOU) == ["you --[LIVES_IN]--> Porto"]
    assert str(memory.knowledge.add_relationship("you", "Ana", "SISTER")) == "you --[SISTER]--> Ana"
    assert memory.knowledge.entity("Ana").type == "person"


def test_any_other_relation_has_its_name_and_validity(memory: Memory) -> None:
    memory.knowledge.add_relationship(
        "Tidepool", "Kafka", "depends on", since=MAY, until=datetime(2023, 5, 1, tzinfo=UTC)
    )
    memory.knowledge.add_relationship("Tidepool", "PostgreSQL", "DEPENDS_ON")
    assert shown(memory, "Tidepool") == ["Tidepool --[DEPENDS_ON]--> PostgreSQL"]
    (kafka,) = [r for r in relations(memory, "Tidepool", past=True) if r.target == "Kafka"]
    assert (kafka.since, kafka.until, kafka.current) == (MAY, datetime(2023, 5, 1, tzinfo=UTC), False)
    assert "Tidepool depends on PostgreSQL." in [fact.content for fact in memory.facts("Tidepool")]


def test_decisions_are_relations_like_those_of_messages(memory: Memory) -> None:
    memory.knowledge.add_relationship("you", "Next.js", "CHOSE")
    memory.knowledge.add_relationship("you", "React", "REJECTED")
    assert shown(memory, YOU) == ["you --[CHOSE]--> Next.js", "you --[REJECTED]--> React"]


def test_the_same_relationship_again_changes_nothing(memory: Memory) -> None:
    first = memory.knowledge.add_relationship("Sam", "Ana", "KNOWS")
    again = memory.knowledge.add_relationship("sam", "ANA", "knows")
    assert (again.fact, again.source_id, again.target_id) == (first.fact, first.source_id, first.target_id)
    assert len(memory.facts("Sam")) == 1
    assert len(memory.entities()) == 2


def test_another_spelling_is_the_entity_that_there_is(memory: Memory) -> None:
    tell(memory, "We use NextJS for Tidepool.")
    relation = memory.knowledge.add_relationship("next.js", "SEO", "IMPROVES")
    assert relation.source_id == memory.knowledge.entity("NextJS").id
    assert any(line.endswith("--[IMPROVES]--> SEO") for line in shown(memory, "NextJS"))


def test_a_message_proves_what_was_drawn_from_it(memory: Memory) -> None:
    source = tell(memory, "Sam is in Porto these days.")
    relation = memory.knowledge.add_relationship("Sam", "Porto", "LIVES_IN", sources=[source])
    assert relation.evidence == (source,)


def test_what_was_drawn_from_messages_was_said_when_they_were(memory: Memory) -> None:
    earlier, later = tell(memory, "Notes on Leeds.", 2020), tell(memory, "Notes on Porto.", 2022)
    memory.knowledge.add_relationship("Sam", "Porto", "LIVES_IN", sources=[later])
    relation = memory.knowledge.add_relationship("Sam", "Leeds", "LIVES_IN", sources=[earlier])
    assert relation.said == datetime(2020, 3, 1, tzinfo=UTC)
    assert shown(memory, "Sam") == ["Sam --[LIVES_IN]--> Porto"]


# --- corrections, dumps, rebuilding -----------------------------------------------------------------------------------
def test_it_is_renamed_merged_and_taken_apart_as_what_was_derived(memory: Memory) -> None:
    memory.knowledge.add_relationship("Sam", "Porto", "LIVES_IN")
    memory.knowledge.add_relationship("Samuel Berg", "Bosch", "WORKS_AT")
    memory.knowledge.merge_entities("Sam", "Samuel Berg")
    memory.knowledge.edit_entity("Samuel Berg", "Samuel J. Berg")
    assert shown(memory, "Sam") == [
        "Samuel J. Berg --[LIVES_IN]--> Porto",
        "Samuel J. Berg --[WORKS_AT]--> Bosch",
    ]
    memory.knowledge.unmerge_entity("Sam")
    assert shown(memory, "Sam") == ["Sam --[LIVES_IN]--> Porto"]


def test_it_survives_deriving_anew_and_comes_back_from_a_dump(memory: Memory, tmp_path: Path) -> None:
    source = tell(memory, "Sam Berg lives in Leeds.", 2020)
    memory.knowledge.add_entity("Zorblax", "animal", provenance="by hand")
    memory.knowledge.add_relationship("Sam Berg", "Porto", "LIVES_IN", since=MAY, sources=[source])

    def check(memory: Memory) -> None:
        assert (memory.knowledge.entity("Zorblax").type, memory.knowledge.entity("Zorblax").provenance) == (
            "animal",
            ("by hand",),
        )
        (relation,) = relations(memory, "Sam Berg")
        assert (str(relation), relation.since) == ("Sam Berg --[LIVES_IN]--> Porto", MAY)
        assert source in relation.evidence

    check(memory)
    enrol(memory.handle.space, again=True)
    memory.upkeep.consolidate()
    check(memory)
    dump = io.BytesIO()
    memory.export(dump)
    (tmp_path / "dump.jsonl").write_bytes(dump.getvalue())
    with recollect.open(tmp_path / "other.db", durable=False, background=False) as other:
        other.import_file(tmp_path / "dump.jsonl")
        other.upkeep.consolidate()
        check(other)


def test_it_moves_with_the_messages_that_it_was_drawn_from(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db", namespace="home/a", durable=False, background=False) as one:
        source = tell(one, "Sam is in Porto these days.")
        one.knowledge.add_relationship("Sam", "Porto", "LIVES_IN", sources=[source])
        Removal(one.handle).move(["c2020"], to="home/b")
        assert "porto" not in everything(one)
        with one.beside("home/b") as other:
            other.upkeep.consolidate()
            assert shown(other, "Sam") == ["Sam --[LIVES_IN]--> Porto"]


# --- forgetting -------------------------------------------------------------------------------------------------------
def test_a_forgotten_entity_leaves_no_word(memory: Memory) -> None:
    memory.knowledge.add_entity("Zxcanary", "person")
    memory.knowledge.forget_entity("Zxcanary")
    assert "zxcanary" not in everything(memory)
    with pytest.raises(NotFound):
        memory.knowledge.entity("Zxcanary")
    assert memory.knowledge.add_entity("Zxcanary", "animal").type == "animal"


def test_relationships_that_were_only_added_go_with_their_entity(memory: Memory) -> None:
    tell(memory, "Sam Berg lives in Leeds.")
    memory.knowledge.add_relationship("Sam Berg", "Bosch", "WORKS_AT")
    memory.knowledge.forget_entity("Bosch")
    assert shown(memory, "Sam Berg", past=True) == ["Sam Berg --[LIVES_IN]--> Leeds"]
    assert [fact.attribute for fact in memory.facts("Sam Berg")] == ["home"]


def test_relationships_that_were_only_added_leave_no_word_with_their_entity(memory: Memory) -> None:
    memory.knowledge.add_entity("Sam Berg", "person")
    memory.knowledge.add_relationship("Sam Berg", "Leeds", "LIVES_IN")
    memory.knowledge.add_relationship("Sam Berg", "Porto", "LIVES_IN", since=MAY)
    memory.knowledge.add_relationship("Ana", "Sam Berg", "KNOWS")
    edited = memory.knowledge.add_relationship("Sam Berg", "Jazz", "LIKES")
    memory.knowledge.edit_fact(edited.fact or "", value="Fado")
    memory.knowledge.merge_entities("Ana", "Porto")
    memory.knowledge.forget_entity("Sam Berg")
    assert not any(word in everything(memory) for word in ("sam berg", "likes fado"))
    dump = io.BytesIO()
    memory.export(dump)
    assert b"Sam Berg" not in dump.getvalue()
    assert memory.upkeep.check() == []
    memory.knowledge.add_relationship("Sam Berg", "Porto", "LIVES_IN")
    assert shown(memory, "Sam Berg", past=True) == ["Sam Berg --[LIVES_IN]--> Porto"]


def test_an_entity_lasts_as_long_as_what_was_added_of_it(memory: Memory) -> None:
    first, second = tell(memory, "He moved.", 2020), tell(memory, "It is by the sea.", 2021)
    memory.knowledge.add_relationship("Zxcanary", "Porto", "LIVES_IN", sources=[first])
    memory.knowledge.add_relationship("Zxcanary", "Ana", "KNOWS", sources=[second])
    memory.knowledge.add_entity("Bosch", sources=[first])
    memory.knowledge.add_relationship("Bosch", "Robert", "OWNED_BY")
    memory.forget(first)
    assert shown(memory, "Zxcanary") == ["Zxcanary --[KNOWS]--> Ana"]
    assert shown(memory, "Bosch") == ["Bosch --[OWNED_BY]--> Robert"]
    memory.forget(second)
    assert "zxcanary" not in everything(memory)
    assert shown(memory, "Bosch") == ["Bosch --[OWNED_BY]--> Robert"]


def test_a_relationship_that_is_corrected_relates_what_it_says_then(memory: Memory) -> None:
    source = tell(memory, "He moved.")
    added = memory.knowledge.add_relationship("Sam Berg", "Leeds", "LIVES_IN", sources=[source])
    memory.knowledge.edit_fact(added.fact or "", value="Zxcanary")
    assert shown(memory, "Sam Berg") == ["Sam Berg --[LIVES_IN]--> Zxcanary"]
    assert memory.knowledge.entity("Zxcanary").type == "place"
    assert (
        str(memory.knowledge.add_relationship("Sam Berg", "Leeds", "LIVES_IN")) == "Sam Berg --[LIVES_IN]--> Zxcanary"
    )
    memory.forget(source)
    assert "zxcanary" not in everything(memory)
    assert shown(memory, "Sam Berg") == ["Sam Berg --[LIVES_IN]--> Leeds"]


def test_two_names_of_one_entity_are_not_related(memory: Memory) -> None:
    memory.knowledge.add_entity("Sam Berg", "person")
    memory.knowledge.add_entity("Sammy", "person")
    memory.knowledge.merge_entities("Sammy", "Sam Berg")
    with pytest.raises(InvalidInput):
        memory.knowledge.add_relationship("Sammy", "Sam Berg", "KNOWS")
    assert memory.facts() == []


def test_what_ended_as_it_began_is_past(memory: Memory) -> None:
    assert not memory.knowledge.add_relationship("Sam", "Porto", "LIVES_IN", since=MAY, until=MAY).current


@pytest.mark.parametrize("mentioned", [False, True])
def test_who_was_renamed_is_related_by_either_name(memory: Memory, mentioned: bool) -> None:
    if mentioned:
        tell(memory, "I met Sam Berg yesterday.")
    memory.knowledge.add_relationship("Sam Berg", "Leeds", "LIVES_IN")
    memory.knowledge.edit_entity("Sam Berg", "Xaver Quist")
    memory.knowledge.edit_entity("Leeds", "Old Leeds")
    assert (
        str(memory.knowledge.add_relationship("Xaver Quist", "Porto", "LIVES_IN"))
        == "Xaver Quist --[LIVES_IN]--> Porto"
    )
    assert str(memory.knowledge.add_relationship("Ana", "Old Leeds", "LIVES_IN")) == "Ana --[LIVES_IN]--> Old Leeds"
    assert shown(memory, "Xaver Quist") == ["Xaver Quist --[LIVES_IN]--> Porto"]
    memory.knowledge.forget_entity("Xaver Quist")
    assert mentioned or "sam berg" not in everything(memory)


def test_what_was_added_goes_with_the_last_message_that_it_was_drawn_from(memory: Memory) -> None:
    tell(memory, "Sam Berg lives in Leeds.", 2019)
    first, second = tell(memory, "He moved.", 2020), tell(memory, "It is by the sea.", 2021)
    memory.knowledge.add_entity("Zxcanary", sources=[first, second])
    memory.knowledge.add_relationship("Sam Berg", "Zxcanary Bay", "LIVES_IN", sources=[first, second])
    assert memory.forget(first, dry_run=True).derived.get("fact", 0) == 0
    memory.forget(first)
    assert memory.knowledge.entity("Zxcanary").mentions == 0
    assert shown(memory, "Sam Berg") == ["Sam Berg --[LIVES_IN]--> Zxcanary Bay"]
    with memory.handle.space.view() as view:
        assert {edge.target_id for edge in view.edges(None, (ADDED_FROM,))} == {second}
    assert memory.forget(second, dry_run=True).derived["fact"] == 1
    memory.forget(second)
    assert "zxcanary" not in everything(memory)
    assert shown(memory, "Sam Berg", past=True) == ["Sam Berg --[LIVES_IN]--> Leeds"]
    assert relations(memory, "Sam Berg")[0].current
    assert memory.upkeep.check() == []
    path = Path(memory.location)
    memory.close()
    assert b"zxcanary" not in path.read_bytes().lower()


def test_a_forgotten_person_is_in_nothing_that_was_added(memory: Memory) -> None:
    tell(memory, "It rains in Porto.")
    memory.store_message("I am here.", speaker="Zxcanary Berg", conversation_id="p")
    memory.upkeep.consolidate()
    memory.knowledge.add_entity("Zxcanary Berg", "person")
    memory.knowledge.add_relationship("Zxcanary Berg", "Porto", "LIVES_IN")
    memory.forget_person("Zxcanary Berg", mentions=True)
    assert "zxcanary" not in everything(memory)


def test_everything_is_everything(memory: Memory) -> None:
    tell(memory, "It rains in Porto.")
    memory.knowledge.add_relationship("Zxcanary", "Porto", "LIVES_IN")
    memory.forget(everything=True)
    assert memory.entities() == []
    assert "zxcanary" not in everything(memory)
