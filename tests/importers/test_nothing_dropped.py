"""What formats hold beside plain messages is not dropped without a word (READING.md I3, I4, I6, I7)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from recollect.importers.base import Problems
from recollect.importers.formats.chatgpt.chatgpt import ChatGPT
from recollect.importers.formats.claude.claude_ai import ClaudeAI
from recollect.importers.formats.claude_code.claude_code import ClaudeCode
from recollect.importers.formats.codex.codex import Codex
from recollect.importers.formats.messages.openai import OpenAIMessages
from recollect.importers.reading.archive import walk
from recollect.record import Kind, PartKind, Role, Thread, iso
from tests.exports import file, lines, node, opened, tree
from tests.importers.given import entry, json_lines, read


def contents(thread: Thread, kind: Kind = Kind.SAID) -> list[str]:
    return [message.content for message in thread.messages if message.kind is kind]


# --- Claude Code ---------------------------------------------------------------------------------------------------


def claude_code(*values: Any, problems: Problems | None = None) -> Thread:
    data = "\n".join(value if isinstance(value, str) else json.dumps(value) for value in values)
    threads, _ = read(ClaudeCode(), entry(data, "s.jsonl"), problems=problems)
    return threads[0]


def line(kind: str, uuid: str, parent: str | None, content: Any) -> dict[str, Any]:
    return {
        "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": "2026-03-01T09:00:00Z",
        "message": {"role": kind, "content": content},
    }  # fmt: skip


def test_a_session_from_the_web_needs_only_type_timestamp_and_message() -> None:
    """I3."""
    said = [("user", "Where are the bells?"), ("assistant", "In the tower."), ("user", "Thanks")]
    loglines = [
        {"type": kind, "timestamp": f"2026-03-01T09:00:0{at}Z", "message": {"role": kind, "content": words}}
        for at, (kind, words) in enumerate(said)
    ]
    threads, _ = read(ClaudeCode(), entry({"loglines": loglines}, "session.json"))
    assert [(m.role, m.content) for m in threads[0].messages] == [(Role(kind), words) for kind, words in said]
    assert all(message.active for message in threads[0].messages)


def test_a_line_with_the_same_uuid_and_other_words_is_kept() -> None:
    made = claude_code(
        line("user", "u1", None, "Which bread?"),
        line("assistant", "u2", "u1", [{"type": "text", "text": "Rye."}]),
        line("user", "u3", "u2", "And now?"),
        line("user", "u3", "u2", "Something else"),
        line("user", "u1", None, [{"type": "text", "text": "Which bread?"}]),
    )
    assert sorted(contents(made)) == ["And now?", "Rye.", "Something else", "Which bread?"]


def test_results_of_a_line_that_comes_again_are_not_doubled() -> None:
    results = [{"type": "tool_result", "tool_use_id": f"t{at}", "content": f"result {at}"} for at in range(3)]
    calls = [{"type": "tool_use", "id": f"t{at}", "name": "f", "input": {}} for at in range(3)]
    session = [line("user", "u1", None, "Go"), line("assistant", "u2", "u1", calls), line("user", "u3", "u2", results)]
    made = claude_code(*session, *session)
    assert contents(made, Kind.TOOL) == ["", "result 0", "result 1", "result 2"]


def test_a_tag_that_somebody_pasted_was_said() -> None:
    pasted = '<channel name="bells">\n  <title>Tower</title>\n</channel>'
    made = claude_code(
        line("user", "u1", None, pasted), line("user", "u2", "u1", '<channel source="chat">ring</channel>')
    )
    assert contents(made) == [pasted]
    assert contents(made, Kind.CONTEXT) == ['<channel source="chat">ring</channel>']


def test_lines_that_are_no_objects_are_told() -> None:
    problems = Problems()
    claude_code(line("user", "u1", None, "Hello"), "7", '["x"]', problems=problems)
    assert [problem.reason for problem in problems.found] == ["line 2: it is no object, and 1 more"]


# --- Codex ---------------------------------------------------------------------------------------------------------


def codex(*payloads: Any, kind: str = "response_item", problems: Problems | None = None) -> Thread:
    wrapped = [
        payload
        if isinstance(payload, str) or "payload" in payload
        else {"timestamp": f"2026-03-01T09:00:{at:02}Z", "type": kind, "payload": payload}
        for at, payload in enumerate(payloads, 1)
    ]
    data = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in wrapped)
    threads, _ = read(Codex(), entry(data, "rollout-x.jsonl"), problems=problems)
    return threads[0]


def typed(words: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]}


def event(payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": "2026-03-01T09:01:00Z", "type": "event_msg", "payload": payload}


def test_agents_plans_and_reviews_are_kept() -> None:
    review = {
        "findings": [{"title": "A leak", "body": "The file stays open."}],
        "overall_explanation": "Nearly there.",
    }
    made = codex(
        typed("Go"),
        {"type": "agent_message", "content": [{"type": "output_text", "text": "from the other agent"}]},
        event({"type": "item_completed", "item": {"type": "Plan", "id": "p", "text": "1. Look. 2. Mend."}}),
        event({"type": "exited_review_mode", "review_output": review}),
    )
    assert contents(made) == [
        "Go", "from the other agent", "1. Look. 2. Mend.", "Nearly there.\n\nA leak\nThe file stays open.",
    ]  # fmt: skip


def test_arguments_of_any_name_are_kept() -> None:
    made = codex(
        typed("Go"),
        {"type": "image_generation_call", "id": "i", "revised_prompt": "a grey heron", "result": "AAAA"},
        {"type": "function_call", "call_id": "c", "name": "f", "parameters": {"q": 1}},
    )
    assert [(call.name, call.arguments) for call in made.tool_calls] == [
        ("image_generation", "a grey heron"), ("f", '{"q": 1}'),
    ]  # fmt: skip


def test_a_session_began_when_its_first_line_says_even_without_a_time_of_its_own() -> None:
    meta = {"type": "session_meta", "payload": {"id": "s-1", "timestamp": "2026-03-01T08:00:00Z"}}
    said = {"type": "response_item", "payload": typed("Go")}
    assert iso(codex(meta, said).conversation.created) == "2026-03-01T08:00:00Z"


def test_titles_of_the_session_index_are_taken(tmp_path: Path) -> None:
    meta = {"timestamp": "2026-03-01T08:00:00Z", "type": "session_meta", "payload": {"id": "s-1"}}
    said = {"timestamp": "2026-03-01T08:00:01Z", "type": "response_item", "payload": typed("Go")}
    file(tmp_path / "sessions" / "rollout-x.jsonl", lines(meta, said))
    named = [{"id": "s-1", "thread_name": name, "updated_at": "2026-03-01T08:00:00Z"} for name in ("Old", "The bells")]
    file(tmp_path / "session_index.jsonl", lines(*named))
    threads, _ = read(Codex(), *walk(tmp_path, Problems()))
    assert [thread.conversation.title for thread in threads] == ["The bells"]


def test_a_pasted_manifest_was_said() -> None:
    pasted = "<android_manifest>\n<uses-permission/>\n</android_manifest>"
    made = codex(typed("Go"), typed(pasted), typed("<environment_context>\n<cwd>/x</cwd>\n</environment_context>"))
    assert contents(made) == ["Go", pasted]


def test_lines_of_codex_that_are_no_objects_are_told() -> None:
    problems = Problems()
    codex(typed("Go"), typed("on"), "3", problems=problems)
    assert [problem.reason for problem in problems.found] == ["line 3: it is no object"]


# --- Claude, ChatGPT, OpenAI ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["server_tool_use", "mcp_tool_use"])
def test_tools_of_servers_keep_their_name_and_arguments(kind: str) -> None:
    result = {"type": kind.replace("use", "result"), "tool_use_id": "t", "content": [{"type": "text", "text": "found"}]}
    use = {"type": kind, "id": "t", "name": "web_search", "input": {"query": "bells"}}
    message = {"uuid": "m", "sender": "assistant", "text": "", "content": [use, result]}
    threads, _ = read(ClaudeAI(), entry([{"uuid": "c", "name": "n", "chat_messages": [message]}]))
    (call,) = threads[0].tool_calls
    assert (call.name, call.arguments, call.result) == ("web_search", '{"query": "bells"}', "found")


def test_plots_of_the_code_interpreter_are_named() -> None:
    shown = {"message_type": "image", "image_url": "file-service://file-plot", "width": 3}
    ran = {"aggregate_result": {"code": "plot()", "messages": [shown]}}
    output = node("b", "a", "", "tool", content={"content_type": "execution_output", "text": "done"}, metadata=ran)
    threads, _ = read(ChatGPT(), entry([tree(node("a", None, "Plot it"), output)]))
    assert [(part.kind, part.name) for part in threads[0].messages[1].parts] == [(PartKind.ASSET, "file-plot")]


def talk(*messages: tuple[str, str, str]) -> Thread:
    given = [{"id": key, "role": role, "content": words} for key, role, words in messages]
    return read(OpenAIMessages(), json_lines({"messages": given}))[0][0]


def test_an_id_that_comes_again_in_a_list_joins_no_other_words() -> None:
    made = talk(("1", "user", "Delete it?"), ("2", "user", "Yes"), ("2", "user", "Yes, and delete the backup"))
    assert contents(made) == ["Delete it?", "Yes", "Yes, and delete the backup"]


def test_thinking_beside_content_is_reasoning() -> None:
    given = {"messages": [{"role": "assistant", "content": "Rye.", "thinking": "Which one?"}]}
    ((message,),) = [thread.messages for thread in read(OpenAIMessages(), json_lines(given))[0]]
    assert [(part.kind, part.text) for part in message.parts] == [(PartKind.REASONING, "Which one?")]


# --- files and documents -------------------------------------------------------------------------------------------


def test_a_link_that_leads_out_of_the_folder_is_told_and_not_followed(tmp_path: Path) -> None:
    talk = lines({"messages": [{"role": "user", "content": "private"}]})
    file(tmp_path / "elsewhere" / "secret.jsonl", talk)
    file(tmp_path / "in" / "own.jsonl", talk)
    for name, target in (
        ("out.jsonl", "elsewhere/secret.jsonl"),
        ("outside", "elsewhere"),
        ("inside.jsonl", "in/own.jsonl"),
    ):
        (tmp_path / "in" / name).symlink_to(tmp_path / target)
    problems = Problems()
    assert [one.path for one in walk(tmp_path / "in", problems)] == ["inside.jsonl", "own.jsonl"]
    assert {(problem.place, problem.reason) for problem in problems.found} == {
        ("out.jsonl", "it is a link that leads out of the folder; it was left out"),
        ("outside", "it is a link that leads out of the folder; it was left out"),
    }


def test_documents_are_counted_as_they_are_in(tmp_path: Path) -> None:
    """I6: the same file twice is one document."""

    def project(*names: str) -> Sequence[Any]:
        docs = [{"uuid": name, "filename": f"{name}.md", "content": "tides"} for name in names]
        return [{"uuid": "p", "name": "Harbour", "description": "", "prompt_template": "", "docs": docs}]

    with opened(tmp_path / "memory.db") as memory:
        report = memory.import_file(file(tmp_path / "projects.json", project("d1", "d1", "d2")))
        assert report.documents == len(list(memory.documents())) == 2
