"""Entities, graph and paths as readers get them, and what people correct."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import recollect
from recollect.errors import InvalidInput, NotFound
from recollect.memory import Memory
from recollect.record import Node, NodeKind
from recollect.store import Where
from recollect.store.transfer import every


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = recollect.open(tmp_path / "memory.db", durable=False)
    tell(
        memory,
        "We chose Next.js over React. Next.js improves SEO.",
        "We use NextJS for Tidepool, and Postgres.",
        "PostgreSQL is a database. PostgreSQL runs on Linux.",
        "Dr. Maria Lopez lives in Lisbon.",
        "Maria sent the plan.",
        conversation="a",
    )
    tell(memory, "Kjell Berg bakes in Malmö.", conversation="b")
    return memory


def tell(memory: Memory, *words: str, conversation: str) -> None:
    for said in words:
        memory.store_message(said, conversation_id=conversation)
    memory.upkeep.consolidate()


def aliases(memory: Memory, name: str) -> dict[str, str]:
    return {alias.name: alias.why for alias in memory.knowledge.entity(name).aliases}


def test_spellings_are_one_entity_with_the_reason(memory: Memory) -> None:
    assert memory.knowledge.entity("NextJS") == memory.knowledge.entity("next.js")
    assert aliases(memory, "postgres") == {"Postgres": "a known short form"}
    assert aliases(memory, "Next.js") == {"NextJS": "the same but for signs"}
    assert memory.knowledge.entity("next.js").mentions == 2


def test_a_first_name_is_the_person_whose_full_name_was_just_said(memory: Memory) -> None:
    assert memory.knowledge.entity("Maria").name == "Dr. Maria Lopez"
    assert aliases(memory, "Dr. Maria Lopez") == {"Maria": "said so in 1 message"}
    tell(memory, "Maria Silva came too.", "Then Maria left.", conversation="c")
    assert memory.knowledge.entity("Maria").name == "Maria"  # two are called so: it is left apart


def test_the_graph_has_relations_with_their_evidence(memory: Memory) -> None:
    graph = memory.knowledge.graph("Next.js")
    told = {str(relation): relation for relation in graph.relations}
    assert "Next.js --[IMPROVES]--> SEO" in told
    assert "Next.js --[REPLACES]--> React" in told
    (message,) = memory.messages(told["Next.js --[IMPROVES]--> SEO"].evidence)
    assert "improves SEO" in message.content
    assert {"SEO", "React", "Tidepool"} <= {entity.name for entity in graph.entities}
    assert len(memory.knowledge.graph("Next.js", limit=2).entities) == 2
    assert "Linux" in {entity.name for entity in memory.knowledge.graph("Next.js", depth=3).entities}


def test_paths_are_told_in_words(memory: Memory) -> None:
    assert str(memory.knowledge.paths("Next.js", "SEO")) == "Next.js --[IMPROVES]--> SEO"
    assert str(memory.knowledge.paths("React", "SEO").paths[0]) == "React <--[REPLACES]-- Next.js --[IMPROVES]--> SEO"
    assert "MENTIONED_WITH" in str(memory.knowledge.paths("Tidepool", "database").paths[0])


def test_without_a_path_there_are_neighbours(memory: Memory) -> None:
    paths = memory.knowledge.paths("SEO", "Malmö")
    assert paths.paths == ()
    assert "Next.js --[IMPROVES]--> SEO" in map(str, paths.neighbours)
    assert any("Kjell Berg" in str(relation) for relation in paths.neighbours)


def test_a_name_that_is_not_there_is_answered_with_the_nearest(memory: Memory) -> None:
    with pytest.raises(NotFound, match="Malmö"):
        memory.knowledge.entity("Mallmo")
    with pytest.raises(NotFound, match="No entity"):
        memory.knowledge.graph("Zzzz")


def test_the_salient_come_first(memory: Memory) -> None:
    names = [entity.name for entity in memory.entities()]
    assert names.index("Next.js") < names.index("React")
    assert {entity.type for entity in memory.entities(type="place")} == {"place"}
    memory.knowledge.pin_entity("Lisbon")
    assert memory.entities()[0].name == "Lisbon"


def test_what_a_person_says_outranks_what_is_derived_and_survives(memory: Memory, tmp_path: Path) -> None:
    memory.knowledge.edit_entity("Tidepool", "Tidepool Booking", type="project")
    memory.knowledge.merge_entities("React", "Next.js")
    memory.knowledge.unmerge_entity("Postgres")
    memory.knowledge.forget_entity("Linux")
    memory.knowledge.pin_entity("Malmö")

    def check(memory: Memory) -> None:
        tidepool = memory.knowledge.entity("tidepool")
        assert (tidepool.name, tidepool.type, tidepool.by_hand) == ("Tidepool Booking", "project", True)
        assert memory.knowledge.entity("Tidepool Booking").id == tidepool.id
        assert aliases(memory, "react")["React"] == "said by hand"
        assert memory.knowledge.entity("Postgres").id != memory.knowledge.entity("PostgreSQL").id
        assert "Linux" not in {entity.name for entity in memory.entities()}
        assert "Linux" not in str(memory.knowledge.graph("PostgreSQL"))
        with pytest.raises(NotFound):
            memory.knowledge.entity("Linux")
        assert memory.entities()[0].name == "Malmö"

    check(memory)
    dump = io.BytesIO()
    memory.export(dump)
    (tmp_path / "dump.jsonl").write_bytes(dump.getvalue())
    with recollect.open(tmp_path / "other.db", durable=False) as other:
        other.import_file(tmp_path / "dump.jsonl")
        other.upkeep.consolidate()
        check(other)


def test_corrections_can_be_taken_back(memory: Memory) -> None:
    before = {e.name: (e.type, e.mentions, e.aliases) for e in memory.entities()}
    memory.knowledge.edit_entity("Tidepool", "Something", type="product")
    memory.knowledge.merge_entities("React", "Next.js")
    memory.knowledge.unmerge_entity("Postgres")
    memory.knowledge.forget_entity("Linux")
    for name in ("Something", "Linux", "Postgres"):
        memory.knowledge.undo_entity(name)
    memory.knowledge.unmerge_entity("React")
    memory.knowledge.undo_entity("React")
    assert {e.name: (e.type, e.mentions, e.aliases) for e in memory.entities()} == before


def test_corrections_that_mean_nothing_are_refused(memory: Memory) -> None:
    for refused in (
        lambda: memory.knowledge.edit_entity("React"),
        lambda: memory.knowledge.edit_entity("React", " "),
        lambda: memory.knowledge.edit_entity("React", "\0"),
        lambda: memory.knowledge.edit_entity("React", type="machine"),
        lambda: memory.knowledge.merge_entities("Postgres", "PostgreSQL"),
        lambda: memory.knowledge.unmerge_entity("React"),
    ):
        with pytest.raises(InvalidInput):
            refused()


def test_a_name_is_one_line_that_every_store_takes(memory: Memory) -> None:
    assert memory.knowledge.edit_entity("React", "Half \ud83d\0\nof it").name == "Half \ufffd of it"
    assert len(memory.knowledge.edit_entity("React", "x" * 5_000).name) == 300


def test_an_entity_without_mentions_goes_unless_a_person_holds_on_to_it(memory: Memory) -> None:
    memory.knowledge.pin_entity("Kjell Berg")
    memory.delete(*[m.id for m in memory.conversation("b").messages])
    memory.upkeep.consolidate()
    assert (memory.knowledge.entity("Kjell Berg").mentions, memory.knowledge.entity("Kjell Berg").pinned) == (0, True)
    with pytest.raises(NotFound):
        memory.knowledge.entity("Malmö")


@pytest.mark.parametrize("said", ["pinned", "named", "typed"])
def test_what_is_said_of_an_entity_goes_with_the_last_message_that_is_forgotten(memory: Memory, said: str) -> None:
    match said:
        case "pinned":
            memory.knowledge.pin_entity("Kjell Berg")
        case "named":
            memory.knowledge.edit_entity("Kjell Berg", "Kjell Zxcanary")
        case "typed":
            memory.knowledge.edit_entity("Kjell Berg", type="project")
    ids = [message.id for message in memory.conversation("b").messages]
    memory.forget(*ids)
    with memory.handle.space.view() as view:
        everything = str(list(every(view, Node))).lower()
    assert "kjell" not in everything
    assert "zxcanary" not in everything
    with pytest.raises(NotFound):
        memory.knowledge.entity("Kjell Berg")
    memory.store_message("Kjell Berg is back from Oslo.", conversation_id="z")
    memory.upkeep.consolidate()
    again = memory.knowledge.entity("Kjell Berg")
    assert (again.name, again.pinned, again.by_hand) == ("Kjell Berg", False, False)


def test_there_are_entities_again_after_everything_was_forgotten(memory: Memory) -> None:
    memory.knowledge.pin_entity("Kjell Berg")
    memory.knowledge.merge_entities("Next.js", "React")
    memory.forget(everything=True)
    assert memory.entities() == []
    tell(memory, "Kjell Berg bakes in Malmö.", conversation="z")
    assert sorted(entity.name for entity in memory.entities()) == ["Kjell Berg", "Malmö"]


def test_a_forgotten_entity_leaves_no_word_in_its_correction(memory: Memory) -> None:
    memory.knowledge.edit_entity("Kjell Berg", "Zxcanary")
    memory.knowledge.forget_entity("Zxcanary")
    with memory.handle.space.view() as view:
        said = list(every(view, Node, Where(kinds=(NodeKind.ENTITY.value,), states=("said",))))
    assert "zxcanary" not in str(said).lower()
    assert "kjell" not in str(said).lower()
