"""What an import changes in what is stored already."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from recollect.importers.base import DraftCall
from recollect.importers.records.merge import MergePlan, plan
from recollect.record import Chunk, Message, NodeId, Part, PartKind, Thread, ToolCall, Turn, Version, path_to
from recollect.record.wire import digest
from recollect.store import Revision
from tests.store.builders import START, branched, said, talk, thread

LATER = START + timedelta(days=1)
LONG = "\n\n".join(f"Paragraph {i} speaks of tides and moorings at some length." for i in range(900))


def planned(incoming: Thread, stored: Thread) -> MergePlan | None:
    return plan(incoming, Revision(1), lambda: stored)


def merged(incoming: Thread, stored: Thread) -> Thread:
    made = planned(incoming, stored)
    return made.thread if made else stored


def at(whole: Thread, updated: timedelta) -> Thread:
    return replace(whole, conversation=replace(whole.conversation, updated=START + updated))


def test_what_is_stored_just_so_is_not_even_read() -> None:
    whole = talk("a", "one", "two")
    made = plan(whole, None, lambda: None)
    assert made is not None
    assert plan(whole, Revision(1, made.digest), lambda: 1 / 0) is None  # type: ignore[arg-type, return-value]


def test_what_was_put_right_here_outlasts_the_next_import() -> None:
    whole = at(talk("a", "one", LONG), timedelta())
    mine = replace(whole.messages[1], content="put right", versions=(Version(LONG, LATER),), tokens=2)
    stored = replace(whole, messages=(whole.messages[0], mine), chunks=())
    longer = at(talk("a", "one", LONG, "three"), timedelta(days=2))
    assert [m.content for m in merged(longer, stored).messages] == ["one", "put right", "three"]
    assert merged(longer, stored).chunks == ()


def test_a_newer_wording_outranks_the_one_from_here_and_keeps_it_in_its_history() -> None:
    whole = at(talk("a", "one"), timedelta())
    mine = replace(whole.messages[0], content="mine", versions=(Version("one", LATER),))
    newer = merged(at(talk("a", "theirs"), timedelta(days=2)), replace(whole, messages=(mine,)))
    assert newer.messages[0].content == "theirs"
    assert [version.content for version in newer.messages[0].versions] == ["one", "mine"]


def test_of_two_histories_both_are_kept() -> None:
    base = at(talk("a", "now"), timedelta())
    here, there = Version("here", START), Version("there", LATER)
    stored = replace(base, messages=(replace(base.messages[0], versions=(here,)),))
    incoming = replace(base, messages=(replace(base.messages[0], versions=(there,)),))
    assert merged(incoming, stored).messages[0].versions == (here, there)


def test_the_active_path_goes_on_where_the_stored_one_does() -> None:
    stored = talk("a", "one", "two", "three", "four")
    shorter = at(talk("a", "one", "two"), timedelta(days=1))
    assert [m.active for m in merged(shorter, stored).messages] == [True] * 4
    assert merged(shorter, stored).conversation.leaf_id == stored.messages[-1].id


def test_an_older_export_brings_no_chunks_of_wordings_that_it_does_not_bring() -> None:
    newer = at(talk("a", "short"), timedelta(days=1))
    older = at(talk("a", LONG, "and more"), timedelta())
    assert older.chunks
    union = merged(older, newer)
    assert [m.content for m in union.messages] == ["short", "and more"]
    assert union.chunks == ()


def test_a_message_of_blanks_with_something_on_it_keeps_its_place() -> None:
    parts = (Part(PartKind.ASSET, "heron.png"),)
    stored = thread("a", [said("one", source_id="1"), said(" \n", source_id="2", parent="1", parts=parts)])
    grown = thread("a", [said("one", source_id="1"), said("other", source_id="3", parent="1", minute=5)], updated=LATER)
    union = merged(grown, stored)
    assert sorted(m.position for m in union.messages) == [0, 1, 2]


def called(result: str, updated: timedelta) -> Thread:
    call = DraftCall("tides", '{"port": "Ostend"}', result)
    return at(thread("a", [said("Let me see.", "assistant", source_id="1", calls=(call,))]), updated)


def test_a_result_that_came_later_makes_its_message_findable_by_it() -> None:
    made = planned(called("high at noon", timedelta(days=1)), called("", timedelta()))
    assert made is not None
    assert [record.result for record in made.put if isinstance(record, ToolCall)] == ["high at noon"]
    assert made.fresh == (made.thread.messages[0].id,)
    assert not [record for record in made.put if isinstance(record, Message)]


def test_an_older_export_does_not_take_a_result_away() -> None:
    older = called("", timedelta())
    longer = replace(older, messages=(*older.messages, *talk("b", "two").messages))
    union = merged(longer, called("high at noon", timedelta(days=1)))
    assert [call.result for call in union.tool_calls] == ["high at noon"]


def test_the_chunks_of_a_result_that_shrank_go() -> None:
    made = planned(called("short", timedelta(days=1)), called(LONG, timedelta()))
    assert made is not None
    assert made.thread.chunks == ()


# --- places: the order of arrival ----------------------------------------------------------------------------------


def tree(*answers: str, leaf: str, day: int) -> Thread:
    """A question with answers; the export was made on some day."""
    drafts = [said(words, "assistant", source_id=words, parent="q", minute=i) for i, words in enumerate(answers, 1)]
    return at(thread("a", [said("Which?", source_id="q"), *drafts], leaf=leaf), timedelta(days=day))


def test_what_is_stored_keeps_its_place_and_what_is_new_comes_after_it() -> None:
    union = merged(tree("first", "second", leaf="second", day=1), tree("first", leaf="first", day=0))
    assert [(m.content, m.position, m.active) for m in union.messages] == [
        ("Which?", 0, True), ("first", 1, False), ("second", 2, True),
    ]  # fmt: skip


def test_a_path_that_moves_is_marked_and_nothing_stored_is_put_again() -> None:
    made = planned(tree("first", "second", leaf="second", day=1), tree("first", leaf="first", day=0))
    assert made is not None
    first = made.thread.messages[1]
    assert [record.content for record in made.put if isinstance(record, Message)] == ["second"]
    assert [(tuple(mark.ids), mark.active) for mark in made.mark] == [((first.id,), False)]
    assert made.fresh == (made.thread.messages[2].id,)
    assert [turn.response_ids for turn in made.put if isinstance(turn, Turn)] == [
        tuple(m.id for m in made.thread.messages[1:])
    ]


def test_a_parent_that_an_export_brings_later_makes_the_answers_below_it_its_own() -> None:
    """Places say nothing of who answers whom: a question may come after its answer."""
    drafts = [
        said("Hm?", source_id="p"),
        said("Which?", source_id="q", parent="p", minute=1),
        said("Rye.", "assistant", source_id="r", parent="q", minute=2),
    ]
    whole = at(thread("a", drafts), timedelta(days=1))
    lone = replace(whole.messages[2], position=0, parent_id=None)
    stored = Thread(replace(whole.conversation, updated=START, leaf_id=lone.id), (lone,))
    union = merged(whole, stored)
    assert [m.content for m in union.messages] == ["Rye.", "Hm?", "Which?"]
    assert [m.position for m in union.messages] == [0, 1, 2]
    by_id = {m.id: m.content for m in union.messages}
    turns = {by_id[turn.query_id]: [by_id[i] for i in turn.response_ids] for turn in union.turns}
    assert turns == {"Hm?": [], "Which?": ["Rye."]}


# --- what was forgotten --------------------------------------------------------------------------------------------


def stripped(whole: Thread, *places: int) -> Thread:
    """The conversation after messages of it were forgotten: nothing is left of them but their places."""
    gone = {whole.messages[place].id for place in places}
    calls = tuple(call for call in whole.tool_calls if call.message_id not in gone)
    return replace(
        whole,
        messages=tuple(
            replace(m, content="", parts=(), metadata={}, versions=(), tokens=0, deleted=True, erased=True)
            if m.id in gone
            else m
            for m in whole.messages
        ),
        tool_calls=calls,
        chunks=tuple(c for c in whole.chunks if c.parent_id not in gone),
    )


def test_a_forgotten_conversation_is_left_alone_unless_it_is_asked_for_again() -> None:
    whole = talk("a", "one", "two")
    forgotten = Thread(replace(whole.conversation, title="", erased=True, deleted=True), stripped(whole, 0, 1).messages)
    assert plan(whole, Revision(3, None, erased=True), lambda: 1 / 0) is None  # type: ignore[arg-type, return-value]
    again = plan(whole, Revision(3, None, erased=True), lambda: forgotten, again=True)
    assert again is not None
    assert [(m.content, m.erased, m.deleted) for m in again.thread.messages] == [
        ("one", False, False), ("two", False, False),
    ]  # fmt: skip
    assert not again.thread.conversation.erased
    assert not again.thread.conversation.deleted
    assert again.thread.conversation.title == "a"
    assert set(again.fresh) == {m.id for m in whole.messages}
    assert again.retitled


def test_a_forgotten_message_stays_away_and_what_is_new_beside_it_comes_in() -> None:
    stored = stripped(at(talk("a", "one", "two"), timedelta()), 1)
    grown = planned(at(talk("a", "one", "two", "three"), timedelta(days=1)), stored)
    assert grown is not None
    assert [m.content for m in grown.thread.messages] == ["one", "", "three"]
    assert grown.thread.messages[1].erased
    assert grown.fresh == (grown.thread.messages[2].id,)
    again = plan(at(talk("a", "one", "two"), timedelta()), Revision(1), lambda: stored, again=True)
    assert again is not None
    assert [m.content for m in again.thread.messages] == ["one", "two"]
    assert again.fresh == (again.thread.messages[1].id,)


def test_tool_calls_and_chunks_of_a_forgotten_message_stay_away_too() -> None:
    whole = called(LONG, timedelta())
    stored = stripped(whole, 0)
    newer = planned(called(LONG + " and more", timedelta(days=1)), stored)
    union = newer.thread if newer else stored
    assert union.tool_calls == union.chunks == ()
    back = plan(whole, Revision(1), lambda: stored, again=True)
    assert back is not None
    assert back.thread.tool_calls == whole.tool_calls
    assert back.thread.chunks == whole.chunks
    assert {c.id for c in back.put if isinstance(c, Chunk)} == {c.id for c in whole.chunks}


def test_merging_twice_changes_nothing_more() -> None:
    older, newer = branched(), at(branched(), timedelta(days=1))
    grown = replace(newer, conversation=replace(newer.conversation, title="Renamed"))
    first = planned(grown, older)
    assert first is not None
    second = planned(grown, first.thread)
    assert second is not None
    assert not second.changes
    assert digest(second.thread) == digest(first.thread)
    parents: dict[NodeId, NodeId | None] = {m.id: m.parent_id for m in first.thread.messages}
    assert [m.id for m in first.thread.messages if m.active] == path_to(first.thread.conversation.leaf_id, parents)
