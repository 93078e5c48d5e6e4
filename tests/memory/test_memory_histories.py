"""Whatever is done to a memory, in whatever order: every invariant holds, and its dump makes an equal memory."""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from recollect.memory import Memory
from recollect.record import Message
from tests.exports import chat, dump_of, export, file, messages_of, node, opened, tree
from tests.properties import examples

WORDS = st.sampled_from(
    ["heron", "otter by the weir", "Where is the belfry?", "I never saw 7 zeppelins.", "x", "\n¡!\n"]
)
LONG = "\n\n".join(f"Paragraph {i} speaks of tides and moorings at some length." for i in range(500))
START = datetime(2025, 3, 1, 12, 0, tzinfo=UTC)


class Histories(RuleBasedStateMachine):
    """One memory, to which everything that the façade can do is done at random."""

    stored = Bundle("stored")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.memory = opened(self.folder / "memory.db")
        self.number = 0

    def teardown(self) -> None:
        try:
            self.carry_over()
        finally:
            self.memory.close()
            shutil.rmtree(self.folder)

    def later(self) -> datetime:
        self.number += 1
        return START + timedelta(hours=self.number)

    @rule(target=stored, words=WORDS)
    def begin(self, words: str) -> Message:
        return self.memory.store_message(words, title=f"Talk {self.number}", timestamp=self.later())

    @rule(
        target=stored, before=stored, words=st.one_of(WORDS, st.just(LONG)), role=st.sampled_from(["user", "assistant"])
    )
    def append(self, before: Message, words: str, role: str) -> Message:
        return self.memory.store_message(words, role, conversation_id=before.conversation_id, timestamp=self.later())

    @rule(target=stored, before=stored, words=WORDS)
    def branch(self, before: Message, words: str) -> Message:
        return self.memory.store_message(
            words, conversation_id=before.conversation_id, parent_id=before.id, timestamp=self.later()
        )

    @rule(asked=stored, words=WORDS)
    def call(self, asked: Message, words: str) -> None:
        self.memory.store_tool_call("tides", words, f"{words} and more", asked.id, timestamp=self.later())

    @rule(message=stored, words=st.one_of(WORDS, st.just(LONG)))
    def edit(self, message: Message, words: str) -> None:
        self.memory.update_message(message.id, words)

    @rule(message=stored)
    def delete(self, message: Message) -> None:
        self.memory.delete(message.id)

    @rule(message=stored)
    def restore(self, message: Message) -> None:
        self.memory.restore(message.id)

    @rule(
        target=stored,
        chats=st.lists(st.lists(WORDS, min_size=1, max_size=4), min_size=1, max_size=3),
        day=st.integers(0, 2),
    )
    def bring_in(self, chats: list[list[str]], day: int) -> MultipleResults[Message]:
        """An export of some day: chats that have grown, been edited or lost messages since another."""
        updated = START.timestamp() + 86_400 * day
        values = [chat(*words, name=f"c{i}", updated=updated) for i, words in enumerate(chats)]
        self.memory.import_file(export(self.folder, values))
        return multiple(*(m for m in messages_of(self.memory) if m.source_id == "c0-0"))  # none: it was deleted

    @rule(answers=st.lists(WORDS, min_size=1, max_size=3), leaf=st.integers(0, 2), day=st.integers(0, 2))
    def bring_in_branches(self, answers: list[str], leaf: int, day: int) -> None:
        nodes = [node(f"a{i}", "q", words, "assistant", minute=i) for i, words in enumerate(answers)]
        conversation = tree(node("q", None, "Which?"), *nodes, name="b", updated=START.timestamp() + 86_400 * day)
        shown = {"current_node": f"a{min(leaf, len(answers) - 1)}"}
        self.memory.import_file(export(self.folder, [{**conversation, **shown}]))

    @rule()
    def bring_in_its_own_dump(self) -> None:
        before = dump_of(self.memory)
        if self.memory.upkeep.stats().conversations:
            self.memory.import_file(file(self.folder / "own.jsonl", before))
            assert dump_of(self.memory) == before

    @rule()
    def make_again(self) -> None:
        self.memory.upkeep.reindex()

    @invariant()
    def everything_holds(self) -> None:
        assert self.memory.upkeep.check() == []

    def carry_over(self) -> None:
        """Into an empty memory, and back from there."""
        dumped = file(self.folder / "dump.jsonl", dump_of(self.memory))
        if not self.memory.upkeep.stats().conversations:
            return
        with opened(self.folder / "other.db") as other:
            assert other.import_file(dumped).problems == []
            assert dump_of(other) == dumped.read_bytes()
            assert other.upkeep.check() == []
            assert found(other) == found(self.memory)


def found(memory: Memory) -> set[tuple[str, str]]:
    """What is found by some words that most messages hold one of."""
    queries = ("heron", "weir", "belfry", "zeppelins", "tides", "moorings")
    hits = (
        (q, hit.best) for q in queries for hit in memory.search(f'"{q}"', group_by="message", kind="all", limit=200)
    )
    return {(query, own) for query, hit in hits if hit.why.words for own in (hit.message.id, *hit.copies)}


def test_whatever_is_done_every_invariant_holds_and_the_dump_makes_an_equal_memory() -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Histories, settings=settings(max_examples=examples(12), stateful_step_count=15)
    )
