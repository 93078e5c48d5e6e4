"""A turn on Neo4j: written whole, seen by the next, gone when it is forgotten."""

from __future__ import annotations

import recollect
from recollect.derive.entities.naming import entity_id
from recollect.record import NodeId
from tests.answer.chat.parrot import Parrot
from tests.answer.chat.test_retrieve import assert_found_again, drawn_from_a_message, helios


def test_a_turn_is_written_and_seen_on_neo4j(neo4j_place: str) -> None:
    with recollect.open(neo4j_place, model=Parrot(), background=False) as memory:
        memory.store_message("Luna can't have chicken, says Dr. Weber.", conversation_id="Vet", title="At the vet")
        first = memory.chat(None, "What can Luna not eat?")
        second = memory.chat(first.conversation_id, "Can she have duck with Dr. Weber?")
        assert second.resolved == "Can Luna have duck with Dr. Weber?"
        thread = memory.conversation(first.conversation_id)
        assert len(thread.messages) == 4
        assert [len(turn.response_ids) for turn in thread.turns] == [1, 1]
        assert thread.turns[1].resolved_query == second.resolved
        with memory.handle.space.view() as view:
            asked, answered = NodeId(second.question_id), NodeId(second.answer_id or "")
            mentions = {edge.target_id for edge in view.edges([asked], ("MENTIONS",), "out")}
            assert {entity_id("Luna"), entity_id("Dr. Weber")} <= mentions
            assert len(view.edges([answered], ("SOURCED_FROM",), "out")) == 1
        newest, before = memory.integration.requests()
        assert (newest.by, newest.message_id) == ("chat", second.question_id)
        assert before.conversation_id == first.conversation_id
        assert before.ids
        memory.upkeep.consolidate()
        assert memory.knowledge.entity("Luna").mentions >= 1
        assert memory.upkeep.check() == []
        memory.forget(first.conversation_id)
        assert memory.integration.requests() == []
        with memory.handle.space.view() as view:
            assert view.edges([asked, answered], ("MENTIONS", "SOURCED_FROM"), "out") == []
        assert memory.upkeep.check() == []


def test_what_answers_were_drawn_from_comes_back_on_neo4j(neo4j_place: str) -> None:
    with recollect.open(neo4j_place, model=helios(), background=False) as memory:
        assert_found_again(memory, drawn_from_a_message(memory))
