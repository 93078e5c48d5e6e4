"""The official clients through the proxy: their streams, tools and errors intact, and what was said before given."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx2
import pytest

from recollect.errors import StoreError
from recollect.faces.proxy.upstream import _DEFAULTS
from recollect.record import Kind
from recollect.text.clean import OPEN
from tests.faces.proxy.conftest import Proxy, serving
from tests.gateway.upstream import Upstream
from tests.models.language.wire_server import Says

pytestmark = pytest.mark.slow

SCOPE = {"X-Recollect-Namespace": "acme/rex"}
CHICKEN = "Rex may eat no chicken, he is allergic."


def said(proxy: Proxy, namespace: str = "acme/rex") -> list[tuple[str, str]]:
    memory = proxy.memory(namespace)
    rows = memory.conversations()
    return [
        (m.role.value, m.content)
        for row in reversed(rows)
        for m in memory.conversation(row.conversation.id).messages
        if m.kind is Kind.SAID
    ]


def test_openai_streams_through_and_is_remembered(proxy: Proxy) -> None:
    client = proxy.openai(default_headers=SCOPE)
    proxy.provider.otherwise = Says("No chicken for Rex, then. Noted.")
    asked = [{"role": "user", "content": CHICKEN}]
    with client.chat.completions.create(
        model="m", messages=asked, stream=True, stream_options={"include_usage": True}
    ) as stream:
        chunks = list(stream)
    words = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert words == "No chicken for Rex, then. Noted."
    assert chunks[-1].usage.total_tokens == 120
    assert proxy.provider.body["messages"] == asked  # nothing is known yet
    assert said(proxy) == [("user", CHICKEN), ("assistant", words)]

    question = "What must Rex the dog not eat?"
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": question}])
    given = proxy.provider.body["messages"][0]["content"]
    assert given.startswith(OPEN)
    assert CHICKEN in given
    assert given.endswith(f"\n\n{question}")
    assert ("user", question) in said(proxy)  # without what it was given


def test_anthropic_streams_through_and_is_remembered(proxy: Proxy) -> None:
    client = proxy.anthropic(default_headers=SCOPE)
    proxy.memory("acme/rex").store_message(CHICKEN)
    proxy.provider.otherwise = Says("Chicken.", thinking="He is allergic.")
    question = "What must Rex the dog not eat?"
    asked: list[Any] = [{"role": "user", "content": [{"type": "text", "text": question}]}]
    with client.messages.stream(model="c", max_tokens=100, messages=asked, system="Be brief.") as stream:
        assert "".join(stream.text_stream) == "Chicken."
        assert stream.get_final_message().usage.output_tokens == 20
    blocks = proxy.provider.body["messages"][0]["content"]
    assert CHICKEN in blocks[0]["text"]
    assert blocks[1] == {"type": "text", "text": question}
    assert proxy.provider.body["system"] == "Be brief."
    assert said(proxy)[-2:] == [("user", question), ("assistant", "Chicken.")]


def test_responses_stream_through_and_go_on_by_their_id(proxy: Proxy) -> None:
    client = proxy.openai(default_headers=SCOPE)
    proxy.provider.script.extend([Says("Noted.", headers={"id": "resp_7"}), Says("Chicken.", headers={"id": "resp_8"})])
    with client.responses.create(model="m", input=CHICKEN, stream=True) as stream:
        assert [event.type for event in stream][-1] == "response.completed"
    answer = client.responses.create(model="m", input="And turkey?", previous_response_id="resp_7")
    assert answer.output_text == "Chicken."
    assert proxy.provider.body["previous_response_id"] == "resp_7"
    assert len(proxy.memory("acme/rex").conversations()) == 1
    assert said(proxy) == [
        ("user", CHICKEN),
        ("assistant", "Noted."),
        ("user", "And turkey?"),
        ("assistant", "Chicken."),
    ]


def test_a_talk_that_is_sent_again_and_again_is_kept_once(proxy: Proxy) -> None:
    client = proxy.openai(default_headers=SCOPE)
    messages: list[Any] = [{"role": "system", "content": "Be kind."}]
    for number in range(4):
        proxy.provider.script.append(Says(f"Answer {number}."))
        messages.append({"role": "user", "content": f"Question {number}?"})
        answer = client.chat.completions.create(model="m", messages=messages)
        messages.append({"role": "assistant", "content": answer.choices[0].message.content + " \n"})
    assert [words for _, words in said(proxy)] == [w for n in range(4) for w in (f"Question {n}?", f"Answer {n}.")]
    assert len(proxy.memory("acme/rex").conversations()) == 1


@pytest.mark.parametrize("stream", [False, True])
def test_tools_pass_through_and_are_kept_with_their_results(proxy: Proxy, stream: bool) -> None:
    client = proxy.openai(default_headers=SCOPE)
    proxy.provider.script.extend([Says("Let me see.", calls=(("weather", '{"in": "Porto"}'),)), Says("It rains.")])
    tools: list[Any] = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
    messages: list[Any] = [{"role": "user", "content": "Does it rain in Porto?"}]
    if stream:
        with client.chat.completions.stream(model="m", messages=messages, tools=tools) as events:
            first = events.get_final_completion().choices[0].message
    else:
        first = client.chat.completions.create(model="m", messages=messages, tools=tools).choices[0].message
    assert first.tool_calls[0].function.arguments == '{"in": "Porto"}'
    assert proxy.provider.body["tools"] == tools
    call = {"id": "call_0", "type": "function", "function": {"name": "weather", "arguments": '{"in": "Porto"}'}}
    messages += [
        {"role": "assistant", "content": "Let me see.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_0", "content": "Rain, 14 degrees"},
    ]
    client.chat.completions.create(model="m", messages=messages, tools=tools)
    assert proxy.provider.body["messages"][-2:] == messages[-2:]
    assert [words for _, words in said(proxy)] == ["Does it rain in Porto?", "Let me see.", "It rains."]
    memory = proxy.memory("acme/rex")
    thread = memory.conversation(memory.conversations()[0].conversation.id)
    assert [(c.name, c.arguments) for c in thread.tool_calls] == [("weather", '{"in": "Porto"}')]
    assert [m.content for m in thread.messages if m.kind is Kind.TOOL] == ["Rain, 14 degrees"]
    assert all(m.active for m in thread.messages)


def test_anthropics_tools(proxy: Proxy) -> None:
    client = proxy.anthropic(default_headers=SCOPE)
    proxy.memory("acme/rex").store_message("It always rains in Porto in November.")
    proxy.provider.script.extend([Says("", calls=(("weather", '{"in": "Porto"}'),)), Says("It rains.")])
    messages: list[Any] = [{"role": "user", "content": "Does it rain in Porto?"}]
    tools: list[Any] = [{"name": "weather", "input_schema": {"type": "object"}}]
    first = client.messages.create(model="c", max_tokens=99, messages=messages, tools=tools)
    assert first.content[0].input == {"in": "Porto"}
    given = proxy.provider.body["messages"][0]
    result = {"type": "tool_result", "tool_use_id": "toolu_0", "content": [{"type": "text", "text": "Rain"}]}
    messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
    client.messages.create(model="c", max_tokens=99, messages=messages, tools=tools)
    assert proxy.provider.body["messages"][0] == given  # to the byte, so that the provider's cache holds
    assert proxy.provider.body["messages"][2] == {"role": "user", "content": [result]}
    assert [words for _, words in said(proxy)][-2:] == ["Does it rain in Porto?", "It rains."]


def test_what_was_given_stays_where_it_was_in_the_next_turn(proxy: Proxy) -> None:
    memory = proxy.memory("acme/rex")
    memory.store_message(CHICKEN)
    client = proxy.anthropic(default_headers=SCOPE)
    messages: list[Any] = [{"role": "user", "content": "What must Rex not eat?"}]
    client.messages.create(model="c", max_tokens=99, messages=messages)
    first = proxy.provider.body["messages"]
    messages += [{"role": "assistant", "content": "Noted."}, {"role": "user", "content": "And what may he eat?"}]
    client.messages.create(model="c", max_tokens=99, messages=messages)
    assert proxy.provider.body["messages"][:1] == first
    memory.forget(memory.search("chicken")[0].best.message.id)
    messages += [{"role": "assistant", "content": "Noted."}, {"role": "user", "content": "Is that all?"}]
    client.messages.create(model="c", max_tokens=99, messages=messages)
    assert "chicken" not in json.dumps(proxy.provider.body)


def test_errors_come_in_the_shape_of_the_vendor(proxy: Proxy) -> None:
    import anthropic
    import openai

    proxy.provider.script.extend(
        Says(status=429, kind="rate_limit_error", headers={"retry-after": "7"}, message="Slow down.") for _ in range(2)
    )
    with pytest.raises(openai.RateLimitError, match=r"Slow down\.") as limited:
        proxy.openai().chat.completions.create(model="m", messages=[{"role": "user", "content": "Hello"}])
    assert limited.value.response.headers["retry-after"] == "7"
    with pytest.raises(anthropic.RateLimitError):
        proxy.anthropic().messages.create(model="c", max_tokens=9, messages=[{"role": "user", "content": "Hello"}])
    wrong = {"X-Recollect-Namespace": "no good"}
    with pytest.raises(openai.BadRequestError, match="is not a namespace"):
        proxy.openai(default_headers=wrong).responses.create(model="m", input="Hello")
    with pytest.raises(anthropic.BadRequestError, match="is not a namespace") as bad:
        proxy.anthropic(default_headers=wrong).messages.create(
            model="c", max_tokens=9, messages=[{"role": "user", "content": "Hello"}]
        )
    assert bad.value.body["error"]["type"] == "invalid_request_error"
    assert proxy.memories.names() == ("default",)  # nothing is kept of what was not answered


def test_models_and_counts(proxy: Proxy) -> None:
    assert [model.id for model in proxy.openai().models.list()] == ["m-1"]
    assert [model.id for model in proxy.anthropic().models.list()] == ["m-1"]
    assert proxy.provider.headers["anthropic-version"]
    proxy.memory("acme/rex").store_message(CHICKEN)
    messages: list[Any] = [{"role": "user", "content": "What must Rex not eat?"}]
    bare = proxy.anthropic().messages.count_tokens(model="c", messages=messages).input_tokens
    more = proxy.anthropic(default_headers=SCOPE).messages.count_tokens(model="c", messages=messages).input_tokens
    assert more > bare + 50
    assert len(said(proxy)) == 1


def test_nothing_is_kept_when_asked_not_to(proxy: Proxy) -> None:
    proxy.memory("acme/rex").store_message(CHICKEN)
    client = proxy.openai(default_headers={**SCOPE, "X-Recollect-Store": "no"})
    raw = client.chat.completions.with_raw_response.create(
        model="m", messages=[{"role": "user", "content": "What must Rex not eat?"}]
    )
    assert raw.headers["x-recollect-stored"] == "no"
    assert CHICKEN in proxy.provider.body["messages"][0]["content"]
    assert len(said(proxy)) == 1


def test_keys_and_what_is_ours(proxy: Proxy) -> None:
    client = proxy.openai(default_headers=SCOPE)
    client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "Hello"}], metadata={"recollect_conversation": "c", "own": "x"}
    )
    assert proxy.provider.headers["authorization"] == "Bearer sk-own"
    assert proxy.provider.body["metadata"] == {"own": "x"}
    assert [name for name in proxy.provider.headers if name.startswith("x-recollect")] == ["x-recollect-via"]


def test_a_client_that_hangs_up_ends_the_answer_at_the_upstream_too(proxy: Proxy) -> None:
    client = proxy.openai(default_headers=SCOPE)
    proxy.provider.otherwise = Says("One two three four five six seven eight.", fault="pause")
    with client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Count"}], stream=True) as s:
        for chunk in s:
            if chunk.choices[0].delta.content:
                break
    for _ in range(100):
        if found := said(proxy):
            break
        time.sleep(0.05)
    assert found[0] == ("user", "Count")
    assert "One two three four five six seven eight.".startswith(found[1][1])


@pytest.mark.parametrize("headers", [{}, {"X-Stainless-Retry-Count": "1"}])
def test_an_answer_that_nobody_waited_for_was_not_heard(proxy: Proxy, headers: dict[str, str]) -> None:
    """Whether the client asks again by itself or by its user, it goes on in the same turn."""
    asked: list[Any] = [{"role": "user", "content": "Count"}]
    proxy.provider.script += [Says("One, too late.", fault="pause"), Says("One.")]
    hasty = HTTPConnection(proxy.address.removeprefix("http://"))
    body = json.dumps({"model": "m", "messages": asked})
    hasty.request("POST", "/v1/chat/completions", body, {"Authorization": "Bearer sk-own", **SCOPE})
    for _ in range(200):
        if proxy.provider.asked:
            break
        time.sleep(0.05)
    hasty.close()
    client = proxy.openai(default_headers=SCOPE)
    client.chat.completions.create(model="m", messages=asked, extra_headers=headers)
    proxy.provider.pause.set()
    asked += [{"role": "assistant", "content": "One."}, {"role": "user", "content": "And on?"}]
    client.chat.completions.create(model="m", messages=asked)
    assert [words for _, words in said(proxy)] == ["Count", "One.", "And on?", "Noted."]
    assert len(proxy.memory("acme/rex").conversations()) == 1


def test_an_upstream_that_breaks_off_is_told_within_the_stream(proxy: Proxy) -> None:
    import anthropic
    import openai

    proxy.provider.otherwise = Says("One two three four five six seven eight.", fault="cut")
    asked: list[Any] = [{"role": "user", "content": "Count"}]
    with (
        pytest.raises(openai.APIError, match="broke off"),
        proxy.openai().chat.completions.create(model="m", messages=asked, stream=True) as chunks,
    ):
        list(chunks)
    with (
        pytest.raises(anthropic.APIStatusError, match="broke off"),
        proxy.anthropic().messages.stream(model="c", max_tokens=9, messages=asked) as stream,
    ):
        stream.until_done()


def test_an_upstream_that_is_not_there(proxy: Proxy, tmp_path: Path) -> None:
    import openai

    proxy.provider.close()
    with pytest.raises(openai.InternalServerError, match=r"cannot be reached: ConnectError") as failed:
        proxy.openai().chat.completions.create(model="m", messages=[{"role": "user", "content": "Hello"}])
    assert failed.value.status_code == 502


def test_the_memorys_own_calls_do_not_pass(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    from recollect.models.language.base import LanguageModelError
    from recollect.models.language.choose import open_model
    from recollect.models.language.talk import Said, Talk, talking

    monkeypatch.setenv("OPENAI_BASE_URL", f"{proxy.address}/v1")
    for spec in ("openai:m", f"anthropic:m@{proxy.address}"):
        model = open_model(spec)
        assert model is not None
        with pytest.raises(LanguageModelError, match="must not pass through its proxy"):
            list(talking(model, "a test").talk(Talk(system="", said=(Said(role="user", text="Hello"),))))
    assert not proxy.provider.asked


def test_a_proxy_does_not_ask_itself(tmp_path: Path, provider: Upstream, home: Path) -> None:
    import openai

    with serving(tmp_path, provider, openai_upstream="") as proxy:
        port = proxy.address.rpartition(":")[2]
        for base in (f"{proxy.address}/v1", f"http://localhost:{port}/v1", f"http://[::1]:{port}/in/x/v1"):
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("OPENAI_BASE_URL", base)
                with pytest.raises(openai.InternalServerError, match="names this proxy") as refused:
                    proxy.openai().models.list()
                assert refused.value.status_code == 508


def test_the_token_of_the_server_stays_here(tmp_path: Path, provider: Upstream, home: Path) -> None:
    import openai

    token = "t" * 40
    with serving(tmp_path, provider, token=token) as proxy:
        with pytest.raises(openai.AuthenticationError):
            proxy.openai().models.list()
        proxy.openai(default_headers={"X-Recollect-Token": token}).models.list()
        assert provider.headers["authorization"] == "Bearer sk-own"
        proxy.openai(api_key=token).models.list()
        assert token not in str(provider.headers)


def test_a_token_beside_a_key_goes_nowhere(tmp_path: Path, provider: Upstream, home: Path) -> None:
    token = "t" * 40
    shown = {"X-Recollect-Token": token}
    several = [
        [("Authorization", f"Bearer sk-own, Bearer {token}")],
        [("Authorization", f"Bearer {token}, Bearer sk-own")],
        [("Authorization", f"bearer  sk-own {token}")],
        [("Authorization", "Bearer sk-own"), ("Authorization", f"Bearer {token}")],
        [("Authorization", f"Bearer {token}"), ("Authorization", "Bearer sk-own")],
    ]
    with serving(tmp_path, provider, token=token) as proxy:
        url = f"{proxy.address}/v1/models"
        for headers in several:
            assert httpx2.get(url, headers=headers).status_code == 401
            refused = httpx2.get(url, headers=[*headers, *shown.items()])
            assert refused.status_code == 400
            assert "more than one key" in refused.json()["error"]["message"]
        assert not provider.asked
        for name in ("x-api-key", "api-key", "X-Key-Of-A-Gateway"):
            headers = {"Authorization": "Bearer sk-own", name: f"sk-own, {token}", **shown}
            assert httpx2.get(url, headers=headers).status_code == 200
            assert provider.headers["authorization"] == "Bearer sk-own"
            assert token not in str(provider.headers)


@pytest.mark.parametrize("path", ["embeddings", "completions", "audio/speech", "chat/completions", "responses"])
def test_the_path_says_whose_a_request_is(tmp_path: Path, provider: Upstream, home: Path, path: str) -> None:
    headers = {"x-api-key": "sk-own", "anthropic-version": "2023-06-01"}
    with serving(tmp_path, provider, anthropic_upstream="http://127.0.0.1:1") as proxy:
        body = {"model": "m", "input": "Hello", "messages": [{"role": "user", "content": "Hello"}]}
        assert httpx2.post(f"{proxy.address}/v1/{path}", json=body, headers=headers).status_code == 200
        assert httpx2.get(f"{proxy.address}/v1/models", headers={"x-api-key": "sk-own"}).status_code == 200
        assert httpx2.get(f"{proxy.address}/v1/models", headers=headers).status_code == 502
        assert httpx2.get(f"{proxy.address}/v1/messages/batches", headers={"x-api-key": "k"}).status_code == 502


def test_the_key_of_the_environment_is_lent_only_where_a_model_of_the_vendor_was_chosen(
    tmp_path: Path, provider: Upstream, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.root}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    for number, model in enumerate(("", "anthropic:m")):
        with serving(tmp_path / str(number), provider, openai_upstream="", model=model) as proxy:
            proxy.openai(api_key="recollect").models.list()
            assert "authorization" not in provider.headers
    with serving(tmp_path, provider, openai_upstream="", model="openai:m") as proxy:
        proxy.openai(api_key="recollect").models.list()
        assert provider.headers["authorization"] == "Bearer sk-environment"
        proxy.openai().models.list()
        assert provider.headers["authorization"] == "Bearer sk-own"
    with serving(tmp_path / "other", provider, model="openai:m") as proxy:  # its key is not for this one
        proxy.openai(api_key="recollect").models.list()
        assert "authorization" not in provider.headers


def test_a_request_without_a_key_is_not_sent_to_the_vendor(
    tmp_path: Path, provider: Upstream, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import anthropic
    import openai

    monkeypatch.setitem(_DEFAULTS, "openai", f"{provider.root}/v1")
    monkeypatch.setitem(_DEFAULTS, "anthropic", provider.root)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    asked: list[Any] = [{"role": "user", "content": "Hello"}]
    with serving(tmp_path, provider, openai_upstream="", anthropic_upstream="") as proxy:
        with pytest.raises(openai.AuthenticationError, match="recollect serve --model openai:MODEL"):
            proxy.openai(api_key="recollect").chat.completions.create(model="m", messages=asked)
        with pytest.raises(anthropic.AuthenticationError, match="was not sent"):
            proxy.anthropic(api_key="recollect").messages.create(model="c", max_tokens=9, messages=asked)
        assert not provider.asked
        proxy.openai().chat.completions.create(model="m", messages=asked)
        assert len(provider.asked) == 1


def test_the_namespace_may_stand_in_the_address(proxy: Proxy) -> None:
    client = proxy.openai(base_url=f"{proxy.address}/in/acme/rex/v1")
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": CHICKEN}])
    assert ("user", CHICKEN) in said(proxy)
    raw = proxy.openai().chat.completions.with_raw_response.create(
        model="m", messages=[{"role": "user", "content": "What must Rex not eat?"}]
    )
    assert (raw.headers["x-recollect-namespace"], raw.headers["x-recollect-scope"]) == ("apart", "apart")
    assert raw.headers["x-recollect-context"] == "0"


def test_names_of_no_form_are_refused_before_anything_is_sent(proxy: Proxy) -> None:
    import openai

    for headers in (
        {"X-Recollect-Conversation": "c" * 5_000},
        {"X-Recollect-Namespace": "acme/.."},
        {"X-Recollect-Namespace": "."},
    ):
        with pytest.raises(openai.BadRequestError, match=r"cannot be|not a namespace"):
            proxy.openai().chat.completions.create(
                model="m", messages=[{"role": "user", "content": "Hello"}], extra_headers=headers
            )
    assert not proxy.provider.asked


def test_two_keys_with_conversations_of_one_name_share_nothing(proxy: Proxy) -> None:
    """Also not what they are given."""
    own = {"X-Recollect-Conversation": "main"}
    asked: list[Any] = [{"role": "user", "content": "Which password did I tell you about?"}]
    for key, words in (("a", "My password is swordfish."), ("b", "I like tea.")):
        client = proxy.openai(api_key=key, default_headers=own)
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": words}])
    for key, is_told in (("b", False), ("a", True)):
        proxy.openai(api_key=key, default_headers=own).chat.completions.create(model="m", messages=asked)
        assert ("swordfish" in json.dumps(proxy.provider.body)) is is_told


def test_a_memory_that_fails_costs_the_request_nothing_more(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise StoreError("The disk is on fire.")

    proxy.memory("acme/rex").store_message(CHICKEN)
    monkeypatch.setattr("recollect.memory.Memory.prepare_context", fails)
    raw = proxy.openai(default_headers=SCOPE).chat.completions.with_raw_response.create(
        model="m", messages=[{"role": "user", "content": "What must Rex not eat?"}]
    )
    assert raw.parse().choices[0].message.content == "Noted."
    assert raw.headers["x-recollect-degraded"] == "The disk is on fire."


def test_what_goes_wrong_inside_costs_nothing_more_either(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr("recollect.gateway.threads.Threads.place", fails)
    monkeypatch.setattr("recollect.gateway.exchange.keep", fails)
    raw = proxy.openai(base_url=f"{proxy.address}/in/übung/v1").chat.completions.with_raw_response.create(
        model="m", messages=[{"role": "user", "content": "Hello"}]
    )
    assert raw.parse().choices[0].message.content == "Noted."
    assert raw.headers["x-recollect-namespace"] == "%C3%BCbung"
    assert raw.headers["x-recollect-stored"] == "no"
    assert "ZeroDivisionError" in raw.headers["x-recollect-degraded"]


def test_what_is_compressed_is_passed_on_unread(proxy: Proxy) -> None:
    import gzip

    import httpx2

    body = gzip.compress(b"{}")
    answer = httpx2.post(f"{proxy.address}/v1/responses", content=body, headers={"Content-Encoding": "gzip"})
    assert answer.status_code == 502  # the provider of these tests cannot read it, and hangs up
    assert "dropped the connection" in answer.json()["error"]["message"]


def test_many_at_once(proxy: Proxy) -> None:
    def ask(number: int) -> None:
        client = proxy.openai(default_headers={"X-Recollect-Namespace": f"n/{number % 3}"})
        messages: list[Any] = []
        for turn in range(2):
            messages.append({"role": "user", "content": f"Question {turn} of {number}?"})
            answer = client.chat.completions.create(model="m", messages=messages, stream=True)
            words = "".join(c.choices[0].delta.content or "" for c in answer if c.choices)
            messages.append({"role": "assistant", "content": words})

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(ask, range(12)))
    for space in range(3):
        rows = proxy.memory(f"n/{space}").conversations()
        assert [row.messages for row in rows] == [4] * 4
