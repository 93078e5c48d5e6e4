"""What a person corrected of facts and entities goes with its messages: no record keeps their words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollect
from recollect.memory import Memory
from tests.coherent import assert_coherent
from tests.exports import dump_of

NOON = datetime(2025, 3, 1, 12, 0, tzinfo=UTC)
#: Names that stand in the messages alone, or in what was corrected.
WORDS = ("quibblewick", "marzenholt", "tofurkish", "ostrumova")


@pytest.fixture
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    (tmp_path / "store").mkdir()
    own = str(tmp_path / "store" / "memory.db")
    place = own if request.param == "sqlite" else request.getfixturevalue("neo4j_place")
    with recollect.open(place, durable=False, background=False) as memory:
        for own, text in (
            ("q1", "My sister Quibblewick lives in Marzenholt."),
            ("q2", "My sister Quibblewick likes cheese."),
            ("q3", "Quibblewick works at Ostrumova."),
        ):
            memory.store_message(text, conversation_id="gone", id=own, timestamp=NOON)
        memory.store_message("My friend Milos likes otters.", conversation_id="kept", id="k", timestamp=NOON)
        memory.upkeep.consolidate()
        yield memory
        assert_coherent(memory)


CORRECTED: dict[str, Callable[[Memory, str], object]] = {
    "forgotten": lambda memory, fact: memory.knowledge.forget_fact(fact),
    "edited": lambda memory, fact: memory.knowledge.edit_fact(fact, content="Quibblewick eats tofurkish."),
    "pinned": lambda memory, fact: memory.knowledge.pin_fact(fact),
    "undone": lambda memory, fact: (
        memory.knowledge.edit_fact(fact, value="tofurkish"),
        memory.knowledge.undo_fact(fact),
    ),
    "merged": lambda memory, fact: memory.knowledge.merge_facts(fact, memory.facts("Quibblewick")[-1].id),
    "entity": lambda memory, fact: memory.knowledge.edit_entity("Quibblewick", new_name="Tofurkish"),
}
FORGOTTEN: dict[str, Callable[[Memory], object]] = {
    "messages": lambda memory: memory.forget("q1", "q2", "q3"),
    "conversation": lambda memory: memory.forget("gone"),
    "source": lambda memory: memory.forget(sources="recollect"),
    "time": lambda memory: memory.forget(until="2025-03-02"),
    "everything": lambda memory: memory.forget(everything=True),
    "person": lambda memory: memory.forget_person("Quibblewick", mentions=True),
}


PAIRS = [(way, corrected) for way in FORGOTTEN for corrected in CORRECTED]
ENGINES = [
    *(("sqlite", *pair) for pair in PAIRS),
    *(pytest.param("neo4j", *pair, marks=pytest.mark.neo4j) for pair in PAIRS[:: len(CORRECTED) + 1]),  # each once
]


@pytest.mark.parametrize(("memory", "way", "corrected"), ENGINES, indirect=["memory"])
def test_no_record_of_a_correction_keeps_their_words(memory: Memory, tmp_path: Path, corrected: str, way: str) -> None:
    CORRECTED[corrected](memory, memory.facts("Quibblewick")[0].id)
    FORGOTTEN[way](memory)
    for _ in range(2):
        data = {path.name: path.read_bytes().lower() for path in (tmp_path / "store").rglob("*") if path.is_file()}
        data["dump"] = dump_of(memory).lower()
        assert [(name, word) for name, held in data.items() for word in WORDS if word.encode() in held] == []
        memory.upkeep.consolidate()
