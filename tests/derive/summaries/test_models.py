"""Summaries by a model: asked once for the same words, in the place of the extract, the levels one after the other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect.derive.summaries.periods import backlog
from recollect.derive.worker import Worker
from recollect.memory import Memory
from recollect.models.language.base import Completion, ModelRefused, Request
from recollect.store import Change
from tests.derive.histories import Clock, opened
from tests.derive.summaries.talks import START


class Writer:
    """A model that answers as the examples of the prompts do, and remembers what it was asked."""

    name = "writer:1"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.refuses = ""  # messages with this word in them

    def complete(self, request: Request) -> Completion:
        self.asked.append((request.prompt.name, request.text))
        if self.refuses and "] user" in request.text and self.refuses in request.text:
            raise ModelRefused("I would rather not.")
        data: dict[str, Any] = dict(request.prompt.example)
        if "summary" in data:
            data["summary"] = f"Written for {request.prompt.name}."
        return Completion(data=data, model=self.name)

    def kinds(self) -> Counter[str]:
        """How often it was asked for each kind of summary."""
        return Counter(name for name, _ in self.asked if name not in ("facts", "entities"))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    """Six weeks of talk about a dog."""
    with opened(tmp_path / "memory.db", clock) as memory:
        for number in range(62):
            clock.now = START + timedelta(hours=8 * number)
            role = "assistant" if number % 2 else "user"
            words = (
                "Luna is allergic to chicken and zucchini."
                if number == 2
                else f"Luna slept for {number} minutes in the crate."
            )
            memory.store_message(words, role, conversation_id="luna", id=f"m{number}", timestamp=clock.now)
        clock.move(60 * 24 * 60)
        yield memory


def drain(memory: Memory, writer: Writer) -> None:
    Worker(
        memory.handle.store, memory.handle.embedder, model=lambda namespace: writer, clock=memory.handle.clock
    ).drain()


def test_a_model_writes_every_level_once_and_blocks_from_what_it_wrote(memory: Memory) -> None:
    writer = Writer()
    drain(memory, writer)
    found = memory.summaries()
    assert {summary.kind for summary in found} == {"l1", "l2", "conversation", "period"}
    assert not [summary for summary in found if summary.extractive]
    assert all(summary.text == f"Written for {summary.kind}." for summary in found)
    assert all(summary.made_by == f"{summary.kind}/{summary.version} writer:1" for summary in found)
    asked = writer.kinds()
    assert asked["l1"] == len(memory.summaries("luna", "l1"))
    assert asked["l2"] == len(memory.summaries("luna", "l2"))
    assert asked["conversation"] == 1
    blocks = [text for name, text in writer.asked if name == "l2"]  # two calls at once: either may come first
    block = min(blocks, key=lambda text: text.partition("summary L1, ")[2])
    assert "Written for l1." in block
    assert re.search(r"summary L1, 2025-03-03 \d\d:\d\d to 2025-03-\d\d \d\d:\d\d\n", block)
    assert "allergic to chicken" in block  # which stands in the parts alone
    assert "tried: A crate, for a week: Worse" in block
    assert block.index("concerns: ") < block.index("resolved: What to put into the food toy")  # what is open first
    assert memory.summaries("luna", "l2")[0].parts["tried"][0]["outcome"] == "Worse, given up"


@pytest.mark.parametrize("late", [False, True], ids=["from the beginning", "later"])
def test_what_is_made_of_summaries_waits_until_a_model_has_written_these(memory: Memory, late: bool) -> None:
    if late:
        memory.upkeep.consolidate()
    writer = Writer()
    drain(memory, writer)
    [conversation] = [text for name, text in writer.asked if name == "conversation"]
    assert conversation.count("Written for l2.") == len(memory.summaries("luna", "l2"))
    longer = [text for name, text in writer.asked if name == "period" and "] day " in text]
    assert len(longer) == len([one for one in memory.summaries(kind="period") if (one.period or "")[:3] != "day"])
    assert all(text.count("Written for period.") == text.count("] day ") for text in longer)


def test_what_was_given_up_holds_up_nothing_that_is_made_of_it(memory: Memory) -> None:
    refusing = Writer()
    refusing.refuses = "zucchini"
    drain(memory, refusing)
    extracts = [summary for summary in memory.summaries() if summary.extractive]
    assert [summary.kind for summary in extracts] == ["l1", "period"]
    assert refusing.kinds()["conversation"] == 1
    assert all("zucchini" in summary.text for summary in extracts)


def test_what_is_written_stays_until_its_words_change(memory: Memory) -> None:
    drain(memory, Writer())
    memory.update_message("m60", "Luna slept well.")
    writer = Writer()
    drain(memory, writer)
    assert writer.kinds()["conversation"] == 1
    assert writer.kinds()["l1"] <= 1
    assert writer.kinds()["l2"] <= 1
    assert not [summary for summary in memory.summaries() if summary.extractive]
    again = Writer()
    drain(memory, again)
    assert not again.asked


def test_a_model_that_is_set_later_finds_what_rules_have_made(memory: Memory, clock: Clock) -> None:
    memory.upkeep.consolidate()
    extracts = memory.summaries()
    assert all(summary.extractive for summary in extracts)
    with memory.handle.space.view() as view:
        assert {task.subject for task in backlog(view)} == {s.id for s in extracts if s.kind != "l2"}
    drain(memory, Writer())
    assert not [summary for summary in memory.summaries() if summary.extractive]
    memory.store_message("Luna has a new bed.", conversation_id="luna", timestamp=memory.handle.clock())
    memory.upkeep.consolidate()  # without it once more
    assert [summary.kind for summary in memory.summaries() if summary.extractive] == ["conversation"]
    clock.move(60)
    drain(memory, Writer())
    assert not [summary for summary in memory.summaries() if summary.extractive]


def test_a_conversation_that_goes_on_is_not_paid_for_with_every_message(memory: Memory, clock: Clock) -> None:
    drain(memory, Writer())
    writer = Writer()
    for number in range(5):
        clock.move(1)
        memory.store_message(f"And another thing, number {number}.", conversation_id="luna", timestamp=clock())
        drain(memory, writer)
    assert writer.kinds()["conversation"] == 0
    clock.move(20)
    drain(memory, writer)
    assert writer.kinds()["conversation"] == 1


def test_what_is_asked_about_a_deleted_message_is_asked_no_more(memory: Memory) -> None:
    memory.upkeep.consolidate()
    with memory.handle.space.view() as view:
        tasks = list(backlog(view))
    memory.delete("m2")
    memory.handle.space.write(Change(tasks=tasks))
    writer = Writer()
    drain(memory, writer)
    assert not [text for _, text in writer.asked if "zucchini" in text]
    assert "zucchini" not in "".join(str(summary) for summary in memory.summaries() if summary.extractive)
