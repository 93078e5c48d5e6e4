"""The conversation task: what is new goes through the derivers once, and nothing is lost or done twice."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

import recollect
from recollect.derive.tasks.base import STALE, Effects, Portion, Setting, retired
from recollect.derive.tasks.conversation import ConversationWork
from recollect.derive.tasks.queue import CONVERSATION, enrol
from recollect.memory import Memory
from recollect.record import Edge, Message, Node, NodeKind, stable_id
from recollect.store import Change, Space, View, Where
from tests.exports import embedder

SETTING = Setting(now=datetime(2025, 3, 1, tzinfo=UTC))
EMBEDDER = embedder()


class Echo:
    """One node for each message; its state counts the messages."""

    name = "echo"

    def __init__(self, version: int = 1) -> None:
        self.version = version
        self.portions: list[Portion] = []

    def derive(self, view: View, portions: Sequence[Portion], setting: Setting) -> Effects:
        self.portions += portions
        put, edges, states = [], [], {}
        for portion in portions:
            gone = [stable_id("echo", i) for i in portion.gone]
            put += [retired(node) for node in view.get(Node, gone)]
            for message in portion.messages:
                own = stable_id("echo", message.id)
                put.append(Node(own, NodeKind.SUMMARY, text=message.content, conversation_id=portion.conversation.id))
                edges.append(Edge(own, "COVERS", message.id))
            states[portion.conversation.id] = {"seen": portion.state.get("seen", 0) + len(portion.messages)}
        return Effects(put=put, edges=edges, states=states)


def space_of(memory: Memory) -> Space:
    return memory.handle.space


def drain(memory: Memory, deriver: Echo) -> int:
    space = space_of(memory)
    leases = space.claim("w", [CONVERSATION], 100, timedelta(minutes=5))
    return ConversationWork(space, [deriver], EMBEDDER).run(leases, SETTING)


def echoes(memory: Memory, state: str = "live") -> list[str]:
    with space_of(memory).view() as view:
        found = view.find(Node, Where(kinds=("summary",), states=(state,), deleted=False), limit=1000).items
    return sorted(node.text for node in found)


def say(memory: Memory, text: str, conversation: str = "c", **more: str) -> Message:
    return memory.store_message(text, conversation_id=conversation, **more)


def test_appended_messages_are_derived_once_with_the_state_that_was_left(memory: Memory) -> None:
    deriver = Echo()
    say(memory, "one")
    say(memory, "two")
    assert drain(memory, deriver) == 2
    assert drain(memory, deriver) == 0
    say(memory, "three", role="assistant")
    assert drain(memory, deriver) == 1
    assert [portion.whole for portion in deriver.portions] == [True, False]
    last = deriver.portions[-1]
    assert ([m.content for m in last.messages], [m.content for m in last.before]) == (["three"], ["one", "two"])
    assert last.state == {"seen": 2}
    assert echoes(memory) == ["one", "three", "two"]


def test_an_edit_makes_stale_at_once_and_is_derived_anew(memory: Memory) -> None:
    deriver = Echo()
    say(memory, "one")
    two = say(memory, "two")
    drain(memory, deriver)
    memory.update_message(two.id, "zwei")
    assert (echoes(memory), echoes(memory, STALE)) == (["one"], ["two"])
    drain(memory, deriver)
    assert deriver.portions[-1].whole
    assert (echoes(memory), echoes(memory, STALE)) == (["one", "zwei"], [])


def test_what_is_deleted_is_gone_and_comes_back_when_it_is_restored(memory: Memory) -> None:
    deriver = Echo()
    say(memory, "one")
    two = say(memory, "two")
    drain(memory, deriver)
    memory.delete(two.id)
    drain(memory, deriver)
    assert deriver.portions[-1].gone == (two.id,)
    assert (echoes(memory), echoes(memory, STALE)) == (["one"], [""])
    memory.restore(two.id)
    drain(memory, deriver)
    assert echoes(memory) == ["one", "two"]


def test_a_branch_derives_the_path_that_is_active_now(memory: Memory) -> None:
    deriver = Echo()
    one = say(memory, "one")
    two = say(memory, "two")
    drain(memory, deriver)
    say(memory, "instead", parent_id=one.id)
    drain(memory, deriver)
    assert deriver.portions[-1].gone == (two.id,)
    assert echoes(memory) == ["instead", "one"]


def test_another_version_of_a_deriver_derives_all_anew(memory: Memory) -> None:
    say(memory, "one")
    drain(memory, Echo())
    say(memory, "two")
    newer = Echo(version=2)
    drain(memory, newer)
    assert newer.portions[0].whole
    assert [m.content for m in newer.portions[0].messages] == ["one", "two"]


def test_what_comes_in_while_it_is_planned_is_planned_again(memory: Memory) -> None:
    class Interrupted(Echo):
        def derive(self, view: View, portions: Sequence[Portion], setting: Setting) -> Effects:
            if len(self.portions) == 0:
                say(memory, "in between")
            return super().derive(view, portions, setting)

    deriver = Interrupted()
    say(memory, "one")
    drain(memory, deriver)
    assert [[m.content for m in portion.messages] for portion in deriver.portions] == [["one"], ["one", "in between"]]
    assert drain(memory, deriver) == 0
    say(memory, "later")
    drain(memory, deriver)
    assert echoes(memory) == ["in between", "later", "one"]


def test_many_conversations_are_one_change(memory: Memory) -> None:
    for number in range(30):
        say(memory, f"number {number}", conversation=f"c{number}")
    deriver = Echo()
    assert drain(memory, deriver) == 30
    assert len(echoes(memory)) == 30
    with space_of(memory).view() as view:
        assert view.tasks("due") == []


@pytest.fixture
def memory(tmp_path: object) -> Memory:
    return recollect.open(f"{tmp_path}/memory.db", durable=False)


def test_erased_conversations_leave_nothing(memory: Memory) -> None:
    deriver = Echo()
    say(memory, "canary", conversation="gone")
    say(memory, "one")
    drain(memory, deriver)
    memory.forget("gone")
    drain(memory, deriver)
    assert echoes(memory) == ["one"]


def test_conversations_from_before_are_enrolled_once_and_all_of_them_on_request(memory: Memory) -> None:
    deriver, space = Echo(), space_of(memory)
    say(memory, "one", conversation="a")
    say(memory, "two", conversation="b")
    space.write(
        Change(leases=space.claim("w", [CONVERSATION], 100, timedelta(minutes=5)))
    )  # as if there never were any
    assert enrol(space) == 2
    assert enrol(space) == 0
    assert drain(memory, deriver) == 2
    assert enrol(space, again=True) == 2
    assert drain(memory, deriver) == 2
    assert [portion.whole for portion in deriver.portions] == [True] * 4
    assert echoes(memory) == ["one", "two"]
