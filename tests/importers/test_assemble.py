from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.importers.base import DraftCall, DraftConversation, DraftDocument, DraftMessage, Problems
from recollect.importers.records.assemble import assemble, assemble_document, chunks_of
from recollect.record import DEFAULT_NAMESPACE, Kind, NodeId, Part, PartKind, Role, Thread, stable_id
from recollect.text.clean import CLOSE, OPEN
from tests.importers.given import count_tokens

START = datetime(2026, 3, 1, tzinfo=UTC)


def said(content: str, source_id: str | None = None, parent: str | None = None, **more: Any) -> DraftMessage:
    return DraftMessage(more.pop("role", Role.USER), content, source_id=source_id, parent=parent, **more)


def answer(content: str, source_id: str | None = None, parent: str | None = None, **more: Any) -> DraftMessage:
    return said(content, source_id, parent, role=Role.ASSISTANT, **more)


def thread(*messages: DraftMessage, problems: Problems | None = None, **more: Any) -> Thread:
    draft = DraftConversation(messages, "test", "test.json #0", **{"source_id": "c", **more})
    return assemble(draft, DEFAULT_NAMESPACE, count_tokens=count_tokens, problems=problems)


def contents(made: Thread, *, active: bool | None = None) -> list[str]:
    return [message.content for message in made.messages if active is None or message.active is active]


def parent_words(made: Thread) -> dict[str, str | None]:
    words = {message.id: message.content for message in made.messages}
    return {message.content: words.get(message.parent_id) if message.parent_id else None for message in made.messages}


@st.composite
def wild_trees(draw: st.DrawFn) -> list[DraftMessage]:
    """Messages whose parents may be missing, themselves, later, in circles; some of them joints without words."""
    count = draw(st.integers(0, 25))
    parents = draw(st.lists(st.none() | st.integers(-1, count), min_size=count, max_size=count))
    joints = draw(st.sets(st.integers(0, count)))
    times = draw(st.lists(st.none() | st.integers(0, 5), min_size=count, max_size=count))
    return [
        said(
            "" if at in joints else f"message {at}",
            f"m{at}",
            None if parents[at] is None else f"m{parents[at]}",
            role=draw(st.sampled_from(list(Role))),
            timestamp=None if (second := times[at]) is None else START + timedelta(seconds=second),
        )
        for at in range(count)
    ]


@given(wild_trees(), st.none() | st.integers(0, 30), st.booleans())
def test_any_tree_is_kept_whole_in_a_sound_order(messages: list[DraftMessage], leaf: int | None, linear: bool) -> None:
    made = thread(*messages, leaf=None if leaf is None else f"m{leaf}", linear=linear)

    assert sorted(contents(made)) == sorted(message.content for message in messages if message.content)
    assert [message.position for message in made.messages] == list(range(len(made.messages)))
    place = {message.id: message.position for message in made.messages}
    assert len(place) == len(made.messages)
    for message in made.messages:
        assert message.parent_id is None or place[message.parent_id] < message.position


@given(wild_trees(), st.none() | st.integers(0, 30))
def test_exactly_one_path_from_a_root_to_the_leaf_is_active_and_comes_first(
    messages: list[DraftMessage], leaf: int | None
) -> None:
    made = thread(*messages, leaf=None if leaf is None else f"m{leaf}")

    path = []
    at: NodeId | None = made.conversation.leaf_id
    by_id = {message.id: message for message in made.messages}
    while at is not None:
        path.append(by_id[at])
        at = by_id[at].parent_id
    assert bool(path) == bool(made.messages)
    assert path[::-1] == [message for message in made.messages if message.active]
    assert [message.position for message in path[::-1]] == list(range(len(path)))


@given(wild_trees())
def test_the_same_draft_makes_the_same_thread(messages: list[DraftMessage]) -> None:
    assert thread(*messages) == thread(*messages)


def test_ids_come_from_the_source_and_its_ids() -> None:
    made = thread(said("Hello", "a"), answer("Hi"), linear=True)
    assert made.conversation.id == stable_id("conversation", "test", "c")
    assert made.messages[0].id == stable_id("message", "test", "c", "a")
    assert made.messages[1].id == stable_id("message", "test", "c", "#", 1, "assistant")


def test_a_conversation_without_an_id_is_known_by_its_beginning() -> None:
    first = thread(said("Hello"), answer("Hi"), linear=True, source_id=None)
    longer = thread(said("Hello"), answer("Hi"), said("Bread?"), linear=True, source_id=None)
    other = thread(said("Hello"), answer("Good day"), linear=True, source_id=None)
    assert first.conversation.id == longer.conversation.id != other.conversation.id
    assert first.messages[0].id == longer.messages[0].id


def test_a_long_chain_and_a_wide_fan_are_no_trouble() -> None:
    chain = [said(f"c{at}", f"m{at}", f"m{at - 1}") for at in range(20_000)]
    fan = [said(f"f{at}", f"m{at}", "m0") for at in range(20_000)]
    assert len(contents(thread(*chain), active=True)) == 20_000
    assert contents(thread(*fan), active=True) == ["f0", "f19999"]


def test_the_tree_is_built_from_parents_whatever_their_order() -> None:
    made = thread(answer("B", "b", "a"), said("A", "a"), said("C", "c", "b"))
    assert contents(made) == ["A", "B", "C"]
    assert parent_words(made) == {"A": None, "B": "A", "C": "B"}


def test_a_circle_is_opened_at_its_first_message() -> None:
    made = thread(said("A", "a", "c"), said("B", "b", "a"), said("C", "c", "b"), said("D", "d", "d"))
    assert parent_words(made) == {"A": None, "B": "A", "C": "B", "D": None}


def test_the_newest_leaf_ends_the_active_path_and_of_equals_the_last_given() -> None:
    root = said("A", "a", timestamp=START)
    old = answer("old", "b", "a", timestamp=START + timedelta(minutes=1))
    new = answer("new", "c", "a", timestamp=START + timedelta(minutes=2))
    assert contents(thread(root, new, old), active=True) == ["A", "new"]
    assert contents(thread(root, new, replace(old, timestamp=new.timestamp)), active=True) == ["A", "old"]
    assert contents(thread(root, new, old, leaf="b"), active=True) == ["A", "old"]
    assert contents(thread(root, new, old, leaf="nowhere"), active=True) == ["A", "new"]


def test_all_branches_are_kept_the_active_one_first_the_others_in_the_order_given() -> None:
    made = thread(said("A", "a"), answer("1", "1", "a"), answer("2", "2", "a"), answer("3", "3", "a"), leaf="3")
    assert contents(made) == ["A", "3", "1", "2"]
    assert contents(made, active=False) == ["1", "2"]


def test_orphans_are_roots_and_in_a_tree_not_active() -> None:
    made = thread(said("A", "a"), said("orphan", "o", "gone"), answer("B", "b", "a"), leaf="b")
    assert parent_words(made)["orphan"] is None
    assert contents(made, active=False) == ["orphan"]


def test_in_a_linear_conversation_all_is_active() -> None:
    made = thread(said("A"), answer("B"), said("C"), linear=True)
    assert contents(made, active=True) == ["A", "B", "C"]
    assert made.conversation.leaf_id == made.messages[-1].id


def test_a_joint_is_left_out_and_its_children_hang_on_what_is_above_it() -> None:
    made = thread(said("", "root"), said("A", "a", "root"), said(" \n", "j", "a"), answer("B", "b", "j"), leaf="j")
    assert parent_words(made) == {"A": None, "B": "A"}
    assert contents(made, active=True) == ["A"]


def test_a_message_without_words_but_with_a_part_or_a_call_is_no_joint() -> None:
    made = thread(
        said("", "a", parts=(Part(PartKind.ASSET, "scan.pdf"),)), answer("", "b", "a", calls=(DraftCall("f"),))
    )
    assert len(made.messages) == 2


def test_parents_may_be_named_by_a_key_that_is_not_the_id() -> None:
    made = thread(said("A", "id-a", key="node-1"), answer("B", "id-b", "node-1", key="node-2"), leaf="node-2")
    assert parent_words(made) == {"A": None, "B": "A"}
    assert [message.source_id for message in made.messages] == ["id-a", "id-b"]


def test_of_copies_the_fuller_one_is_kept_at_the_place_of_the_first() -> None:
    made = thread(said("A", "a"), answer("Half", "b", "a"), said("C", "c", "b"), answer("Half and whole", "b", "a"))
    assert contents(made) == ["A", "Half and whole", "C"]
    shrunk = thread(answer("Half and whole", "b"), answer("Half", "b"))
    assert contents(shrunk) == ["Half and whole"]


def test_other_words_under_the_same_id_are_kept_and_told() -> None:
    problems = Problems()
    made = thread(said("A", "a"), said("something else", "a"), linear=True, problems=problems)
    assert contents(made) == ["A", "something else"]
    assert len({message.id for message in made.messages}) == 2
    assert [problem.lost for problem in problems.found] == [False]


def test_one_id_for_every_message_loses_none_and_stays_fast() -> None:
    made = thread(*(said(f"message number {at:05}", "same") for at in range(5_000)), linear=True)
    assert len(made.messages) == len({message.id for message in made.messages}) == 5_000


def test_stores_can_take_every_text() -> None:
    part = Part(PartKind.ATTACHMENT, "n\0", "half \ud800", {"k\0": "\udfff"})
    made = thread(said("a\0b \ud83d", "x", parts=(part,), metadata={"m": ["\0"]}), title="T\0\n  \ud800", linear=True)
    assert made.messages[0].content == "a b \ufffd"
    assert made.messages[0].parts == (Part(PartKind.ATTACHMENT, "n", "half \ufffd", {"k": "\ufffd"}),)
    assert made.messages[0].metadata == {"m": [""]}
    assert made.conversation.title == "T \ufffd"


def test_times_of_the_conversation_fall_back_to_those_of_its_messages() -> None:
    later = START + timedelta(hours=1)
    made = thread(said("B", timestamp=later), said("A", timestamp=START), linear=True)
    assert (made.conversation.created, made.conversation.updated) == (START, later)
    assert thread(said("A")).conversation.created is None


def test_calls_name_the_message_that_holds_their_result_and_no_text_stands_twice() -> None:
    calls = (DraftCall("find", '{"q": 1}', result_of="r"), DraftCall("look", result="inline", result_of="gone"))
    made = thread(
        answer("Looking.", "a", calls=calls, timestamp=START),
        said("found it", "r", "a", role=Role.TOOL, kind=Kind.TOOL),
    )
    find, look = made.tool_calls
    assert (find.result, find.result_message_id) == ("", made.messages[1].id)
    assert (look.result, look.result_message_id) == ("inline", None)
    assert find.message_id == look.message_id == made.messages[0].id
    assert find.timestamp == START


def test_turns_join_each_question_with_its_answers_on_all_branches() -> None:
    made = thread(
        said("instructions", "s", role=Role.SYSTEM, kind=Kind.CONTEXT),
        said("Q1", "q1", "s"),
        answer("A1", "a1", "q1"),
        answer("A1 again", "a1b", "q1"),
        answer("thinking", "t", "a1b", kind=Kind.REASONING),
        answer("A1 more", "a1c", "t"),
        said("Q2", "q2", "a1c"),
    )
    words = {message.id: message.content for message in made.messages}
    turns = [(words[turn.query_id], sorted(words[at] for at in turn.response_ids)) for turn in made.turns]
    assert turns == [("Q1", ["A1", "A1 again", "A1 more"]), ("Q2", [])]
    assert [turn.position for turn in made.turns] == [0, 1]
    assert made.turns[0].id == stable_id("turn", made.turns[0].query_id)


def test_long_messages_parts_and_results_are_cut_in_chunks() -> None:
    long = "Many words in a row. " * 2_000
    part = Part(PartKind.ATTACHMENT, "notes.txt", long)
    made = thread(said(long, "a"), said("short", "b", "a", parts=(part,), calls=(DraftCall("f", result=long),)))
    parents = {(chunk.parent_id, chunk.part) for chunk in made.chunks}
    assert parents == {(made.messages[0].id, -1), (made.messages[1].id, 0), (made.tool_calls[0].id, -1)}
    assert all(chunk.tokens <= 4000 for chunk in made.chunks)
    assert len({chunk.id for chunk in made.chunks}) == len(made.chunks)
    assert list(chunks_of(made.messages[0].id, "short", count_tokens=count_tokens)) == []


def test_the_active_path_comes_first_and_then_what_leads_aside() -> None:
    path = [said(f"m{at}", f"m{at}", f"m{at - 1}") for at in range(12)]
    made = thread(*path, said("aside", "x", "m3"), leaf="m11")
    assert contents(made) == [*(f"m{at}" for at in range(12)), "aside"]
    assert [message.position for message in made.messages] == list(range(13))


def test_our_own_recall_is_cut_from_what_was_said_only() -> None:
    recall = f"{OPEN}>you like tea{CLOSE}"
    made = thread(
        said(f"{recall}\nHello"), said(recall), said(recall, kind=Kind.CONTEXT, role=Role.SYSTEM), linear=True
    )
    assert contents(made) == ["Hello", recall]


def test_names_before_the_words_become_the_speakers_in_a_chat_of_named_people() -> None:
    given_and_wanted = [
        (said("Hello", speaker="Anna"), ("Anna", "Hello")),
        (said("Ben: Hi Anna"), ("Ben", "Hi Anna")),
        (said("Note: tea"), (None, "Note: tea")),
        (said("Anna: Tea?", speaker="user"), ("Anna", "Tea?")),
        (said("Anna: yes", speaker="Ben"), ("Ben", "Anna: yes")),
    ]
    made = thread(*(message for message, _ in given_and_wanted), linear=True)
    assert [(message.speaker, message.content) for message in made.messages] == [
        wanted for _, wanted in given_and_wanted
    ]


@pytest.mark.parametrize("speaker", [None, "user", "Assistant"])
def test_without_named_people_nothing_is_taken_for_a_name(speaker: str | None) -> None:
    made = thread(said("user: hello", speaker=speaker), linear=True)
    assert made.messages[0].content == "user: hello"


def test_a_document_gets_a_deterministic_id() -> None:
    draft = DraftDocument("d1", " Plan\n", "text\0", "test", "test.json", metadata={"kind": "project"})
    made = assemble_document(draft, DEFAULT_NAMESPACE)
    assert (made.id, made.title, made.content) == (stable_id("document", "test", "d1"), "Plan", "text")
