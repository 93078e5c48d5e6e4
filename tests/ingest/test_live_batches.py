"""Several messages at once: they lie as they would one after the other, and all of them are there or none."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import recollect
from recollect.answer.tools.output import count
from recollect.errors import InvalidInput
from recollect.memory import Memory
from recollect.record import Thread
from tests.coherent import assert_coherent
from tests.exports import opened
from tests.properties import examples

NOW = datetime(2025, 3, 1, tzinfo=UTC)
LONG = "\n\n".join(f"Paragraph {i} speaks of tides and moorings at some length." for i in range(600))

#: Role, speaker, and below which message of all: None is the end, else so many back, counted round and round.
steps = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant", "assistant", "system"]),
        st.sampled_from([None, None, "Ana"]),
        st.none() | st.integers(0, 9),
    ),
    min_size=1,
    max_size=12,
)


def mappings(taken: list[tuple[str, str | None, int | None]], first: int = 0) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for number, (role, speaker, back) in enumerate(taken, first):
        parent = f"M{number - 1 - back % number}" if number and back is not None else None
        one = {"content": f"word{number} of the talk", "role": role, "speaker": speaker, "parent_id": parent}
        made.append({**one, "id": f"M{number}", "timestamp": NOW})
    return made


def thread_of(memory: Memory) -> Thread:
    thread = memory.conversation("C")
    return replace(thread, conversation=replace(thread.conversation, created=None, updated=None))


@settings(max_examples=examples(15))
@given(taken=steps, cut=st.integers(0, 11))
@example(taken=[("user", None, None), ("assistant", None, None), ("user", None, 1), ("assistant", None, 0)], cut=1)
@example(taken=[("user", None, None), *[("assistant", None, 0)] * 5, ("user", None, 4)], cut=3)
def test_a_batch_is_as_one_after_the_other(taken: list[tuple[str, str | None, int | None]], cut: int) -> None:
    given = mappings(taken)
    with (
        tempfile.TemporaryDirectory() as folder,
        opened(Path(folder) / "a.db") as one,
        opened(Path(folder) / "b.db") as all_,
    ):
        for message in given:
            one.store_message(**message, conversation_id="C", title="Talk")
        for some in (given[:cut], given[cut:]):
            stored = all_.store_messages(some, conversation_id="C", title="Talk")
            assert [message.id for message in stored] == [message["id"] for message in some]
        assert thread_of(all_) == thread_of(one)
        assert_coherent(all_)
        assert all_.store_messages(given, conversation_id="C") == one.messages([m["id"] for m in given])  # again


def test_all_are_there_or_none(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        first = memory.store_message("The first.", title="Talk")
        for bad, told in [
            ([{"content": "Fine."}, {"content": " "}], "the content is empty"),
            ([{"content": "Fine."}, {"content": "x", "role": "zebra"}], "'zebra' is no role"),
            ([{"content": "Fine."}, {"content": "x", "colour": "red"}], "Message 1: colour missing or unknown"),
            ([{"content": "Fine."}, {"role": "user"}], "Message 1: content missing or unknown"),
            ([{"content": "Fine.", "id": "A"}, {"content": "x", "id": "A"}], "already belongs"),
            ([{"content": "Fine."}, {"content": "x", "parent_id": "nowhere"}], "has no message nowhere"),
        ]:
            with pytest.raises(recollect.RecollectError, match=told):
                memory.store_messages(bad, conversation_id=first.conversation_id)
        assert memory.upkeep.stats().messages == 1
        assert memory.store_messages([]) == []


def test_several_edits_are_as_one_after_the_other(tmp_path: Path) -> None:
    given = mappings([("user", None, None), ("assistant", None, None), ("user", "Ana", None), ("assistant", None, 1)])
    changes = [("M2", "Otters by the weir."), ("M1", LONG), ("M0", given[0]["content"]), ("X0", "Storks, elsewhere.")]
    with opened(tmp_path / "a.db") as one, opened(tmp_path / "b.db") as all_:
        for memory in (one, all_):
            memory.store_messages(given, conversation_id="C", title="Talk")
            memory.store_message("Something elsewhere.", id="X0", conversation_id="X", timestamp=NOW)
            memory.upkeep.consolidate()
        for own, words in changes:
            one.update_message(own, words)
        edited = all_.integration.update_messages({"id": own, "content": words} for own, words in changes)
        assert [message.id for message in edited] == [own for own, _ in changes]
        assert [(m.content, [v.content for v in m.versions]) for m in edited] == [
            (m.content, [v.content for v in m.versions]) for m in one.messages([own for own, _ in changes])
        ]
        assert edited == all_.messages([own for own, _ in changes])
        assert edited[2].versions == ()  # its words are what they were
        assert len(all_.toolbox().get_message_with_chunks("M1")) > 1
        assert all_.search("otters weir", group_by="message")[0].best.message.id == "M2"
        assert all_.search("storks", group_by="message")[0].best.message.id == "X0"
        assert_coherent(all_)
        assert all_.integration.update_messages([]) == []


def test_all_edits_are_made_or_none(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        long = memory.store_message(LONG, title="Tides")
        said = memory.store_message("Where is the key?", conversation_id=long.conversation_id)
        chunk = memory.toolbox().get_message_with_chunks(long.id)[0]
        for bad, told in [
            ({"id": "nowhere", "content": "x"}, "No message has the ID nowhere"),
            ({"id": chunk.id, "content": "x"}, f"is a chunk of {long.id}"),
            ({"id": long.id, "content": " "}, "The new text is empty"),
            ({"id": said.id, "content": "x"}, f"{said.id} is changed twice"),
            ({"id": long.id}, "Change 1: content missing or unknown"),
            ({"id": long.id, "content": "x", "role": "user"}, "Change 1: role missing or unknown"),
        ]:
            with pytest.raises(recollect.RecollectError, match=told):
                memory.integration.update_messages([{"id": said.id, "content": "Who has the key?"}, bad])
        assert memory.messages([said.id]) == [said]


def test_tool_calls_that_a_message_made_at_once(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        asked = memory.store_message("What are wind and swell?", title="Sea")
        calls = memory.integration.store_tool_calls(
            [
                {"name": "wind", "arguments": {"at": "Cascais"}, "result": {"knots": 12}, "metadata": {"ms": 40}},
                {"name": "swell", "arguments": "{}", "result": LONG, "id": "01SWELL"},
            ],
            asked.id,
        )
        assert [call.arguments for call in calls] == ['{"at": "Cascais"}', "{}"]
        assert calls[0].result == '{"knots": 12}'
        assert memory.toolbox().get_tool_calls_by_message(asked.id) == calls
        assert memory.toolbox().get_tool_call("01SWELL").result == LONG
        assert calls[0].metadata == {"ms": 40}
        again = memory.integration.store_tool_calls(
            [{"name": "swell", "arguments": "{}", "result": LONG, "id": "01SWELL"}], asked.id
        )
        assert again == calls[1:]  # the time, too
        assert memory.upkeep.stats().tool_calls == 2
        assert again[0].result == LONG
        with pytest.raises(recollect.InvalidInput, match="Call 0: result missing"):
            memory.integration.store_tool_calls([{"name": "wind", "arguments": ""}], asked.id)
        assert_coherent(memory)


def test_a_reply_goes_where_its_parent_is(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        asked = memory.store_message("Where is the key?")
        answer = memory.store_message("With Ana.", "assistant", parent_id=asked.id)
        assert (answer.conversation_id, answer.parent_id) == (asked.conversation_id, asked.id)
        batch = memory.store_messages([{"content": "Thanks.", "parent_id": answer.id}, {"content": "Bye."}])
        assert {message.conversation_id for message in batch} == {asked.conversation_id}
        with pytest.raises(recollect.NotFound, match="nowhere"):
            memory.store_message("And?", parent_id="nowhere")


def test_a_chunk_is_not_changed_by_itself(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        long = memory.store_message(LONG, title="Tides")
        pieces = memory.toolbox().get_message_with_chunks(long.id)
        assert len(pieces) > 1
        assert all(count(piece.content) == piece.tokens <= 4_000 for piece in pieces)
        for change in (
            lambda: memory.update_message(pieces[0].id, "other words"),
            lambda: memory.delete(pieces[0].id),
            lambda: memory.restore(pieces[0].id),
        ):
            with pytest.raises(recollect.InvalidInput, match=f"is a chunk of {long.id}"):
                change()
        short = memory.update_message(long.id, "Only this is left.")
        assert memory.toolbox().get_message_with_chunks(long.id) == [short]
        with pytest.raises(recollect.NotFound):
            memory.toolbox().get_message_by_id(pieces[0].id)
        again = memory.update_message(long.id, LONG + "\n\nAnd the end.")
        assert memory.toolbox().get_message_with_chunks(long.id)[-1].content.endswith("And the end.")
        assert [version.content for version in again.versions] == [LONG, "Only this is left."]
        assert_coherent(memory)


def test_what_was_handed_out_is_cut_from_an_edit_as_well(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        said = memory.store_message("Where is the key?")
        told = memory.toolbox().call("get_message_by_id", {"id": said.id}).text
        assert memory.update_message(said.id, f"{told}\n\nWhere is the spare key?").content == "Where is the spare key?"


def test_messages_and_their_calls_of_tools_are_written_together(tmp_path: Path) -> None:
    call = {"name": "look", "arguments": '{"in": "Porto"}', "result": "Rain", "id": "K"}
    asked, answer = {"content": "Does it rain?", "id": "Q"}, {"content": "I look.", "role": "assistant", "id": "A"}
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        with pytest.raises(InvalidInput):
            memory.store_messages([asked, {**answer, "tool_calls": [{"name": "look"}]}], conversation_id="C")
        assert memory.upkeep.stats().messages == 0
        for _ in range(2):  # again: nothing comes twice
            stored = memory.store_messages([asked, {**answer, "tool_calls": [call]}], conversation_id="C")
            assert [one.id for one in stored] == ["Q", "A"]
        thread = memory.conversation("C")
        assert [one.content for one in thread.messages] == ["Does it rain?", "I look.", "Rain"]
        assert [(one.id, one.message_id, one.result) for one in memory.integration.tool_calls(["K"])] == [
            ("K", "A", "Rain")
        ]
        assert memory.upkeep.check() == []


def test_a_tool_call_that_is_told_late_leaves_the_conversation_as_it_is(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        asked = memory.store_message("Who guards the bell?", conversation_id="C")
        answer = memory.store_message("The warden does.", "assistant", conversation_id="C")
        call = memory.store_tool_call("look", {}, "The warden's list.", asked.id, id="LOOK")
        again = memory.store_message("And at night?", conversation_id="C")
        assert memory.store_tool_call("look", {}, "The warden's list.", asked.id, id="LOOK") == call
        assert (call.message_id, again.parent_id) == (asked.id, call.result_message_id)
        path = [message for message in memory.conversation("C").messages if message.active]
        assert [message.id for message in path] == [asked.id, answer.id, call.result_message_id, again.id]
