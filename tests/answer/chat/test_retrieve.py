"""What answers were drawn from is found again by what they were about, whatever its own words are."""

from __future__ import annotations

from pathlib import Path

import pytest

import recollect
from recollect.answer.results import ChatAnswer
from recollect.memory import Memory
from recollect.testing import FakeModel

RUNBOOK = (
    "Runbook seven: when the queue grows beyond 9000 entries, page the on-call engineer and drain the shards by hand."
)
ASKED = "What should the on-call engineer of Project Helios do when the queue grows and shards drain?"
ANSWERED = "Project Helios keeps a queue; beyond 9000 entries the on-call engineer drains the shards [1]."


def helios() -> FakeModel:
    return FakeModel(ANSWERED, "Fine.")


def drawn_from_a_message(memory: Memory) -> ChatAnswer:
    """An answer about Project Helios, drawn from a message that does not name it, among many others."""
    memory.store_message(RUNBOOK, conversation_id="Runbook", title="Runbook")
    memory.store_message("Noted.", "assistant", conversation_id="Runbook")
    for number in range(12):
        own = f"Fence {number}"
        memory.store_message(f"My neighbour number {number} painted the fence {number * 7} on a sunny day.", title=own)
    return memory.chat(None, ASKED)


def assert_found_again(memory: Memory, first: ChatAnswer) -> None:
    """In the conversation of the answer first of all, in a new one, and by what is related to it."""
    own = memory.chat(first.conversation_id, "Can Project Helios tolerate winter?")
    assert own.sources[0].message.content == RUNBOOK
    assert own.sources[0].score >= 2.0
    elsewhere = memory.chat(None, "Is Project Helios risky?")
    (found,) = [source for source in elsewhere.sources if source.message.content == RUNBOOK]
    assert 1.0 <= found.score < own.sources[0].score
    memory.knowledge.add_relationship(source="Vulcan", relation="RELATED_TO", target="Project Helios")
    related = memory.chat(None, "Is Vulcan asleep?")
    assert RUNBOOK in [source.message.content for source in related.sources]


@pytest.mark.parametrize("derived", [False, True])
def test_a_message_that_an_answer_was_drawn_from_comes_back(tmp_path: Path, derived: bool) -> None:
    with recollect.open(tmp_path / "memory.db", model=helios(), background=False) as memory:
        first = drawn_from_a_message(memory)
        if derived:  # else only the turn says what it mentions
            memory.upkeep.consolidate()
        assert_found_again(memory, first)


def test_much_that_names_it_does_not_push_out_what_answers_were_drawn_from(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", model=helios(), background=False) as memory:
        drawn_from_a_message(memory)
        for number in range(30):
            memory.store_message(f"Project Helios is risky, says auditor {number}.", title=f"Audit {number}")
        memory.upkeep.consolidate()
        sources = memory.chat(None, "Is Project Helios risky?").sources
        assert len(sources) == 8
        assert RUNBOOK in [source.message.content for source in sources]


def test_a_document_that_an_answer_was_drawn_from_comes_back(tmp_path: Path) -> None:
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "runbook.md").write_text(f"# Runbook 7\n\n{RUNBOOK}\n", "utf-8")
    (tmp_path / "kb" / "coffee.md").write_text("# Coffee\n\nThe machine is descaled on Fridays.\n", "utf-8")
    with recollect.open(tmp_path / "memory.db", model=helios(), background=False) as memory:
        memory.import_documents(tmp_path / "kb")
        first = memory.chat(None, ASKED)
        for own in (first.conversation_id, None):
            sources = memory.chat(own, "Can Project Helios tolerate winter?").sources
            assert [source.cited for source in sources if source.cited] == ["runbook.md, Runbook 7"]


def test_what_was_forgotten_or_deleted_does_not_come_back(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", model=helios(), background=False) as memory:
        first = drawn_from_a_message(memory)
        (runbook,) = [source.message.id for source in first.sources if source.is_used]
        memory.delete(runbook)
        own = memory.chat(first.conversation_id, "Can Project Helios tolerate winter?")
        assert RUNBOOK not in [source.message.content for source in own.sources]


def test_an_extract_quotes_what_tells_something(tmp_path: Path) -> None:
    answer = "Project X is a billing platform. It uses Kubernetes."
    model = FakeModel(answer, "Sure.", "Fine.", "Got it.")
    place = tmp_path / "memory.db"
    with recollect.open(place, model=model, background=False) as memory:
        own = memory.chat(None, "Tell me about Project X").conversation_id
        memory.chat(own, "Will Project X be there tomorrow?")
        memory.chat(own, "How does Project X scale?")
        memory.chat(own, "Remind me that Project X has the cost centre 4711.")
    with recollect.open(place, background=False) as memory:
        for asks in (own, None):
            told = memory.chat(asks, "What is Project X?")
            quoted = {source.message.content for source in told.sources if source.is_used}
            assert quoted == {answer, "Remind me that Project X has the cost centre 4711."}
            assert not {"Sure.", "Fine.", "Got it."} & {source.message.content for source in told.sources}


def test_where_nothing_else_is_there_an_extract_quotes_what_was_asked(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        memory.store_message("Tell me all about Project X!", conversation_id="Talk")
        assert "Tell me all about Project X!" in memory.chat(None, "What is Project X?").text
