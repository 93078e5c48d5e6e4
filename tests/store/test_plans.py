"""What both engines do alike: putting records, and the user ids that namespaces of 0.2.0 were made of."""

from __future__ import annotations

import re

import pytest

from recollect.engines.plans import There, put_plan, refuse_stale, renamed, user_of
from recollect.errors import StoreError
from recollect.record import Chunk, Conversation, Message, Namespace, NodeId, Role, ToolCall, namespace_part, stable_id
from recollect.store import Change, Mark, Stale

TALK = Conversation(NodeId("c"), "claude")
QUESTION = Message(NodeId("m"), TALK.id, Role.USER, "Where is the key?", position=0)
CALL = ToolCall(NodeId("t"), QUESTION.id, TALK.id, "look", "{}", "Below the mat.")
PIECE = Chunk(NodeId("k"), CALL.id, 0, 0, 5, 1)
THERE = {(Conversation, TALK.id): There(False, TALK.id, 0), (Message, QUESTION.id): There(True, TALK.id, 0)}


def test_what_was_erased_is_put_by_nothing_but_a_change_that_revives_it() -> None:
    given = [PIECE, CALL, QUESTION]
    kept = put_plan(Change(put=given), lambda kind, id_: THERE.get((kind, id_)))
    assert (kept.records, list(kept.touched), kept.parents) == ({}, [TALK.id], [])
    revived = put_plan(Change(put=given, revive=True), lambda kind, id_: THERE.get((kind, id_)))
    assert (revived.of(Message), revived.of(ToolCall), revived.of(Chunk)) == ([QUESTION], [CALL], [PIECE])
    assert set(revived.parents) == {QUESTION.id, CALL.id}


def test_a_record_needs_its_conversation_and_a_message_stays_in_its_place() -> None:
    with pytest.raises(StoreError, match="does not exist"):
        put_plan(Change(put=[QUESTION]), lambda kind, id_: None)
    assert put_plan(Change(put=[QUESTION, TALK]), lambda kind, id_: None).of(Message) == [QUESTION]
    elsewhere = {(Conversation, TALK.id): There(False, TALK.id, 0), (Message, QUESTION.id): There(False, TALK.id, 1)}
    with pytest.raises(StoreError, match="never move"):
        put_plan(Change(put=[QUESTION]), lambda kind, id_: elsewhere.get((kind, id_)))


def test_marks_silence_and_retire_as_records_do() -> None:
    marks = [Mark(ids=[NodeId("a")], deleted=True), Mark(ids=[NodeId("b")], state="superseded")]
    planned = put_plan(Change(mark=marks), lambda kind, id_: None)
    assert (planned.silenced, planned.retired) == ([NodeId("a")], [NodeId("b")])


def test_a_change_that_was_planned_on_another_revision_is_stale() -> None:
    refuse_stale({NodeId("a"): 2, NodeId("new"): 0}, {NodeId("a"): 2}.get)
    with pytest.raises(Stale) as problem:
        refuse_stale({NodeId("a"): 1, NodeId("gone"): 3}, {NodeId("a"): 2}.get)
    assert problem.value.ids == ("a", "gone")


def named_by_0_2_0(user: str) -> str:
    fit = re.sub(r"[^\w.@+-]+", "-", user).strip("-")[:60] or "one"
    return f"user/{fit}" if fit == user else f"user/{fit}-{stable_id('name', user)[-6:].lower()}"


@pytest.mark.parametrize(
    "user",
    ["Anna Smith", "auth0|5f7c8ec7c33c6c004bbafe82", "google-oauth2|ann-marie", "Smith, Anna", "CORP\\anna", "o'brien"],
)
def test_an_id_is_found_by_its_digest(user: str) -> None:
    assert user_of(named_by_0_2_0(user)) == user


@pytest.mark.parametrize(
    "name",
    [
        *("user/mia", "user/customer-104233", "user/big-customer-104233", "project/Anna-Smith-h1g7e6"),
        *map(named_by_0_2_0, ("x" * 70, "a b c d e", "Anna \U0001f43c Smith", "<anna>")),
    ],
)
def test_what_is_not_sure_stays_what_it_is(name: str) -> None:
    assert user_of(name) is None
    assert list(renamed([Namespace(name)])) == []


def test_a_name_that_is_there_already_is_left_alone() -> None:
    before, today = Namespace("user/Anna-Smith-h1g7e6"), Namespace(f"user/{namespace_part('Anna Smith')}")
    assert list(renamed([before, Namespace("default")])) == [(before, today)]
    assert list(renamed([before, today])) == []
