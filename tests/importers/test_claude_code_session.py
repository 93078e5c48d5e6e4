"""The messages of a Claude Code session: lines joined to answers, and whose words they are.

The numbers are the lines of FORMATS.md, "What other readers got wrong".
"""

import json
from typing import Any

import pytest

from recollect.record import Kind, PartKind
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
