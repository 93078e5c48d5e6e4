"""Forgetting a person: what they said, what is said of them, and what was derived."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollect
from recollect.errors import InvalidInput, NotFound
from recollect.ingest.person import Person
from recollect.memory import Memory
from tests.coherent import assert_coherent
from tests.exports import dump_of, file, messages_of, opened

NOON = datetime(2025, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture(params=["sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    (tmp_path / "store").mkdir()
    own = str(tmp_path / "store" / "memory.db")
    place = own if request.param == "sqlite" else request.getfixturevalue("neo4j_place")
    with recollect.open(place, durable=False, background=False) as memory:
        begin(memory, tmp_path / "recipe.txt")
        yield memory
        assert_coherent(memory)


def begin(memory: Memory, recipe: Path) -> None:
    """Talk with Zsofka, about her, and about others."""
    for own, speaker, text in (
        ("z1", "Zsofka", "I moved to Porto last week."),
        ("a1", "Ana", "How is the flat?"),
        ("m1", "Milos", "I moved to Braga last week."),
        ("z2", "Zsofka", "My landlord keeps the deposit."),
    ):
        memory.store_message(text, speaker=speaker, conversation_id="group", id=own, title="Flats", timestamp=NOON)
    memory.store_message("My friend Zsofka likes herons.", conversation_id="own", id="u1", timestamp=NOON)
    memory.store_message("My friend Zsofka works at the weir.", conversation_id="own", id="u2", timestamp=NOON)
    memory.store_message("My friend Milos likes otters.", conversation_id="own", id="u3", timestamp=NOON)
    memory.store_message("Zsofkafoxes are a kind of fox.", conversation_id="own", id="u4", timestamp=NOON)
    recipe.write_text("Zsofka says: two eggs.")
    memory.import_documents(recipe)
    memory.store_fact("Zsofka is allergic to nuts.", entity="Zsofka", concept="allergy", value="nuts")
    memory.upkeep.consolidate()


def left(memory: Memory) -> set[str]:
    return {message.id for message in messages_of(memory) if message.content}


def titles(memory: Memory) -> set[str]:
    ids = {message.conversation_id for message in messages_of(memory) if message.content}
    return {memory.conversation(own).conversation.title for own in ids}


def files_with(folder: Path, word: str) -> list[str]:
    data = {path.name: path.read_bytes().lower() for path in folder.rglob("*") if path.is_file()}
    word = word.lower()
    return [name for name, held in data.items() if word.encode() in held or word.encode("utf-16-le") in held]


def test_it_shows_first_what_would_go_in_three_groups(memory: Memory) -> None:
    before = dump_of(memory)
    person = memory.forget_person("zsofka", dry_run=True)
    assert person.names[0] == "Zsofka"
    assert [message.id for message in person.said] == ["z1", "z2"]
    assert sorted(message.id for message in person.mentions) == ["u1", "u2"]
    assert [document.title for document in person.documents] == ["recipe.txt"]
    assert person.facts
    assert not person.removed
    assert dump_of(memory) == before


def test_what_others_say_stays_unless_it_is_chosen(memory: Memory) -> None:
    assert memory.forget_person("Zsofka").removed
    assert left(memory) >= {"a1", "u1", "u2", "u3", "u4"}
    assert not left(memory) & {"z1", "z2"}
    assert memory.facts("Zsofka") == []
    assert "Zsofka" not in {entity.name for entity in memory.entities()}
    assert [document.title for document in memory.documents()] == ["recipe.txt"]
    memory.upkeep.consolidate()
    assert memory.facts("Zsofka") == []
    assert memory.facts("Milos") != []


def test_with_what_others_say_no_byte_of_the_name_is_left(memory: Memory, tmp_path: Path) -> None:
    memory.knowledge.pin_fact(memory.facts("Zsofka")[0].id)
    memory.knowledge.pin_entity("Zsofka")
    memory.forget("u4")  # which has these letters, and is not about her
    memory.search("Zsofka")
    memory.forget_person("Zsofka", mentions=True)
    memory.upkeep.consolidate()
    memory.upkeep.maintain()
    assert left(memory) >= {"a1", "u3"}
    assert memory.facts("Milos") != []
    assert files_with(tmp_path / "store", "zsofka") == []
    assert b"zsofka" not in dump_of(memory).lower()
    with pytest.raises(NotFound):
        memory.forget_person("Zsofka")


def test_a_title_that_names_them_is_shown_and_changed_with_what_others_say(memory: Memory, tmp_path: Path) -> None:
    told = [{"role": "user", "content": "Which boots are warm?"}, {"role": "assistant", "content": "Those with wool."}]
    memory.forget("u4")  # which has these letters, and is not about her
    only = [{"role": "user", "content": "Zsofka again."}, {"role": "assistant", "content": "Yes, Zsofka."}]
    talks = [{"id": name, "title": f"Zsofka {name}", "messages": talk} for name, talk in (("boots", told), ("x", only))]
    export = file(tmp_path / "talks.jsonl", "\n".join(map(json.dumps, talks)).encode())
    memory.import_file(export)
    assert set(memory.forget_person("Zsofka", dry_run=True).titles) == {"Zsofka boots", "Zsofka x"}
    memory.forget_person("Zsofka", mentions=True)
    memory.upkeep.consolidate()
    memory.upkeep.maintain()
    assert "Which boots are warm?" in titles(memory)
    assert files_with(tmp_path / "store", "zsofka") == []
    assert b"zsofka" not in dump_of(memory).lower()
    assert memory.search("boots", group_by="message")
    grown = [*told, {"role": "user", "content": "And gloves?"}]
    export = file(
        tmp_path / "more.jsonl", json.dumps({"id": "boots", "title": "Zsofka boots", "messages": grown}).encode()
    )
    memory.import_file(export)
    assert "Zsofka boots" not in titles(memory)
    assert any("gloves" in message.content for message in messages_of(memory))
    memory.import_file(export, again=True)
    assert "Zsofka boots" in titles(memory)


def test_a_title_stays_where_what_others_say_stays(memory: Memory) -> None:
    memory.store_message("Ask her.", conversation_id="t", id="t1", title="About Zsofka", timestamp=NOON)
    memory.forget_person("Zsofka")
    assert memory.conversation("t").conversation.title == "About Zsofka"


def test_importing_again_does_not_bring_them_back(memory: Memory, tmp_path: Path) -> None:
    dump = file(tmp_path / "dump.jsonl", dump_of(memory))
    memory.forget_person("Zsofka", mentions=True)
    memory.import_file(dump)
    assert not left(memory) & {"z1", "z2", "u1", "u2"}


def test_other_names_of_theirs_are_shown_and_meant(memory: Memory) -> None:
    memory.store_message("Sofi sent a card.", conversation_id="own", id="u5", timestamp=NOON)
    memory.store_message("I asked Sofi.", conversation_id="own", id="u6", timestamp=NOON)
    memory.upkeep.consolidate()
    memory.knowledge.merge_entities("Sofi", "Zsofka")
    shown: list[Person] = []

    def disagrees(person: Person) -> bool:
        shown.append(person)
        return False

    memory.forget_person("Sofi", confirm=disagrees)
    assert set(shown[0].names) == {"Zsofka", "Sofi"}
    assert {"u5", "u6", "u1"} <= {message.id for message in shown[0].mentions}


def test_who_does_not_agree_keeps_everything(memory: Memory) -> None:
    before = dump_of(memory)
    assert not memory.forget_person("Zsofka", confirm=lambda _: False).removed
    assert dump_of(memory) == before


def test_a_name_that_nothing_holds_is_not_found(memory: Memory) -> None:
    with pytest.raises(NotFound):
        memory.forget_person("Quentin")
    with pytest.raises(InvalidInput, match="you"):
        memory.forget_person("me")
    with pytest.raises(InvalidInput):
        memory.forget_person("  ")


def test_a_name_counts_before_anything_was_derived(tmp_path: Path) -> None:
    with opened(tmp_path / "other.db") as memory:
        memory.store_message("Ask 鈴木さん about it.", id="m1", conversation_id="c")
        memory.store_message("Ask ANDRÉ about it.", id="m2", conversation_id="c")
        memory.store_tool_call("look", '{"who": "Andre"}', "nothing", "m1")
        assert [m.id for m in memory.forget_person("鈴木", dry_run=True).mentions] == ["m1"]
        assert len(memory.forget_person("André", dry_run=True).mentions) == 2
        memory.forget_person("André", mentions=True)
    assert files_with(tmp_path, "andre") == []
