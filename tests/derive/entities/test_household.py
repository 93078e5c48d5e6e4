"""Two pets of one household in one store: nothing of the one is in entities, relations or topics of the other."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect.memory import Memory
from tests.properties import examples

SAYINGS = st.sampled_from(
    [
        "{0} takes Apoquel from Dr. {0} Salgado in Lisbon.",
        "We use {0}Feed for {0}, and it improves digestion.",
        "My vet {0} works at {0} Clinic.",
        "In Lisbon the General {0} Regulation (GR) holds, says {0} Lopez. {0} agrees.",
    ]
)
TALK = st.lists(st.tuples(st.booleans(), SAYINGS), min_size=2, max_size=10)
NAMES = ("Rexzx", "Lunazy")


@settings(max_examples=examples(8), suppress_health_check=list(HealthCheck))
@given(talk=TALK)
def test_nothing_of_one_is_in_the_other(talk: list[tuple[bool, str]]) -> None:
    path = Path(tempfile.mkdtemp()) / "memory.db"
    memories = [recollect.open(path, namespace=f"home/{name}", durable=False) for name in NAMES]
    for number, (second, saying) in enumerate(talk):
        memories[second].store_message(saying.format(NAMES[second]), conversation_id=f"c{number % 2}")
        memories[number % 2].upkeep.consolidate()
    for own, memory in enumerate(memories):
        memory.upkeep.consolidate()
        told = everything(memory)
        assert NAMES[1 - own].lower() not in told.lower()
        if any(second == bool(own) for second, _ in talk):
            assert NAMES[own] in told


def everything(memory: Memory) -> str:
    entities = memory.entities(limit=1000)
    parts: list[object] = [*entities, *memory.topics()]
    parts += [memory.knowledge.graph(entity.name, depth=2) for entity in entities[:3]]
    parts += [s for row in memory.conversations() for s in memory.knowledge.segments(row.conversation.id)]
    parts += [
        memory.knowledge.paths("Lisbon", entity.name)
        for entity in entities[:3]
        if any(e.name == "Lisbon" for e in entities)
    ]
    return "\n".join(map(str, parts))
