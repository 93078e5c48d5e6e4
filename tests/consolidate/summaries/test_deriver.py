"""Summaries of conversations: the same in whatever portions, each message in one L1, nothing left of what is gone."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.memory import Memory
from recollect.record import Message
from tests.consolidate.histories import Clock, broken, derived, opened
from tests.consolidate.summaries.talks import CONVERSATION, cuts, talks


@contextmanager
def memory_of(talk: Sequence[Message], places: Sequence[int]) -> Iterator[Memory]:
    """A memory that got the messages in these portions and consolidated after each."""
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "memory.db", Clock()) as memory:
        for first, last in pairwise(places):
            for one in talk[first:last]:
                store(memory, one)
            memory.consolidate()
        yield memory


def store(memory: Memory, one: Message) -> None:
    memory.store_message(
        one.content,
        one.role,
        conversation_id=CONVERSATION,
        id=one.id,
        speaker=one.speaker,
        timestamp=one.timestamp,
    )


def said(talk: Sequence[Message]) -> list[Message]:
    """Those that say anything: an empty one cannot be stored."""
    return [one for one in talk if one.content.strip()]


@settings(max_examples=8, deadline=None)
@given(st.data())
def test_any_portions_give_the_same_as_all_at_once(data: st.DataObject) -> None:
    talk = said(data.draw(talks(most=50)))
    with memory_of(talk, cuts(data.draw, len(talk))) as memory, memory_of(talk, [0, len(talk)]) as other:
        assert derived(memory) == derived(other)
        assert broken(memory, set()) == []


@settings(max_examples=8, deadline=None)
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
                memory.consolidate()
        memory.consolidate()
        with memory_of(left, [0, len(left)]) as other:
            assert texts(memory) == texts(other)
        gone = {left[n].id for n in data.draw(st.sets(st.integers(0, len(left) - 1), max_size=3))} if left else set()
        if gone:
            memory.delete_message(*gone)
        memory.consolidate()
        assert broken(memory, set()) == []
        covered = {i for summary in memory.summaries() for i in summary.covers}
        assert not covered & gone
        if not any("Zebra" in one.content for one in left if one.id not in gone):
            assert "Zebra" not in "".join(summary.text for summary in memory.summaries())


def texts(memory: Memory) -> list[tuple[object, ...]]:
    return [(s.id, s.kind, s.text, s.covers, dict(s.parts), s.block) for s in memory.summaries()]


@settings(max_examples=8, deadline=None)
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
