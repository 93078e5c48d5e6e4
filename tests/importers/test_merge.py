"""What an import changes in what is stored already."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from recollect.importers.base import DraftCall
from recollect.importers.merge import Plan, plan
from recollect.record import Part, PartKind, Thread, Version
from recollect.store import Stand
from tests.store.builders import START, said, talk, thread

LATER = START + timedelta(days=1)
LONG = "\n\n".join(f"Paragraph {i} speaks of tides and moorings at some length." for i in range(900))


def planned(incoming: Thread, stored: Thread) -> Plan | None:
    return plan(incoming, Stand(1, None), lambda: stored)


def merged(incoming: Thread, stored: Thread) -> Thread:
    made = planned(incoming, stored)
    return made.thread if made else stored


def at(whole: Thread, updated: timedelta) -> Thread:
    return replace(whole, conversation=replace(whole.conversation, updated=START + updated))


def test_what_is_stored_just_so_is_not_even_read() -> None:
    whole = talk("a", "one", "two")
    made = plan(whole, None, lambda: None)
    assert made is not None
    assert plan(whole, Stand(1, made.change.digest), lambda: 1 / 0) is None  # type: ignore[arg-type, return-value]


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
    assert [call.result for call in made.change.tool_calls] == ["high at noon"]
    assert made.fresh == (made.thread.messages[0].id,)
    assert made.change.edited == []


def test_an_older_export_does_not_take_a_result_away() -> None:
    older = called("", timedelta())
    longer = replace(older, messages=(*older.messages, *talk("b", "two").messages))
    union = merged(longer, called("high at noon", timedelta(days=1)))
    assert [call.result for call in union.tool_calls] == ["high at noon"]


def test_the_chunks_of_a_result_that_shrank_go() -> None:
    made = planned(called("short", timedelta(days=1)), called(LONG, timedelta()))
    assert made is not None
    assert made.thread.chunks == ()
