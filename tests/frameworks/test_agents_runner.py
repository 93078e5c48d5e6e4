"""The Runner of the OpenAI Agents SDK with a client that remembers: whatever loop it runs is one conversation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

import recollect
from recollect.memory import Memory
from tests.gateway.upstream import Upstream, upstream
from tests.models.language.wire_server import Says

openai = pytest.importorskip("openai")
agents = pytest.importorskip("agents")

MODELS = ["OpenAIChatCompletionsModel", "OpenAIResponsesModel"]


@agents.function_tool  # type: ignore[untyped-decorator]
def weather(place: str) -> str:
    """What the weather is at a place."""
    return f"Rain in {place}"


@pytest.fixture
def provider() -> Iterator[Upstream]:
    agents.set_tracing_disabled(True)
    with upstream() as server:
        yield server


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("stream", [False, True])
def test_a_run_with_tools_is_one_conversation(memory: Memory, provider: Upstream, model: str, stream: bool) -> None:
    run(memory, provider, model, stream=stream)
    check(memory)


def test_so_is_one_that_leaves_what_was_said_to_the_server(memory: Memory, provider: Upstream) -> None:
    run(memory, provider, "OpenAIResponsesModel", auto_previous_response_id=True)
    assert provider.body["previous_response_id"] == "resp_3"
    check(memory)


def run(memory: Memory, provider: Upstream, model: str, *, stream: bool = False, **more: Any) -> None:
    """A question that takes two calls of a tool, and thanks."""
    for place in ("Porto", "Faro"):
        calls = (("weather", json.dumps({"place": place})),)
        provider.script.append(Says("", calls=calls, headers={"id": f"resp_{place}"}))
    provider.script += [Says("It rains.", headers={"id": "resp_3"}), Says("Welcome.", headers={"id": "resp_4"})]

    async def talk() -> None:
        client = recollect.wrap(openai.AsyncOpenAI(base_url=f"{provider.root}/v1", api_key="k"), memory)
        sends = getattr(agents, model)("m", client)
        agent = agents.Agent(name="A", instructions="Be brief.", tools=[weather], model=sends)
        result = await turn(agent, "Does it rain?", more)
        if more:
            await turn(agent, "Thanks.", {**more, "previous_response_id": result.last_response_id})
        else:
            await turn(agent, [*result.to_input_list(), {"role": "user", "content": "Thanks."}], {})
        await client.close()

    async def turn(agent: Any, given: Any, options: dict[str, Any]) -> Any:
        if not stream:
            return await agents.Runner.run(agent, given, **options)
        result = agents.Runner.run_streamed(agent, given, **options)
        async for _ in result.stream_events():
            pass
        return result

    asyncio.run(talk())


def check(memory: Memory) -> None:
    """It is stored once, whole and in order."""
    thread = memory.conversation(memory.conversations()[0].conversation.id)
    assert [m.content for m in thread.messages] == [
        "Does it rain?", "Rain in Porto", "Rain in Faro", "It rains.", "Thanks.", "Welcome.",
    ]  # fmt: skip
    assert all(message.active for message in thread.messages)
    assert [call.name for call in thread.tool_calls] == ["weather", "weather"]
    assert len(memory.conversations()) == 1
