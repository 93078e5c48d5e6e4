"""[2] Stateful RAG over a graph: each promise with the heading that it stands under.

Elsewhere, in tests/answer/chat: the four parts of the prompt, the turn with its edges, this conversation before the
rest, the graph beside the search, drift, writing behind, and the next turn that sees the last (test_turn.py), a turn
that is whole or not there (test_crash.py), pronouns and two people of one name (test_references.py). The graph as Neo4j
holds it: tests/docs/test_neo4j.py, and test_names.py here.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

import recollect
from recollect.answer.results import ChatAnswer
from recollect.derive.entities.naming import entity_id
from recollect.memory import Memory
from recollect.record import NodeId
from recollect.testing import FakeModel
from tests.seeds.conftest import START, say

ABOUT_X = ["Tell me about Project X", "Project X is a billing service. It uses Kubernetes."]


def targets(memory: Memory, source: str | None, type: str) -> set[str]:
    """What edges of a type lead to."""
    with memory.handle.space.view() as view:
        return {edge.target_id for edge in view.edges([NodeId(source or "")], (type,), "out")}


def test_a_possessive_is_resolved_by_what_was_spoken_of(memory: Memory) -> None:
    """[2] The Achilles' Heel of Standard RAG. The follow-up of the text, and a third one behind it."""
    say(memory, ["Tell me about Kafka.", "Kafka is a distributed log."])
    wanted = "What about Kafka's performance in Europe?"
    assert memory.integration.resolve_references("talk", "What about its performance in Europe?") == wanted


@pytest.mark.parametrize("first", ["Tell me about Project Titan.", ABOUT_X[0]])
def test_a_pronoun_is_resolved_in_a_dialogue_as_people_type_it(on_both: Memory, first: str) -> None:
    """[2] Designing the Conversational Graph Schema; Step 1. "How does it scale?" means what came first."""
    name = "Project Titan" if "Titan" in first else "Project X"
    say(on_both, [first, f"{name} is a billing service. It uses Kubernetes."])
    assert on_both.integration.resolve_references("talk", "How does it scale?") == f"How does {name} scale?"


def test_the_kinds_of_names_in_the_text_are_entities(memory: Memory) -> None:
    """[2] Designing the Conversational Graph Schema. A tool, a project and a file are known by name."""
    say(memory, ["How is Project Titan doing?", "Project Titan runs on Kubernetes, says Q4-2023-report.pdf."])
    memory.upkeep.consolidate()
    assert {"Kubernetes", "Project Titan", "Q4-2023-report.pdf"} <= {entity.name for entity in memory.entities()}


def test_two_turns_are_the_graph_of_the_picture(place: str, home: Path) -> None:
    """[2] Designing the Conversational Graph Schema. The session of the picture: turns in a chain, names mentioned."""
    model = FakeModel(ABOUT_X[1], "It scales using HPA.")
    with recollect.open(place, model=model, background=False) as memory:
        first = memory.chat(None, ABOUT_X[0])
        second = memory.chat(first.conversation_id, "How does it scale?")
        memory.upkeep.consolidate()
        x, kubernetes = entity_id("Project X"), entity_id("Kubernetes")
        turns = memory.conversation(first.conversation_id).turns
        assert [(turn.query_id, turn.response_ids) for turn in turns] == [
            (one.question_id, (one.answer_id,)) for one in (first, second)
        ]
        assert x in targets(memory, first.question_id, "MENTIONS")
        assert {x, kubernetes} <= targets(memory, first.answer_id, "MENTIONS")
        assert x in targets(memory, second.question_id, "MENTIONS")


def of_a_document(memory: Memory, folder: Path) -> ChatAnswer:
    """What a turn says that is answered from a file."""
    path = folder / "titan.md"
    path.write_text("# Project Titan\n\nProject Titan scales with a Horizontal Pod Autoscaler.\n", "utf-8")
    memory.import_documents(path)
    say(memory, ["Tell me about Project Titan.", "It is a billing service."])
    return memory.chat("talk", "How does it scale?")


def test_an_answer_leads_to_the_part_of_the_document_that_it_came_from(place: str, home: Path) -> None:
    """[2] Step 2: Hybrid Context Retrieval; Step 5: Updating the Graph. The edge from an answer to its chunk."""
    model = FakeModel("Project Titan scales with an autoscaler [1].")
    with recollect.open(place, model=model, background=False) as memory:
        answer = of_a_document(memory, home)
        (source,) = [one for one in answer.sources if one.is_used]
        assert "Horizontal Pod Autoscaler" in source.message.content
        assert targets(memory, answer.answer_id, "SOURCED_FROM") == {source.message.id}
        assert memory.conversation("talk").turns[-1].source_chunk_ids == (source.message.id,)
        assert entity_id("Project Titan") in targets(memory, answer.question_id, "MENTIONS")


def test_an_answer_is_stored_without_the_numbers_of_its_sources(home: Path) -> None:
    """[2] Step 5: Updating the Graph. The edge says the source; a number would mean another one in the next turn."""
    model = FakeModel("Project Titan scales with an autoscaler [1].")
    with recollect.open(home / "memory.db", model=model, background=False) as memory:
        of_a_document(memory, home)
        assert memory.conversation("talk").messages[-1].content == "Project Titan scales with an autoscaler."


def test_what_is_named_often_and_lately_is_salient(memory: Memory) -> None:
    """[2] Context Pruning and Summarization: Entity Salience Scoring. Often before once, new before old."""
    lately = ["We use Redis here.", "Fine.", "The cache of Redis is full.", "Yes.", "We run Postgres too.", "Good."]
    say(
        memory, ["We use Kafka here.", "Fine.", "The log of Kafka is full.", "Yes."], "old", START - timedelta(days=700)
    )
    say(memory, lately, "new")
    memory.upkeep.consolidate()
    now = START + timedelta(days=1)
    often, once, old = (memory.knowledge.entity(name).salience(now) for name in ("Redis", "Postgres", "Kafka"))
    assert often > once > old


def test_a_summary_mentions_what_it_is_about(on_both: Memory) -> None:
    """[2] Context Pruning and Summarization: Conversational Summarization. A condensed run is linked to its names."""
    say(
        on_both,
        ["How does Project Titan scale?", "By Kubernetes.", "Who leads Project Titan?", "Dr. Weber leads it."] * 2,
    )
    on_both.upkeep.consolidate()
    (summary,) = on_both.summaries(kind="conversation")
    assert entity_id("Project Titan") in targets(on_both, summary.id, "MENTIONS")


def test_a_question_is_answered_from_a_summary_too(memory: Memory) -> None:
    """[2] Context Pruning and Summarization: Conversational Summarization. Retrieval draws on what was condensed."""
    say(
        memory,
        ["How does Project Titan scale?", "By Kubernetes and HPA.", "Who leads Project Titan?", "Dr. Weber."] * 2,
    )
    memory.upkeep.consolidate()
    (found,) = [hit for hit in memory.search("Who leads Project Titan?").derived if hit.kind == "summary"]
    assert found.level == "conversation"
