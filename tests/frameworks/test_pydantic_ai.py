"""Histories of Pydantic AI: messages come back equal, an agent goes on with them, a tool searches all of it."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.memory import Memory

pydantic_ai = pytest.importorskip("pydantic_ai", reason="pydantic-ai-slim is not installed")

from pydantic_ai import messages as parts  # noqa: E402
from pydantic_ai.models.function import FunctionModel  # noqa: E402

from recollect.frameworks.pydantic_ai import MessageHistory, search_tool  # noqa: E402


def answering(*answers: Any) -> FunctionModel:
    """A model that gives these answers, one after the other."""
    waiting = list(answers)
    return FunctionModel(lambda messages, info: parts.ModelResponse(parts=[waiting.pop(0)]))


def test_an_agent_goes_on_with_its_history(memory: Memory) -> None:
    history = MessageHistory(memory, "user-7")
    agent = pydantic_ai.Agent(answering(parts.TextPart("At pier nine."), parts.TextPart("Behind the crane.")))
    first = agent.run_sync("Where is the boat?", message_history=history.messages())
    history.add(first.new_messages())
    assert history.messages() == first.all_messages()
    second = agent.run_sync("Where there?", message_history=MessageHistory(memory, "user-7").messages())
    history.add(second.new_messages())
    assert history.messages() == second.all_messages()
    assert len(history.messages()) == 4
    assert history.messages(2) == second.new_messages()
    assert MessageHistory(memory, "user-8").messages() == []
    assert history.memory.search("pier nine")[0].best.message.content == "At pier nine."
    assert history.pop() == second.all_messages()[-1]
    history.clear()
    assert history.messages() == []
    assert [m.deleted for m in history.memory.conversation(history.conversation_id).messages] == [True] * 4
    assert not history.memory.upkeep.check()


def test_every_kind_of_part_comes_back(memory: Memory) -> None:
    messages: list[Any] = [
        parts.ModelRequest(
            parts=[
                parts.SystemPromptPart("Be brief."),
                parts.UserPromptPart(
                    [
                        "Look:",
                        parts.ImageUrl("http://there.invalid/a.png"),
                        parts.BinaryContent(b"\0\xff", media_type="image/png"),
                    ]
                ),
            ]
        ),
        parts.ModelResponse(
            parts=[parts.ThinkingPart("A boat, perhaps."), parts.ToolCallPart("find", {"x": [1.5, None]})]
        ),
        parts.ModelRequest(parts=[parts.ToolReturnPart("find", {"pier": 9}, "c1")]),
        parts.ModelResponse(parts=[parts.TextPart("")]),
    ]
    history = MessageHistory(memory, "user-7")
    history.add(messages)
    as_json = parts.ModelMessagesTypeAdapter.dump_python
    assert as_json(history.messages(), mode="json") == as_json(messages, mode="json")
    kept = history.memory.conversation(history.conversation_id).messages
    assert [m.kind.value for m in kept] == ["said", "reasoning", "tool", "tool"]
    assert kept[0].content == "Look:"


def test_a_tool_searches_the_memory(memory: Memory) -> None:
    memory.store_message("The boat lies at pier nine.", title="Harbour")
    call = parts.ToolCallPart("search_conversations", {"query": "boat pier"})
    agent = pydantic_ai.Agent(answering(call, parts.TextPart("Pier nine.")), tools=[search_tool(memory)])
    told = agent.run_sync("Where is the boat?").all_messages()[2].parts[0].content
    assert "The boat lies at pier nine." in told
