"""Codex's rollouts: the made fixtures against their truth, foreign ones, and each generation with an input of its own.

The numbers are the lines of FORMATS.md, "What other readers got wrong".
"""

import json
from collections import Counter
from typing import Any

import pytest

from recollect.importers.base import Entry, Problems
from recollect.importers.formats.codex.codex import Codex
from recollect.record import Kind, PartKind, Role, Thread
from tests.importers.given import entry, files, read, truth
from tests.paths import SHARED

MADE = SHARED / "fixtures" / "made"
FOREIGN = SHARED / "fixtures" / "codex"
INJECTED = "<environment_context>\n  <cwd>/src/shop</cwd>\n</environment_context>"

with_fixtures = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared fixtures are not here")


def rollout(*lines: Any, name: str = "rollout.jsonl") -> Entry:
    """A file of wrapped lines; the first is a session's, and each comes a second after the one before."""
    first = wrapped("session_meta", {"id": "s-1", "cwd": "/src/shop", "git": {"branch": "main"}})
    timed = [{"timestamp": f"2026-03-01T10:00:{at:02}Z", **line} for at, line in enumerate([first, *lines])]
    return entry("\n".join(map(json.dumps, timed)), name)


def wrapped(kind: str, payload: Any) -> dict[str, Any]:
    return {"type": kind, "payload": payload}


def message(role: str, *texts: str, **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text} for text in texts], **more}


def said(role: str, *texts: str) -> dict[str, Any]:
    return wrapped("response_item", message(role, *texts))


def event(role: str, text: str) -> dict[str, Any]:
    return wrapped("event_msg", {"type": f"{role}_message", "message": text})


def completed(item: str, text: str) -> dict[str, Any]:
    block = {"type": "Text" if item == "AgentMessage" else "text", "text": text}
    return wrapped("event_msg", {"type": "item_completed", "item": {"type": item, "id": "i", "content": [block]}})


def item(**payload: Any) -> dict[str, Any]:
    return wrapped("response_item", payload)


def one(given: Entry) -> Thread:
    threads, _ = read(Codex(), given)
    assert len(threads) == 1
    return threads[0]


def told(given: Entry) -> list[tuple[str, str, str]]:
    return [(m.role.value, m.kind.value, m.content) for m in one(given).messages]


@with_fixtures
class TestMadeSessions:
    def test_what_was_said_is_in_once_and_nothing_else_was_said(self) -> None:
        """Lines 5 and 8: through 0.98, 0.147 and 0.153, without injected context."""
        threads, _ = read(Codex(), *files(MADE / "codex"))
        found = {thread.conversation.source_id: thread for thread in threads}
        for conversation in truth(MADE / "codex.truth.json"):
            thread = found.pop(conversation["id"])
            spoken = [m for m in thread.messages if m.kind is Kind.SAID]
            assert [(m.role.value, m.content, m.active) for m in spoken] == [
                (expected["role"], expected["text"], expected["active"]) for expected in conversation["messages"]
            ]
            for m, expected in zip(spoken, conversation["messages"], strict=True):
                assert m.timestamp is not None
                assert abs(m.timestamp.timestamp() - expected["time"]) < 0.01
            assert thread.conversation.created is not None
            assert abs(thread.conversation.created.timestamp() - conversation["created"]) < 0.01
        assert not found

    def test_calls_lead_to_their_outputs(self) -> None:
        threads, _ = read(Codex(), *files(MADE / "codex"))
        for thread in threads:
            outputs = {m.id: m.content for m in thread.messages if m.role is Role.TOOL}
            assert thread.tool_calls
            assert {outputs[c.result_message_id or m.id] for m in thread.messages[:1] for c in thread.tool_calls} == {
                "README.md\n"
            }


@with_fixtures
def test_foreign_sessions_are_read_with_sensible_counts() -> None:
    problems = Problems()
    threads, _ = read(Codex(), *files(FOREIGN), problems=problems)
    assert not problems.found
    assert {t.conversation.source_id: Counter(m.kind.value for m in t.messages) for t in threads} == {
        "019f0000-0000-7000-8000-000000000001": {"said": 2, "tool": 1},
        "origin-matrix-codex": {"said": 2},
        None: {"said": 6},
        "sess-codex-001": {"said": 5, "context": 2, "tool": 5},
        "session-codex-001": {"said": 2},
    }


@with_fixtures
def test_other_formats_are_refused() -> None:
    others = [*files(SHARED / "fixtures" / "claude-code"), *files(SHARED / "fixtures" / "cursor")]
    others += [given for folder in MADE.iterdir() if folder.name != "codex" for given in files(folder)]
    assert [given.path for given in others if Codex().recognises(given)] == []


@pytest.mark.parametrize("copy", [event("user", "Hello"), completed("UserMessage", "Hello")])
def test_an_event_beside_a_response_item_is_its_copy_in_either_order(copy: dict[str, Any]) -> None:
    """Line 8: `user_message` to 0.146, `item_completed` from 0.147."""
    assert told(rollout(said("user", "Hello"), copy)) == [("user", "said", "Hello")]
    assert told(rollout(copy, said("user", "Hello"))) == [("user", "said", "Hello")]


@pytest.mark.parametrize("only", [said("user", "Hello"), event("user", "Hello"), completed("UserMessage", "Hello")])
def test_words_that_stand_in_one_kind_of_line_alone_are_in(only: dict[str, Any]) -> None:
    """Line 8: from 0.149 on often in `response_item` only."""
    assert told(rollout(only)) == [("user", "said", "Hello")]


def test_what_was_really_said_twice_stays() -> None:
    """Line 8: copies are told by their neighbourhood, not by their text over the whole file."""
    lines = [said("user", "Again"), event("user", "Again"), said("assistant", "Done."), event("agent", "Done.")]
    assert [text for _, _, text in told(rollout(*lines, *lines))] == ["Again", "Done.", "Again", "Done."]
    doubled = rollout(said("assistant", "Working."), said("assistant", "Working."))
    assert [text for _, _, text in told(doubled)] == ["Working.", "Working."]


@pytest.mark.parametrize(
    "text",
    [
        INJECTED,
        "# AGENTS.md instructions for /src/shop\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
        "<user_instructions>\nBe brief.\n</user_instructions>",
        "<recommended_plugins>\nNone.\n</recommended_plugins>",
        "<turn_aborted>\nThe user interrupted.\n</turn_aborted>",
    ],
)
def test_what_nobody_typed_was_not_said(text: str) -> None:
    """Line 5."""
    assert told(rollout(said("user", text), said("user", "Hello"))) == [
        ("user", "context", text),
        ("user", "said", "Hello"),
    ]


def test_what_an_event_confirms_was_typed_whatever_it_looks_like() -> None:
    odd = "<user_notes>why is this ignored?</user_notes>"
    assert told(rollout(said("user", odd), event("user", odd))) == [("user", "said", odd)]
    assert told(rollout(said("user", odd))) == [("user", "context", odd)]


@pytest.mark.parametrize("copies", [(), (event("user", "Hello"),)])
def test_blocks_put_in_beside_a_prompt_are_kept_beside_it(copies: tuple[dict[str, Any], ...]) -> None:
    found = one(rollout(said("user", INJECTED, "Hello"), *copies)).messages
    assert [(m.content, m.metadata["context"]) for m in found] == [("Hello", [INJECTED])]


@pytest.mark.parametrize("confirmed", [False, True])
def test_what_an_editor_put_before_a_prompt_is_kept_beside_it(confirmed: bool) -> None:
    before = "# Context from my IDE setup:\n\n## Active file: shop.py"
    text = f"{before}\n\n## My request for Codex:\nWhy is it slow?\n"
    found = one(rollout(said("user", text), *([event("user", text)] if confirmed else []))).messages
    assert [(m.content, m.metadata["context"]) for m in found] == [("Why is it slow?", [before])]


def test_developer_messages_and_compaction_summaries_are_context() -> None:
    history = [message("user", "Hello")]
    lines = [
        said("developer", "Sandboxed."),
        said("user", "Hello"),
        wrapped("compacted", {"message": "They greeted.", "replacement_history": history}),
    ]
    assert told(rollout(*lines)) == [
        ("system", "context", "Sandboxed."),
        ("user", "said", "Hello"),
        ("system", "context", "They greeted."),
    ]


def test_reasoning_is_kept_where_it_can_be_read() -> None:
    lines = [
        item(type="reasoning", summary=[{"type": "summary_text", "text": "**Looking**"}], encrypted_content="x"),
        wrapped("event_msg", {"type": "agent_reasoning", "text": "**Looking**"}),
        item(type="reasoning", summary=[], content=None, encrypted_content="x"),
        said("assistant", "Found it."),
    ]
    assert told(rollout(*lines)) == [("assistant", "reasoning", "**Looking**"), ("assistant", "said", "Found it.")]


@pytest.mark.parametrize(
    ("call", "output", "name", "arguments"),
    [
        ({"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}'}, "function_call_output",
         "shell", '{"command":["ls"]}'),
        ({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin"}, "custom_tool_call_output",
         "apply_patch", "*** Begin"),
        ({"type": "local_shell_call", "action": {"command": ["ls"]}}, "function_call_output",
         "local_shell", '{"command": ["ls"]}'),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "given",
    ["fine", json.dumps({"output": "fine", "metadata": {"exit_code": 0}}), [{"type": "input_text", "text": "fine"}]],
)
def test_calls_of_every_kind_lead_to_their_outputs(
    call: dict[str, Any], output: str, name: str, arguments: str, given: Any
) -> None:
    lines = [item(**call, call_id="c1"), item(**call, call_id="c2"), item(type=output, call_id="c1", output=given)]
    thread = one(rollout(said("user", "Go"), *lines))
    result = thread.messages[-1]
    assert (result.role, result.kind, result.content) == (Role.TOOL, Kind.TOOL, "fine")
    assert [(c.name, c.arguments, c.result_message_id) for c in thread.tool_calls] == [
        (name, arguments, result.id),
        (name, arguments, None),
    ]


def test_an_output_without_a_call_is_kept() -> None:
    assert told(rollout(item(type="function_call_output", call_id="c", output="left over"))) == [
        ("tool", "tool", "left over")
    ]


def test_turns_that_were_taken_back_are_a_branch() -> None:
    thread = one(
        rollout(
            said("user", "One"),
            said("assistant", "First"),
            said("user", "Two"),
            said("assistant", "Second"),
            wrapped("event_msg", {"type": "thread_rolled_back", "num_turns": 1}),
            said("user", "Two, better"),
        )
    )
    assert [(m.content, m.active) for m in thread.messages] == [
        ("One", True),
        ("First", True),
        ("Two, better", True),
        ("Two", False),
        ("Second", False),
    ]


def test_a_session_that_an_agent_started_holds_nothing_said() -> None:
    """Line 9."""
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}
    lines = [wrapped("session_meta", {"id": "s-2", "source": source}), said("user", "Review this")]
    thread = one(entry("\n".join(map(json.dumps, lines)), "rollout.jsonl"))
    assert [m.kind for m in thread.messages] == [Kind.SUBAGENT]


def test_the_first_generation_without_wrappers_is_read() -> None:
    lines = [
        {"id": "s-0", "timestamp": "2025-06-01T10:00:00Z", "instructions": None, "git": {"branch": "main"}},
        {"record_type": "state"},
        message("user", INJECTED),
        message("user", "Hello"),
        {"type": "reasoning", "summary": []},
        message("assistant", "Good day"),
    ]
    thread = one(entry("\n".join(map(json.dumps, lines)), "rollout.jsonl"))
    assert thread.conversation.source_id == "s-0"
    assert thread.conversation.created is not None
    assert [(m.kind, m.content) for m in thread.messages] == [
        (Kind.CONTEXT, INJECTED),
        (Kind.SAID, "Hello"),
        (Kind.SAID, "Good day"),
    ]


def test_the_form_of_one_json_is_read() -> None:
    session = {"timestamp": "2025-05-01T10:00:00Z", "id": "s-00", "instructions": ""}
    thread = one(entry({"session": session, "items": [message("user", "Hello")]}, "rollout-2025-05-01-s-00.json"))
    assert (thread.conversation.source_id, [m.content for m in thread.messages]) == ("s-00", ["Hello"])


def test_user_messages_under_request_item_are_read() -> None:
    assert told(rollout(wrapped("request_item", message("user", "Hello")))) == [("user", "said", "Hello")]


def test_folder_branch_and_model_are_kept() -> None:
    thread = one(rollout(said("user", "Hi"), wrapped("turn_context", {"model": "gpt-5.3"}), said("assistant", "Yes")))
    metadata = thread.conversation.metadata
    assert (metadata["cwd"], metadata["git"], metadata["model"]) == ("/src/shop", {"branch": "main"}, "gpt-5.3")
    assert [m.model for m in thread.messages] == [None, "gpt-5.3"]
    assert thread.conversation.title == "Hi"


def test_images_are_named() -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,iVBO"}
    look = message("user", "Look")
    look["content"].append(image)
    parts = one(rollout(wrapped("response_item", look))).messages[0].parts
    assert [(part.kind, part.text) for part in parts] == [(PartKind.ASSET, "")]


def test_a_cut_end_and_values_of_a_wrong_type_cost_nothing_else() -> None:
    problems = Problems()
    lines = [
        wrapped("session_meta", {"id": "s-1"}),
        said("user", "Hello"),
        wrapped("response_item", {"type": "message", "role": ["user"], "content": 7}),
        wrapped("event_msg", {"type": "item_completed", "item": "UserMessage"}),
        wrapped("response_item", {"type": None}),
    ]
    text = "\n".join(map(json.dumps, lines)) + '\n{"type": "response_i'
    threads, _ = read(Codex(), entry(text, "rollout.jsonl"), problems=problems)
    assert [m.content for m in threads[0].messages] == ["Hello"]
    assert [problem.lost for problem in problems.found] == [False]


def test_a_session_in_which_nothing_happened_is_noted() -> None:
    problems = Problems()
    assert read(Codex(), rollout(), problems=problems) == ([], [])
    assert problems.notes["Codex sessions without messages"] == 1
