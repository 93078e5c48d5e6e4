"""The messages of a Claude Code session: lines joined to answers, and whose words they are.

The numbers are the lines of FORMATS.md, "What other readers got wrong".
"""

import json
from typing import Any

import pytest

from recollect.importers.base import Entry
from recollect.record import Kind, PartKind, Role, Thread
from tests.importers.sessions_given import SESSION, answer, call, file, line, one, result, told, user


def test_the_lines_of_an_answer_are_one_message_with_all_of_its_calls() -> None:
    """Line 7: one message.id, many lines, one message; the last copy of a block counts."""
    thread = one(
        file(
            user("u1", None, "Look at the tests"),
            answer("a2", "u1", {"type": "thinking", "thinking": "Where are they?"}, id="m"),
            answer("a3", "a2", "I will", id="m"),
            answer("a4", "a3", "I will look.", call("t1", command="ls"), id="m"),
            answer("a5", "a4", "I will look.", call("t1", command="ls -a"), call("t2", command="pwd"), id="m"),
        )
    )
    message = thread.messages[1]
    assert (message.source_id, message.content, message.kind) == ("a2", "I will look.", Kind.SAID)
    assert [(part.kind, part.text) for part in message.parts] == [(PartKind.REASONING, "Where are they?")]
    assert [json.loads(c.arguments)["command"] for c in thread.tool_calls] == ["ls -a", "pwd"]
    assert message.timestamp is not None
    assert message.timestamp.second == 3  # of the words, not of the thinking


def test_several_results_in_one_line_are_messages_of_their_own() -> None:
    thread = one(
        file(
            user("u1", None, "Go"),
            answer("a2", "u1", call("t1"), call("t2")),
            user("r3", "a2", [result("t1", "one"), result("t2", "two"), {"type": "text", "text": "No, stop there"}]),
        )
    )
    assert told(thread)[2:] == [
        ("r3", Kind.TOOL, "one"),
        ("r3#1", Kind.TOOL, "two"),
        ("r3#2", Kind.SAID, "No, stop there"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        "<system-reminder>Mind the style.</system-reminder>",
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>",
        "<local-command-stdout>done</local-command-stdout>",
        "<local-command-caveat>Caveat: The messages below …</local-command-caveat>",
        "<ide_opened_file>The user opened a.py</ide_opened_file>",
        "<task-notification>\n<status>done</status>\n</task-notification>",
        "This session is being continued from a previous conversation that ran out of context.",
        "[Request interrupted by user for tool use]",
        [{"type": "text", "text": "<system-reminder>One.</system-reminder>\n<ide_selection>Two.</ide_selection>"}],
    ],
)
def test_what_was_put_in_for_a_person_was_not_said(content: Any) -> None:
    """Line 5."""
    thread = one(file(user("u1", None, content), user("u2", "u1", "Hello", isMeta=True), user("u3", "u2", "Hello")))
    assert [m.kind for m in thread.messages] == [Kind.CONTEXT, Kind.CONTEXT, Kind.SAID]


def test_a_reminder_around_a_prompt_is_cut_off_and_kept_beside_it() -> None:
    reminder = "<system-reminder>\nMind the style.\n</system-reminder>"
    thread = one(file(user("u1", None, f"{reminder}\n\nWhy does <system-reminder> show up?\n{reminder}")))
    message = thread.messages[0]
    assert (message.content, message.kind) == ("Why does <system-reminder> show up?", Kind.SAID)
    assert message.metadata["context"] == [reminder, reminder]


def test_synthetic_answers_are_context() -> None:
    line = answer("a2", "u1", "API Error: overloaded", message={"model": "<synthetic>"})
    thread = one(file(user("u1", None, "Hi"), line))
    assert (thread.messages[1].kind, thread.messages[1].model) == (Kind.CONTEXT, None)


def test_what_was_typed_while_the_model_worked_was_said() -> None:
    queued = {"type": "queued_command", "prompt": "And the docs, please"}
    line = {"type": "attachment", "uuid": "q3", "parentUuid": "a2", "sessionId": SESSION, "attachment": queued}
    thread = one(file(user("u1", None, "Hi"), answer("a2", "u1", "Yes"), line))
    assert told(thread)[-1] == ("q3", Kind.SAID, "And the docs, please")


def test_values_of_a_wrong_type_are_absent_values() -> None:
    thread = one(
        file(
            user("u1", None, "One"),
            {"type": "assistant", "uuid": "a2", "parentUuid": 7, "sessionId": SESSION, "message": "Two"},
            {"type": ["user"], "uuid": {}, "sessionId": SESSION, "message": None},
            user("u4", "a2", [None, 3, {"type": "text", "text": None}, {"type": "novelty", "text": "Three"}]),
            line("a5", "u4", "assistant", None),
        )
    )
    assert [m.content for m in thread.messages] == ["One", "Two", "Three"]


def test_images_are_named_and_their_bytes_left_out() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    parts = one(file(user("u1", None, [image, image, {"type": "text", "text": "Look"}]))).messages[0].parts
    assert [(part.kind, part.metadata["media_type"], part.text) for part in parts] == [
        (PartKind.ASSET, "image/png", "")
    ] * 2


# The order of a Claude Code session: branches, what is none, and where subagents stand.


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
