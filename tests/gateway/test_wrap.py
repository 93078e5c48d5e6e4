"""Clients that are wrapped: they do what they did, and remember."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

import recollect
from recollect.answer.tools import TOOLS
from recollect.errors import InvalidInput
from recollect.memory import Memory
from recollect.record import Kind
from recollect.text.clean import OPEN
from tests.gateway.upstream import Upstream, upstream
from tests.models.language.wire_server import Says

anthropic = pytest.importorskip("anthropic")
openai = pytest.importorskip("openai")

CHICKEN = "Rex may eat no chicken, he is allergic."
QUESTION: list[Any] = [{"role": "user", "content": "What must Rex not eat?"}]


@pytest.fixture
def provider() -> Iterator[Upstream]:
    with upstream() as server:
        yield server


def of_openai(provider: Upstream, kind: str = "OpenAI") -> Any:
    return getattr(openai, kind)(base_url=f"{provider.root}/v1", api_key="k", max_retries=0)


def of_anthropic(provider: Upstream, kind: str = "Anthropic") -> Any:
    return getattr(anthropic, kind)(base_url=provider.root, api_key="k", max_retries=0)


def said(memory: Memory) -> list[str]:
    return [
        m.content
        for row in reversed(memory.conversations())
        for m in memory.conversation(row.conversation.id).messages
        if m.kind is Kind.SAID
    ]


def test_an_openai_client_remembers(memory: Memory, provider: Upstream) -> None:
    memory.store_message(CHICKEN)
    client = recollect.wrap(of_openai(provider), memory)
    provider.otherwise = Says("Chicken.")
    raw = client.chat.completions.with_raw_response.create(model="m", messages=QUESTION)
    assert raw.headers["x-recollect-namespace"] == "default"
    assert raw.parse().choices[0].message.content == "Chicken."
    assert CHICKEN in provider.body["messages"][0]["content"]
    assert not [name for name in provider.headers if name.startswith("x-recollect")]
    with client.chat.completions.stream(model="m", messages=[{"role": "user", "content": "And turkey?"}]) as events:
        assert events.get_final_completion().choices[0].message.content == "Chicken."
    client.responses.create(model="m", input="And duck?")
    assert CHICKEN in provider.body["input"]
    assert said(memory) == [
        CHICKEN, QUESTION[0]["content"], "Chicken.", "And turkey?", "Chicken.", "And duck?", "Chicken.",
    ]  # fmt: skip
    assert client.models.list().data[0].id == "m-1"


def test_an_anthropic_client_remembers(memory: Memory, provider: Upstream) -> None:
    memory.store_message(CHICKEN)
    client = recollect.wrap(of_anthropic(provider), memory, store=False)
    provider.otherwise = Says("Chicken.")
    with client.messages.stream(model="c", max_tokens=99, messages=QUESTION) as stream:
        assert stream.get_final_text() == "Chicken."
    assert CHICKEN in provider.body["messages"][0]["content"]
    assert said(memory) == [CHICKEN]
    assert client.messages.count_tokens(model="c", messages=QUESTION).input_tokens > 50


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_an_async_client_remembers(memory: Memory, provider: Upstream, vendor: str) -> None:
    memory.store_message(CHICKEN)
    provider.otherwise = Says("Chicken.")

    async def ask() -> str:
        if vendor == "openai":
            async with recollect.wrap(of_openai(provider, "AsyncOpenAI"), memory) as client:
                stream = await client.chat.completions.create(model="m", messages=QUESTION, stream=True)
                return "".join([c.choices[0].delta.content or "" async for c in stream if c.choices])
        async with recollect.wrap(of_anthropic(provider, "AsyncAnthropic"), memory) as client:
            message = await client.messages.create(model="c", max_tokens=99, messages=QUESTION)
            return str(message.content[0].text)

    assert asyncio.run(ask()) == "Chicken."
    assert OPEN in provider.body["messages"][0]["content"]
    assert said(memory) == [CHICKEN, QUESTION[0]["content"], "Chicken."]


def test_a_conversation_goes_on_by_its_name_alone(memory: Memory, provider: Upstream) -> None:
    client = recollect.wrap(of_openai(provider), memory, conversation="kitchen")
    for number in range(3):
        provider.script.append(Says(f"Answer {number}."))
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "And now?"}])
    assert "Answer 0." in provider.body["messages"][0]["content"]
    assert said(memory) == ["And now?", "Answer 0.", "And now?", "Answer 1.", "And now?", "Answer 2."]
    client.chat.completions.create(model="m", messages=QUESTION, extra_headers={"X-Recollect-Conversation": "garden"})
    assert len(memory.conversations()) == 2


def test_what_is_no_client_of_theirs_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="cannot be wrapped"):
        recollect.wrap(object(), memory)
    old = type("OpenAI", (), {"__module__": "openai._client", "_client": type("Client", (), {"__module__": "httpx"})()})
    with pytest.raises(InvalidInput, match="pip install -U openai"):
        recollect.wrap(old(), memory)


@pytest.mark.parametrize("wrong", [{"budget": -1}, {"window": -1}])
def test_fewer_than_no_tokens_are_refused(memory: Memory, provider: Upstream, wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidInput, match="fewer than 0"):
        recollect.wrap(of_openai(provider), memory, **wrong)


def test_an_answer_that_nobody_reads_to_its_end_is_kept_as_far_as_it_came(memory: Memory, provider: Upstream) -> None:
    client = recollect.wrap(of_openai(provider), memory)
    provider.script.append(Says("One two three four five six seven.", fault="pause"))
    with client.chat.completions.create(model="m", messages=QUESTION, stream=True) as stream:
        for chunk in stream:
            if chunk.choices[0].delta.content:
                break
    assert said(memory) == [QUESTION[0]["content"], "One two thre"]
    thread = memory.conversation(memory.conversations()[0].conversation.id)
    assert thread.messages[-1].metadata["incomplete"] is True


def test_half_a_character_does_not_break_a_request_that_is_given_a_memory(memory: Memory, provider: Upstream) -> None:
    """The packages refuse to send one from Python, but not what is posted as JSON that holds its escape."""
    memory.store_message(CHICKEN)
    client = recollect.wrap(of_openai(provider), memory)
    body = r'{"model": "m", "messages": [{"role": "user", "content": "What must Rex not eat? \ud83d"}]}'
    client._client.post(f"{provider.root}/v1/chat/completions", content=body.encode())
    assert CHICKEN in provider.body["messages"][0]["content"]
    assert rb"not eat? \ud83d" in provider.raw


def long_talk() -> list[Any]:
    """The chicken first, then other things."""
    said = [{"role": "user", "content": CHICKEN}, {"role": "assistant", "content": "Noted."}]
    for number in range(30):
        words = " ".join(f"the {number}th buoy drifts {n} cables north." for n in range(25))
        said += [{"role": "user", "content": words}, {"role": "assistant", "content": "Filed."}]
    return [*said, *QUESTION]


@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_that_is_too_long_goes_on(memory: Memory, provider: Upstream, stream: bool) -> None:
    provider.window = 6_000
    provider.otherwise = Says("Chicken.")
    client = recollect.wrap(of_openai(provider), memory)
    answer = client.responses.create(model="m", input=long_talk(), stream=stream)
    words = "".join(e.delta for e in answer if e.type == "response.output_text.delta") if stream else answer.output_text
    assert words == "Chicken."
    assert CHICKEN in provider.body["input"][-1]["content"]
    assert CHICKEN not in str(provider.body["input"][:-1])
    assert said(memory)[-1] == "Chicken."
    asked = len(provider.asked)
    with pytest.raises(openai.BadRequestError):
        recollect.wrap(of_openai(provider), memory, window=0).responses.create(model="m", input=long_talk())
    assert len(provider.asked) == asked + 1


def test_the_same_for_one_that_is_awaited(memory: Memory, provider: Upstream) -> None:
    provider.window = 6_000
    client = recollect.wrap(of_anthropic(provider, "AsyncAnthropic"), memory)

    async def talk() -> Any:
        async with client.messages.stream(model="c", max_tokens=99, messages=long_talk()) as events:
            return await events.get_final_text(), events.response.headers

    words, headers = asyncio.run(talk())
    assert words == "Noted."
    assert int(headers["x-recollect-left-out"]) > 0


def test_with_a_budget_of_0_nothing_is_given_unless_a_request_asks_for_it(memory: Memory, provider: Upstream) -> None:
    memory.store_message(CHICKEN)
    client = recollect.wrap(of_openai(provider), memory, budget=0)
    client.chat.completions.create(model="m", messages=QUESTION)
    assert provider.body["messages"] == QUESTION
    more = [{"role": "user", "content": "What, then, must Rex not eat at all?"}]
    client.chat.completions.create(model="m", messages=more, extra_headers={"X-Recollect-Budget": "800"})
    assert CHICKEN in provider.body["messages"][0]["content"]


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_a_client_that_is_wrapped_twice_stores_once(memory: Memory, provider: Upstream, vendor: str) -> None:
    provider.otherwise = Says("Chicken.")
    if vendor == "openai":
        client = recollect.wrap(recollect.wrap(of_openai(provider), memory), memory, conversation="kitchen")
        client.responses.create(model="m", input=QUESTION[0]["content"])
    else:
        client = recollect.wrap(recollect.wrap(of_anthropic(provider), memory, store=False), memory)
        client.messages.create(model="c", max_tokens=99, messages=QUESTION)
    assert said(memory) == [QUESTION[0]["content"], "Chicken."]
    assert len(memory.conversations()) == len(provider.asked) == 1
    client.close()
    assert said(memory)  # which is not the client's to close


def test_the_tool_runner_of_anthropic_is_one_conversation(memory: Memory, provider: Upstream) -> None:
    """It leaves what was said to the server, and sends only what is new."""

    @anthropic.beta_tool  # type: ignore[untyped-decorator]
    def weather(place: str) -> str:
        """What the weather is at a place."""
        return f"Rain in {place}"

    where = [(name, json.dumps({"place": name})) for name in ("Porto", "Faro")]
    provider.script += [Says("", calls=(("weather", given),), headers={"id": f"msg_{name}"}) for name, given in where]
    provider.script.append(Says("It rains.", headers={"id": "msg_end"}))
    client = recollect.wrap(of_anthropic(provider), memory)
    ask: list[Any] = [{"role": "user", "content": "Does it rain?"}]
    client.beta.messages.tool_runner(model="c", max_tokens=99, tools=[weather], messages=ask).until_done()
    assert provider.body["thread"]["previous_message_id"] == "msg_Faro"
    thread = memory.conversation(memory.conversations()[0].conversation.id)
    assert [m.content for m in thread.messages] == ["Does it rain?", "Rain in Porto", "Rain in Faro", "It rains."]
    assert sorted(json.loads(call.arguments)["place"] for call in thread.tool_calls) == ["Faro", "Porto"]
    assert len(memory.conversations()) == 1


def test_a_client_that_tries_again_is_in_the_same_turn(memory: Memory, provider: Upstream) -> None:
    client = recollect.wrap(of_openai(provider), memory).with_options(max_retries=2)
    provider.script += [Says(status=500), Says(status=500), Says("Chicken.")]
    answer = client.chat.completions.with_raw_response.create(model="m", messages=QUESTION)
    assert answer.headers["x-recollect-conversation"] == memory.conversations()[0].conversation.id
    assert said(memory) == [QUESTION[0]["content"], "Chicken."]


def test_a_wrapped_client_is_told_of_no_tool_that_it_has_not(memory: Memory, provider: Upstream) -> None:
    """I8: not even where a long message goes on."""
    memory.store_message("The tide comes at six, and the heron with it. " * 2_000)
    client = recollect.wrap(of_openai(provider), memory)
    provider.otherwise = Says("At six.")
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": "When does the tide come?"}])
    given = provider.body["messages"][0]["content"]
    assert "heron" in given
    assert not [tool.name for tool in TOOLS if tool.name in given]


@pytest.mark.parametrize("store", [True, False])
def test_what_a_request_was_given_is_recorded_as_the_request_is(
    memory: Memory, provider: Upstream, store: bool
) -> None:
    chicken = memory.store_message(CHICKEN).id
    client = recollect.wrap(of_openai(provider), memory, store=store)
    provider.otherwise = Says("Chicken.")
    client.chat.completions.create(model="m", messages=QUESTION)
    found = memory.integration.requests()
    assert len(found) == store
    if store:
        assert (found[0].by, found[0].text) == ("wrap", QUESTION[0]["content"])
        assert chicken in found[0].ids
