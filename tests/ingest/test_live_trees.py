"""Conversations that are written live, as trees: continued, regenerated, taken up at any message, in any order."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import recollect
from recollect.memory import Memory
from recollect.record import Message
from tests.coherent import assert_coherent
from tests.exports import dump_of, file, opened
from tests.properties import examples

#: Who speaks, of what kind, and below which message: None is the end; else so many back, counted round and round.
Step = tuple[str, str, int | None]

steps = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant", "assistant", "tool"]),
        st.sampled_from(["said", "said", "said", "reasoning"]),
        st.none() | st.integers(0, 12),
    ),
    max_size=14,
)


def store(memory: Memory, written: list[Message], step: Step) -> None:
    """Writes a message, or a tool call, and asserts that it went where it was meant to go."""
    role, kind, back = step
    number = len(written)
    below = written[-1 - back % number] if written and back is not None else None
    words = f"word{number} of the talk"
    if role == "tool":
        if written:
            asked = below or written[-1]
            call = memory.store_tool_call("tides", f"argument{number}", words, asked.id)
            written += memory.messages([call.result_message_id or ""])
        return
    before = memory.conversation("C").conversation.leaf_id if written else None
    stored = memory.store_message(
        words, role, kind=kind, conversation_id="C", parent_id=below.id if below else None, title="Talk"
    )
    assert stored.parent_id == (below.id if below else before)
    assert stored.position == number
    assert stored.active
    written.append(stored)


@settings(max_examples=examples(12))
@given(steps)
@example([("user", "said", None), ("assistant", "said", None), ("assistant", "said", 1), ("user", "said", None)])
@example([("user", "said", None), ("assistant", "said", None), ("user", "said", None), ("assistant", "said", 2)])
@example([("user", "said", None), ("tool", "said", 0), ("tool", "said", 1), ("assistant", "said", None)])
@example([("user", "said", None), *[("assistant", "said", None)] * 20, ("user", "said", 3), ("assistant", "said", 20)])
def test_whatever_is_taken_up_again_the_tree_holds_and_every_message_is_found(taken: list[Step]) -> None:
    assert_holds(taken)


@pytest.mark.long
@settings(max_examples=examples(300))
@given(steps)
def test_the_same_for_many_more(taken: list[Step]) -> None:
    assert_holds(taken)


def assert_holds(taken: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "memory.db") as memory:
        written: list[Message] = []
        for step in taken:
            store(memory, written, step)
            if written:
                thread = memory.conversation("C")
                assert [m.id for m in thread.messages] == [m.id for m in written]
                assert thread.conversation.leaf_id == written[-1].id
        assert_coherent(memory)
        if not written:
            return
        dumped = dump_of(memory)
        with opened(Path(folder) / "other.db") as other:  # and it is the same tree where it is read back
            assert other.import_file(file(Path(folder) / "dump.jsonl", dumped)).problems == []
            assert dump_of(other) == dumped
            assert other.upkeep.check() == []


def test_the_path_switches_where_the_old_one_and_the_new_one_part(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        for i in range(60):
            memory.store_message(f"left{i}", "assistant" if i % 2 else "user", conversation_id="C", id=f"L{i}")
        memory.store_message("right0", conversation_id="C", id="R0", parent_id="L1")
        memory.store_message("right1", "assistant", conversation_id="C", id="R1")
        memory.store_message("back", conversation_id="C", id="B", parent_id="L57")
        thread = memory.conversation("C")
        assert [m.id for m in thread.messages if m.active] == [*(f"L{i}" for i in range(58)), "B"]
        memory.store_message("again", conversation_id="C", id="A", parent_id="R1")
        thread = memory.conversation("C")
        assert [m.id for m in thread.messages if m.active] == ["L0", "L1", "R0", "R1", "A"]
        assert_coherent(memory)


def test_what_is_restored_stands_between_its_neighbours_again(home: Path) -> None:
    with recollect.open(home / "memory.db", background=False) as memory:
        for text in ("Where do we moor the boat?", "At the third pier.", "Until when?", "Until October."):
            memory.store_message(text, conversation_id="c")
        before = [hit.to_json() for hit in memory.search("moor the boat", group_by="message", mode="instant")]
        ids = [message.id for message in memory.conversation("c").messages]
        memory.delete(*ids)
        assert not memory.search("moor the boat")
        memory.restore(*ids)
        after = [hit.to_json() for hit in memory.search("moor the boat", group_by="message", mode="instant")]
        assert after == before
