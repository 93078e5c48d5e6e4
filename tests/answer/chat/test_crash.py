"""A crash at each point of a turn leaves the whole turn or none of it; and so does a writer who comes in between."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.answer.chat.session import Save
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.memory import Handle, Memory
from recollect.record import NodeId, Thread
from tests.answer.chat.parrot import Parrot
from tests.coherent import assert_coherent, assert_tree
from tests.derive.mortal import Killed
from tests.interrupting import Interrupted, Moment, Quick, at_every_moment, opened
from tests.processes import started
from tests.store.builders import embedder

pytestmark = pytest.mark.slow

FIRST, SECOND = "What can Luna not eat?", "Can she have duck with Dr. Weber?"
OWN = NodeId("C")


def prepare(memory: Memory) -> None:
    """A memory that answers, and a first turn."""
    memory.store_message("Luna can't have chicken, says Dr. Weber.", conversation_id="Vet", title="At the vet")
    speaking(memory).chat(OWN, FIRST)


def speaking(memory: Memory) -> Memory:
    """The memory with a model."""
    memory.handle.asked_model = Parrot()
    return memory


def edges(memory: Memory, id: NodeId, type: str) -> int:
    with memory.handle.space.view() as view:
        return len(view.edges([id], (type,), "out"))


def assert_whole(memory: Memory, thread: Thread, turns: int) -> None:
    """So many turns, each with all that belongs to it, and nothing else."""
    assert_tree(thread)
    assert len(thread.messages) == 2 * turns
    assert len(thread.turns) == turns
    assert len(thread.tool_calls) == turns
    for turn in thread.turns:
        (answer,) = turn.response_ids
        assert turn.entities[0] == "Luna"
        assert len(turn.source_chunk_ids) == 1
        assert edges(memory, turn.query_id, "MENTIONS") == len(turn.entities)
        assert edges(memory, answer, "MENTIONS") >= 1
        assert edges(memory, answer, "SOURCED_FROM") == 1
    for message in thread.messages:
        hits = memory.search(f'"{message.content}"', group_by="message", limit=50)
        assert message.id in [found for hit in hits for found in (hit.best.message.id, *hit.best.copies)]
    assert memory.upkeep.check() == []


def killed() -> None:
    raise Killed


@pytest.mark.parametrize("save", ["now", "behind"])
def test_killed_at_any_call_of_the_store_the_turn_is_whole_or_not_there(tmp_path: Path, save: Save) -> None:
    with opened(tmp_path / "memory.db") as memory:
        prepare(memory)
    left, done, at = 0, False, 0
    while not done:
        moment = Moment(at, killed)
        store: Any = SQLiteStore(tmp_path / "memory.db", durable=False)
        dying = Memory(Handle(Interrupted(store, moment), embedder(), model=Parrot(), quality=Quick))  # type: ignore[arg-type]
        try:
            dying.chat(OWN, SECOND, save=save)
            dying.close()
            done = not moment.came
        except Killed:
            store.close()
        with opened(tmp_path / "memory.db") as memory:
            thread = memory.conversation(OWN)
            turns = len(thread.turns)
            assert_whole(memory, thread, turns)
            assert turns == 2 or not done
            left += turns == 1
            done = turns == 2  # what is recorded behind it is no part of the turn
        at += 1 if at < 12 else 3
    assert left > 10


@pytest.mark.parametrize("words", [1, 3, 5, 9])
def test_killed_while_the_model_speaks_nothing_is_there(tmp_path: Path, words: int) -> None:
    with opened(tmp_path / "memory.db") as memory:
        prepare(memory)
        stream = memory.chat_stream(OWN, SECOND)
        for _ in range(words):
            next(stream)
    with opened(tmp_path / "memory.db") as memory:
        assert_whole(memory, memory.conversation(OWN), 1)


def test_a_process_that_is_killed_at_any_moment_leaves_whole_turns(tmp_path: Path) -> None:
    path, chance = tmp_path / "memory.db", random.Random(20250301)
    with recollect.open(path, background=False) as memory:
        prepare(memory)
    seen, told = 1, 0
    for _ in range(5):
        with started("chat", path, OWN) as process:
            assert process.stdout is not None
            for _ in range(chance.randrange(3)):
                told += bool(process.stdout.readline())
            time.sleep(chance.uniform(0.0, 0.4))
            process.kill()
            told += len(process.stdout.read().splitlines())
        with recollect.open(path, background=False) as memory:
            thread = memory.conversation(OWN)
            turns = len(thread.turns)
            assert seen <= turns
            assert turns >= 1 + told  # what was acknowledged is there
            assert_whole(memory, thread, turns)
            seen = turns
    assert seen > 1


def test_a_writer_who_comes_in_between_loses_nothing_and_neither_does_the_turn(tmp_path: Path) -> None:
    for memory in at_every_moment(
        tmp_path,
        prepare,
        lambda memory: speaking(memory).chat(OWN, SECOND),
        lambda other: other.store_message("A word in between.", conversation_id=OWN),
        step=3,
    ):
        contents = [message.content for message in memory.conversation(OWN).messages]
        assert contents.count("A word in between.") == 1
        assert contents.count(SECOND) == 1
        turn = next(turn for turn in memory.conversation(OWN).turns if turn.resolved_query)
        assert turn.resolved_query == "Can Luna have duck with Dr. Weber?"
        assert len(turn.response_ids) == 1
        assert_coherent(memory)
