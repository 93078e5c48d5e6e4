"""Summaries of conversations: the same in whatever portions, each message in one L1, nothing left of what is gone."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.derive.tasks.queue import due
from recollect.memory import Memory
from recollect.record import Conversation, Message
from recollect.store import Change
from tests.derive.histories import Clock, broken, derived, opened
from tests.derive.summaries.talks import CONVERSATION, cuts, talks
from tests.properties import examples


@contextmanager
def memory_of(talk: Sequence[Message], places: Sequence[int]) -> Iterator[Memory]:
    """A memory that got the messages in these portions and consolidated after each."""
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "memory.db", Clock()) as memory:
        for first, last in pairwise(places):
            for place in range(first, last):
                append(memory, talk, place)
            memory.upkeep.consolidate()
        yield memory


def append(memory: Memory, talk: Sequence[Message], place: int) -> None:
    """Appends one message as live writing does, but for what search needs."""
    above = talk[place - 1].id if place else None
    one = replace(talk[place], position=place, parent_id=above)
    conversation = Conversation(CONVERSATION, "test", leaf_id=one.id)
    memory.handle.space.write(Change(put=[conversation, one], tasks=due([CONVERSATION])))


def said(talk: Sequence[Message]) -> list[Message]:
    """Those that say anything: an empty one cannot be stored."""
    return [one for one in talk if one.content.strip()]


@settings(max_examples=examples(8))
@given(st.data())
def test_any_portions_give_the_same_as_all_at_once(data: st.DataObject) -> None:
    talk = said(data.draw(talks(most=50)))
    with memory_of(talk, cuts(data.draw, len(talk))) as memory, memory_of(talk, [0, len(talk)]) as other:
        assert summed(memory) == summed(other)
        assert broken(memory, set()) == []


@settings(max_examples=examples(8))
@given(st.data())
def test_after_edits_and_deletions_it_is_what_a_new_memory_derives(data: st.DataObject) -> None:
    talk = said(data.draw(talks(most=40)))
    with memory_of(talk, cuts(data.draw, len(talk))) as memory:
        left = list(talk)
        for _ in range(data.draw(st.integers(0, 3)) if talk else 0):
            place = data.draw(st.integers(0, len(left) - 1))
            memory.update_message(left[place].id, "Zebra: Luna weighs 14 kg now.")
            left[place] = replace(left[place], content="Zebra: Luna weighs 14 kg now.")
            if data.draw(st.booleans()):
                memory.upkeep.consolidate()
        memory.upkeep.consolidate()
        with memory_of(left, [0, len(left)]) as other:
            assert texts(memory) == texts(other)
        gone = {left[n].id for n in data.draw(st.sets(st.integers(0, len(left) - 1), max_size=3))} if left else set()
        if gone:
            memory.delete(*gone)
        memory.upkeep.consolidate()
        assert broken(memory, set()) == []
        covered = {i for summary in memory.summaries() for i in summary.covers}
        assert not covered & gone
        if not any("Zebra" in one.content for one in left if one.id not in gone):
            assert "Zebra" not in "".join(summary.text for summary in memory.summaries())


def summed(memory: Memory) -> dict[str, Any]:
    """All summaries but those of topics, which wait until there are enough, with what they cover."""
    found = derived(memory, Clock())
    kinds = ("conversation", "l1", "l2", "segment", "period")
    nodes = {name: node for name, node in found.items() if name.startswith(tuple(f"node summary {k} " for k in kinds))}
    ids = {name.split()[-1] for name in nodes}
    return nodes | {
        name: edge for name, edge in found.items() if name.startswith("edge COVERS") and name.split()[2] in ids
    }


def texts(memory: Memory) -> list[tuple[object, ...]]:
    return [(s.id, s.kind, s.text, s.covers, dict(s.parts), s.block) for s in memory.summaries() if s.kind != "topic"]


@settings(max_examples=examples(8))
@given(talks(most=100))
def test_each_closed_message_is_in_one_l1_and_each_l1_in_at_most_one_l2(talk: list[Message]) -> None:
    talk = said(talk)
    with memory_of(talk, [0, len(talk)]) as memory:
        l1, l2 = memory.summaries(CONVERSATION, "l1"), memory.summaries(CONVERSATION, "l2")
        covered = [i for summary in l1 for i in summary.covers]
        assert covered == [one.id for one in talk[: len(covered)]]
        assert [summary.block for summary in l1] == list(range(len(l1)))
        blocks = Counter(i for summary in l2 for i in summary.covers)
        assert set(blocks.values()) <= {1}
        assert len(l2) == len(l1) // 3
        assert all(len(summary.covers) == 3 for summary in l2)
        conversation = memory.summaries(CONVERSATION, "conversation")
        assert len(conversation) == (len(talk) > 5)
        assert all(summary.covers == tuple(one.id for one in talk) for summary in conversation)
