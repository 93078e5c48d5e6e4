"""What models send that nobody expects, and what has no room: an answer that goes on, never a fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.memory import Memory
from recollect.tools import Toolbox
from tests.exports import opened
from tests.tools.conftest import Talk

LONG = "蛋糕配方面粉鸡蛋" * 60  # a token a character


@pytest.mark.parametrize("tool", ["get_message_by_id", "get_messages_by_ids", "get_conversation_thread", "get_tool_call"])
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
