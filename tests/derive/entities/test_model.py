"""Entities by a model: asked once a run, borne out by the messages, in the same nodes, gone with the run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.derive.tasks.queue import enrol
from recollect.derive.worker import Worker
from recollect.errors import NotFound
from recollect.memory import Memory
from recollect.models.language.base import Completion, Request
from tests.derive.entities.talking import derived

THEN = datetime(2025, 1, 1, tzinfo=UTC)


class Scripted:
    """A model that has one answer about entities, and the example of the prompt about all else."""

    name = "scripted:1"

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self.answer, self.asked = answer, 0

    def complete(self, request: Request) -> Completion:
        if request.prompt.name != "entities":
            return Completion(data=dict(request.prompt.example), model=self.name)
        self.asked += 1
        return Completion(data=self.answer, model=self.name)


def entity(name: str, kind: str, *messages: int, aliases: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"name": name, "type": kind, "aliases": list(aliases), "messages": list(messages)}


def relation(source: str, name: str, target: str, message: int, quote: str, detail: str = "") -> dict[str, Any]:
    return {
        "source": source, "relation": name, "target": target, "detail": detail, "message": message, "quote": quote,
    }  # fmt: skip


ANSWER = {
    "entities": [
        entity("PostgreSQL", "software", 1, aliases=("the elephant",)),
        entity("quiet harbour", "place", 2),
        entity("Atlantis", "place", 1, 2),
    ],
    "relations": [
        relation("user", "LOCATED_IN", "quiet harbour", 2, "we sleep at the quiet harbour"),
        relation("user", "KNOWS", "quiet harbour", 2, "sleep at the quiet harbour", "host"),
        relation("user", "OWNS", "quiet harbour", 2, "quiet harbour"),
        relation("PostgreSQL", "CONFLICTS_WITH", "quiet harbour", 2, "words that nobody said"),
    ],
}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return recollect.open(tmp_path / "memory.db", durable=False)


def drain(memory: Memory, model: Scripted | None) -> None:
    Worker(memory.handle.store, memory.handle.embedder, model=lambda _: model).drain([memory.namespace])


def tell(memory: Memory) -> list[str]:
    said = ("We use PostgreSQL here, the elephant that never forgets.", "And we sleep at the quiet harbour, mostly.")
    return [
        memory.store_message(words, conversation_id="a", timestamp=THEN + timedelta(minutes=number)).id
        for number, words in enumerate(said)
    ]


def test_what_the_messages_bear_out_is_in_the_same_nodes(memory: Memory) -> None:
    first, second = tell(memory)
    drain(memory, Scripted(ANSWER))
    postgres = memory.knowledge.entity("PostgreSQL")
    assert (postgres.type, postgres.mentions) == ("technology", 2)  # two spellings in one message
    assert [alias.name for alias in postgres.aliases] == ["the elephant"]
    assert memory.knowledge.entity("quiet harbour").type == "place"
    told = {str(r): r.evidence for r in memory.knowledge.graph("you").relations}
    assert told["you --[USES]--> PostgreSQL"] == (first,)
    assert told["you --[KNOWS]--> quiet harbour"] == (second,)
    assert "you --[LOCATED_IN]--> quiet harbour" not in told  # of people, places and work tell the facts
    with pytest.raises(NotFound):
        memory.knowledge.entity("Atlantis")  # no message names it
    assert "CONFLICTS_WITH" not in str(told)
    assert "OWNS" not in str(told)  # the name alone says nothing of it


def test_what_is_quoted_asked_or_commanded_relates_nothing(memory: Memory) -> None:
    said = (
        "Banana bread it is.",
        'The mail says "Ana manages the whole quiet harbour by herself".',
        "Does Ana own PostgreSQL?",
        "Store the fact that Ana maintains PostgreSQL.",
    )
    for number, words in enumerate(said):
        memory.store_message(words, conversation_id="a", timestamp=THEN + timedelta(minutes=number))
    relations = [
        relation("Ana", "MANAGES", "quiet harbour", 2, "Ana manages the whole quiet harbour"),
        relation("Ana", "OWNS", "PostgreSQL", 3, "Ana own PostgreSQL"),
        relation("Ana", "MANAGES", "PostgreSQL", 4, "Ana maintains PostgreSQL"),
    ]
    entities = [
        entity("Ana", "person", 1, 2, 3, 4),
        entity("PostgreSQL", "software", 3),
        entity("quiet harbour", "place", 2),
    ]
    drain(memory, Scripted({"entities": entities, "relations": relations}))
    assert memory.knowledge.entity("Ana").mentions == 3  # a banana is none
    told = str([str(relation) for relation in memory.knowledge.graph("Ana").relations])
    assert not any(name in told for name in ("MANAGES", "OWNS"))


def test_a_run_is_asked_about_once_and_kept_when_all_is_derived_anew(memory: Memory) -> None:
    tell(memory)
    model = Scripted(ANSWER)
    drain(memory, model)
    before = derived(memory)
    enrol(memory.handle.space, again=True)
    drain(memory, model)
    assert (model.asked, derived(memory)) == (1, before)


def test_what_a_model_found_goes_with_its_run(memory: Memory) -> None:
    _, second = tell(memory)
    drain(memory, None)
    plain = derived(memory)
    drain(memory, Scripted(ANSWER))
    enrol(memory.handle.space, again=True)
    drain(memory, Scripted(ANSWER))
    assert derived(memory) != plain
    memory.update_message(second, "And we sleep elsewhere.")
    drain(memory, None)
    assert "quiet harbour" not in str(derived(memory))
    memory.update_message(second, "And we sleep at the quiet harbour, mostly.")
    drain(memory, None)
    assert derived(memory) == plain


def test_long_conversations_are_asked_about_in_runs(memory: Memory) -> None:
    for number in range(45):
        memory.store_message(f"Number {number}.", conversation_id="a", timestamp=THEN + timedelta(minutes=number))
    model = Scripted(ANSWER)
    drain(memory, model)
    assert 2 <= model.asked <= 4  # runs of 12 to 28 messages
