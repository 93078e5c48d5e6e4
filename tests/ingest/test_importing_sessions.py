"""What other readers of agents' sessions got wrong: lines 7 to 11 of that list, through the whole of the memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recollect.errors import ImportProblem
from recollect.memory import Memory
from recollect.record import Kind
from tests.exports import Json, file, first_hit, imported, lines, messages_of, opened
from tests.paths import SHARED


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return opened(tmp_path / "memory.db")


def claude_line(uuid: str, parent: str | None, content: Any, role: str = "user", **more: Any) -> Json:
    message = {"role": role, "content": content} | more.pop("message", {})
    return {
        "type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s-1", "cwd": "/home/me/shop",
        "timestamp": f"2025-03-01T09:00:{int(uuid[1:]):02}.000Z", "message": message, **more,
    }  # fmt: skip


def test_7_several_lines_under_one_id_are_all_kept_and_none_twice(memory: Memory, tmp_path: Path) -> None:
    one = {"message": {"id": "msg_1", "model": "claude-sonnet-4-5"}}
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file": "tariff.toml"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "bells = 7"}
    session = [
        claude_line("u1", None, "Where are the bells set?"),
        claude_line("u2", "u1", [{"type": "text", "text": "I look into the tariff."}], "assistant", **one),
        claude_line("u3", "u2", [call], "assistant", **one),
        claude_line("u4", "u3", [result]),
        claude_line("u5", "u4", [{"type": "text", "text": "In tariff.toml."}], "assistant"),
    ]
    memory.import_file(file(tmp_path / "s-1.jsonl", lines(*session, *session)))  # as resumed sessions repeat them
    said = [m.content for m in messages_of(memory) if m.kind is Kind.SAID]
    assert said == ["Where are the bells set?", "I look into the tariff.", "In tariff.toml."]
    assert memory.upkeep.stats().tool_calls == 1
    assert first_hit(memory, "bells = 7", kind="tool") is not None


def codex_line(second: int, kind: str, payload: Json) -> Json:
    return {"timestamp": f"2025-10-01T10:00:{second:02}.000Z", "type": kind, "payload": payload}


def test_8_codex_is_read_by_every_record_kind_and_what_was_said_twice_stays(memory: Memory, tmp_path: Path) -> None:
    def said(role: str, text: str) -> Json:
        block = {"type": "input_text" if role == "user" else "output_text", "text": text}
        return {"type": "message", "role": role, "content": [block]}

    meta = codex_line(0, "session_meta", {"id": "x-1", "cwd": "/shop", "originator": "codex_cli_rs"})
    spoken = [("user", "again"), ("assistant", "Done."), ("user", "again"), ("assistant", "Done.")]
    items = [codex_line(i + 1, "response_item", said(role, text)) for i, (role, text) in enumerate(spoken)]
    kinds = {"user": "user_message", "assistant": "agent_message"}
    events = [
        codex_line(i + 1, "event_msg", {"type": kinds[role], "message": text}) for i, (role, text) in enumerate(spoken)
    ]
    both = [line for pair in zip(items, events, strict=True) for line in pair]
    expected = ["again", "Done.", "again", "Done."]
    for name, session in {"items": items, "events": events, "both": both}.items():
        read = imported(tmp_path / f"{name}.db", file(tmp_path / name / "rollout-1.jsonl", lines(meta, *session)))
        assert [m.content for m in messages_of(read) if m.kind is Kind.SAID] == expected, name


def test_9_a_subagent_belongs_to_its_session(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-home-me-shop"
    agent = {"agentId": "a7", "isSidechain": True}
    file(
        folder / "s-1.jsonl",
        lines(claude_line("u1", None, "Count the bells."), claude_line("u2", "u1", "Seven.", "assistant")),
    )
    file(
        folder / "s-1" / "subagents" / "agent-a7.jsonl",
        lines(
            claude_line("u3", None, "Look for bells in the belfry.", **agent),
            claude_line("u4", "u3", "Seven bells in the belfry.", "assistant", **agent),
        ),
    )
    report = memory.import_file(tmp_path / "projects")
    assert (report.stored.conversations, report.stored.by_kind) == (1, {"said": 2, "subagent": 2})
    found = first_hit(memory, "belfry", kind="subagent")
    assert found is not None
    assert found.source_id in {"u3", "u4"}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared fixtures are not here")
@pytest.mark.parametrize(
    "path", ["made/vscode-chat-log", "made/gemini-takeout", "gemini-takeout/MyActivity-mixed-products.json"]
)
def test_10_and_11_what_is_not_read_yet_is_refused_rather_than_half_read(memory: Memory, path: str) -> None:
    """VS Code's log read by its first line is an empty session, Takeout read halfway is prompts without answers."""
    with pytest.raises(ImportProblem, match=r"which Recollect does not read yet\. Recollect reads: "):
        memory.import_file(SHARED / "fixtures" / path)
    assert memory.upkeep.stats().messages == 0
