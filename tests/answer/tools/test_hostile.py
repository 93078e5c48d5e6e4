"""What models send that nobody expects, and what has no room: an answer that goes on, never a fault."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from recollect.answer.tools import Toolbox
from recollect.memory import Memory
from recollect.record import ToolCall
from recollect.store import Where
from tests.answer.tools.conftest import Talk
from tests.exports import opened


@pytest.mark.parametrize(
    "tool", ["get_message_by_id", "get_messages_by_ids", "get_conversation_thread", "get_tool_call"]
)
@pytest.mark.parametrize("id", ["\ud800", "a\0b", "\udfff\ud800 x"])
def test_an_id_that_no_text_can_be_is_an_answer(talk: Talk, tool: str, id: str) -> None:
    name = {"get_messages_by_ids": "ids", "get_conversation_thread": "message_id"}.get(tool, "id")
    answer = talk.box.call(tool, {name: [id] if name == "ids" else id})
    assert answer.is_error
    answer.text.encode()


@pytest.mark.parametrize("period", ["9999-W52", "9999-12-31", "0000-W01"])
def test_a_period_at_the_end_of_the_calendar_is_an_answer(talk: Talk, period: str) -> None:
    assert "names no time" in talk.box.call("get_period_messages", {"period": period}).text


def test_the_default_that_a_model_is_told_is_taken(talk: Talk) -> None:
    for tool in talk.box.tools:
        for argument in tool.arguments:
            if not argument.required:
                assert argument.read(argument.default) == argument.default
    given = {"id": talk.call.result_message_id, "chunk": -1}
    assert not talk.box.call("get_message_with_chunks", given).is_error


def coded(memory: Memory, folder: Path) -> ToolCall:
    """A tool call of an import, whose result is a message of its own."""
    used = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "weather"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "It is 31 degrees in Quuxville."}
    said = [("user", "How warm is it?"), ("assistant", [used]), ("user", [result]), ("assistant", "Warm.")]
    lines = [
        {
            "type": role,
            "uuid": f"u{place}",
            "parentUuid": f"u{place - 1}" if place else None,
            "timestamp": f"2025-03-01T10:00:0{place}Z",
            "sessionId": "11111111-1111-1111-1111-111111111111",
            "isSidechain": False,
            "message": {"role": role, "content": content},
        }
        for place, (role, content) in enumerate(said)
    ]
    path = folder / "session.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    memory.import_file(path)
    with memory.handle.space.view() as view:
        return view.find(ToolCall, Where()).items[0]


def test_a_result_that_was_deleted_is_not_shown_by_its_call(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        call, box = coded(memory, tmp_path), memory.toolbox()
        result = call.result_message_id or ""
        assert "Quuxville" in box.call("get_tool_call", {"id": call.id}).text
        memory.delete(result)
        for tool, name, own in [
            ("get_tool_call", "id", call.id),
            ("get_tool_call", "id", result),
            ("get_tool_calls_by_message", "message_id", call.message_id),
            ("get_message_by_id", "id", call.id),
            ("get_message_by_id", "id", result),
            ("get_conversation_thread", "message_id", call.id),
            ("get_conversation_thread", "message_id", result),
        ]:
            assert "Quuxville" not in box.call(tool, {name: own}).text
        assert "Bash" in box.call("get_tool_call", {"id": call.id}).text
        assert "was deleted" in box.call("get_message_by_id", {"id": result}).text
        memory.forget(result)
        assert "was forgotten" in box.call("get_message_by_id", {"id": result}).text


def followed(box: Toolbox, tool: str, given: dict[str, object]) -> list[str]:
    """The answers of a tool, gone on with by the offsets that it tells; it must come to an end."""
    answers: list[str] = []
    offset = 0
    while True:
        answer = box.call(tool, {**given, "offset": offset})
        assert not answer.is_error
        answers.append(answer.text)
        told = re.search(r"offset=(\d+)", answer.text)
        if told is None:
            return answers
        assert int(told[1]) > offset
        offset = int(told[1])


def test_a_list_goes_on_where_no_entry_has_room(tmp_path: Path) -> None:
    long = "蛋糕配方面粉鸡蛋" * 60  # a token a character
    with opened(tmp_path / "memory.db") as memory:
        for place in range(3):
            asked = memory.store_message(f"{long} {place}", speaker="蛋" * 300)
            memory.store_fact(f"{long} {place}", f"concept {place}")
        for place in range(3):
            memory.store_tool_call(f"call{place}", long, long, asked.id)
        box = memory.toolbox(max_tokens=400)
        assert len(followed(box, "vector_search", {"query": "蛋糕配方"})) >= 3
        assert len(followed(box, "get_all_facts", {})) == 3
        calls = "".join(followed(box, "get_tool_calls_by_message", {"message_id": asked.id}))
        assert all(f"tool call{place}" in calls for place in range(3))
        facts = box.call("search_facts", {"query": "蛋糕配方"}).text
        assert "蛋糕配方" in facts
        assert "not shown: 2" in facts
