"""The order of a Claude Code session: branches, what is none, and where subagents stand.

The numbers are the lines of FORMATS.md, "What other readers got wrong".
"""

from typing import Any

import pytest

from recollect.importers.base import Entry
from recollect.record import Kind, Role, Thread
from tests.importers.sessions_given import SESSION, answer, call, file, one, result, user


def test_parallel_calls_are_no_branches_and_results_find_their_calls_in_any_order() -> None:
    thread = one(
        file(
            user("u1", None, "Go"),
            answer("a2", "u1", call("t1"), id="m"),
            answer("a3", "a2", call("t2"), id="m"),
            user("r4", "a3", [result("t2", "second")]),
            user("r5", "a2", [result("t1", [{"type": "text", "text": "first"}])]),
            answer("a6", "r4", "Both are in."),
        )
    )
    results = {m.id: m.content for m in thread.messages if m.role is Role.TOOL}
    assert [results[c.result_message_id or m.id] for m in thread.messages[:1] for c in thread.tool_calls] == [
        "first",
        "second",
    ]
    assert all(message.active for message in thread.messages)
    assert [message.source_id for message in thread.messages] == ["u1", "a2", "r4", "r5", "a6"]


def test_two_prompts_below_one_message_are_branches_and_the_newest_is_active() -> None:
    thread = one(
        file(
            user("u1", None, "First"),
            answer("a2", "u1", "Yes"),
            user("u3", "a2", "Old road"),
            answer("a4", "u3", "Old answer"),
            user("c5", "a2", "<command-name>/model</command-name>"),
            user("u6", "c5", "New road"),
            answer("a7", "u6", "New answer"),
        )
    )
    assert {m.source_id for m in thread.messages if not m.active} == {"u3", "a4"}
    assert [m.source_id for m in thread.messages] == ["u1", "a2", "c5", "u6", "a7", "u3", "a4"]


def test_a_first_prompt_written_anew_is_a_branch_from_the_beginning() -> None:
    thread = one(
        file(
            user("u1", None, "First"),
            answer("a2", "u1", "Yes"),
            user("u3", None, "First, but better"),
            answer("a4", "u3", "Yes!"),
        )
    )
    assert [m.source_id for m in thread.messages if m.active] == ["u3", "a4"]


@pytest.mark.parametrize("parent", ["nowhere", None])
def test_lost_parents_do_not_cut_the_talk(parent: str | None) -> None:
    thread = one(file(user("u1", None, "One"), answer("a2", "u1", "Two"), answer("a3", parent, "Three")))
    assert [(m.source_id, m.active) for m in thread.messages] == [("u1", True), ("a2", True), ("a3", True)]


def test_the_chain_goes_on_through_bookkeeping_and_over_a_compaction() -> None:
    thread = one(
        file(
            user("u1", None, "One"),
            {"type": "progress", "uuid": "p2", "parentUuid": "u1", "sessionId": SESSION},
            answer("a3", "p2", "Two"),
            {
                "type": "system",
                "subtype": "compact_boundary",
                "uuid": "s4",
                "parentUuid": None,
                "logicalParentUuid": "a3",
                "sessionId": SESSION,
                "content": "Conversation compacted",
            },
            user("u5", "s4", "This session is being continued from a previous conversation.", isCompactSummary=True),
            user("u6", "u5", "Three"),
        )
    )
    assert [(m.source_id, m.kind, m.active) for m in thread.messages] == [
        ("u1", Kind.SAID, True),
        ("a3", Kind.SAID, True),
        ("u5", Kind.CONTEXT, True),
        ("u6", Kind.SAID, True),
    ]


class TestSubagents:
    """Line 9: found, and within the session that started them."""

    def main(self, *more: Any) -> Entry:
        return file(
            user("u1", None, "Have it counted"),
            answer("a2", "u1", call("t1", prompt="Count the files")),
            *more,
            user("r8", "a2", [result("t1", "There are 7.")]),
            answer("a9", "r8", "Seven."),
        )

    def talk(self, **more: Any) -> list[Any]:
        more = {"isSidechain": True, **more}
        return [user("s3", None, "Count the files", **more), answer("s4", "s3", "There are 7.", **more)]

    def check(self, thread: Thread) -> None:
        kinds = [(m.source_id, m.kind is Kind.SUBAGENT, m.active) for m in thread.messages]
        assert kinds == [
            ("u1", False, True),
            ("a2", False, True),
            ("s3", True, True),
            ("s4", True, True),
            ("r8", False, True),
            ("a9", False, True),
        ]

    def test_in_a_folder_of_the_session_with_a_note(self) -> None:
        own = f"project/{SESSION}/subagents/agent-x1"
        note = file({"agentType": "Explore", "toolUseId": "t1"}, path=f"{own}.meta.json")
        thread = one(self.main(), file(*self.talk(agentId="x1"), path=f"{own}.jsonl"), note)
        self.check(thread)
        assert thread.messages[2].metadata["agentType"] == "Explore"

    def test_in_an_older_file_beside_found_by_its_prompt(self) -> None:
        self.check(one(self.main(), file(*self.talk(agentId="x1"), path="project/agent-x1.jsonl")))

    def test_within_the_main_file(self) -> None:
        self.check(one(self.main(*self.talk())))

    def test_alone_they_are_one_conversation_in_which_nothing_is_said(self) -> None:
        thread = one(
            file(*self.talk(agentId="x1"), path="project/agent-x1.jsonl"),
            file(user("s5", None, "Wait", agentId="x2"), path="project/agent-x2.jsonl"),
        )
        assert thread.conversation.source_id == SESSION
        assert [m.kind for m in thread.messages] == [Kind.SUBAGENT] * 3

    def test_one_started_by_another_stands_within_it(self) -> None:
        inner = call("t2", prompt="Look")
        outer = [*self.talk(agentId="x1")[:1], answer("s4", "s3", inner, isSidechain=True, agentId="x1")]
        outer.append(user("s7", "s4", [result("t2", "Seen")], isSidechain=True, agentId="x1"))
        nested = file(user("n5", None, "Look", isSidechain=True, agentId="x2"), path="project/agent-x2.jsonl")
        note = file({"toolUseId": "t2"}, path=f"project/{SESSION}/subagents/agent-x2.meta.json")
        thread = one(self.main(), file(*outer, path="project/agent-x1.jsonl"), nested, note)
        assert [m.source_id for m in thread.messages] == ["u1", "a2", "s3", "s4", "n5", "s7", "r8", "a9"]


def test_a_long_session_is_ordered_in_linear_time() -> None:
    lines: list[Any] = [user("u0", None, "Go")]
    lines += [answer(f"a{at}", f"{'ua'[at > 1]}{at - 1}", call(f"t{at}")) for at in range(1, 6000)]
    assert len(one(file(*lines)).messages) == 6000
