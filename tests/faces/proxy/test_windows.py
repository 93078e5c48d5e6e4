"""Conversations that outgrow a model: they go on, without their oldest exchanges, which the memory gives back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.faces.proxy.conftest import Proxy, serving
from tests.faces.proxy.test_proxy import said
from tests.gateway.upstream import Upstream
from tests.models.language.wire_server import Says

SCOPE = {"X-Recollect-Namespace": "acme/rex"}
FIRST = "My locker at the Porto pool has the code 4417."
QUESTION = "What is the code of my locker at the Porto pool?"
WINDOW = 8_000
SYSTEM = "Be brief and kind."


def filler(number: int) -> str:
    """A message of about 250 tokens that nothing else is like."""
    return f"Report {number}: " + " ".join(
        f"the {number}th buoy drifts {n} cables north of the mole." for n in range(18)
    )


def history(exchanges: int) -> list[dict[str, Any]]:
    """The code first, then other things."""
    talk = [{"role": "user", "content": FIRST}, {"role": "assistant", "content": "Noted, I shall remember that."}]
    for number in range(exchanges):
        talk.append({"role": "user", "content": filler(number)})
        talk.append({"role": "assistant", "content": f"Report {number} is filed."})
    return talk


def ask(proxy: Proxy, form: str, talk: list[dict[str, Any]], *, stream: bool, **headers: str) -> tuple[str, Any]:
    """The words and the headers of an answer."""
    told = {**SCOPE, **{f"X-Recollect-{name.replace('_', '-')}": value for name, value in headers.items()}}
    if form == "messages":
        client = proxy.anthropic(default_headers=told)
        given = {"model": "c", "max_tokens": 500, "system": SYSTEM, "messages": talk}
        if not stream:
            raw = client.messages.with_raw_response.create(**given)
            return raw.parse().content[0].text, raw.headers
        with client.messages.stream(**given) as events:
            return "".join(events.text_stream), events.response.headers
    client = proxy.openai(default_headers=told)
    if form == "completions":
        talk = [{"role": "system", "content": SYSTEM}, *talk]
        raw = client.chat.completions.with_raw_response.create(model="m", messages=talk, stream=stream)
        if not stream:
            return raw.parse().choices[0].message.content, raw.headers
        return "".join(chunk.choices[0].delta.content or "" for chunk in raw.parse() if chunk.choices), raw.headers
    raw = client.responses.with_raw_response.create(
        model="m", instructions=SYSTEM, input=talk, stream=stream, store=False
    )
    if not stream:
        return raw.parse().output_text, raw.headers
    return "".join(event.delta for event in raw.parse() if event.type == "response.output_text.delta"), raw.headers


def items(proxy: Proxy) -> list[dict[str, Any]]:
    body = proxy.provider.body
    found = body.get("messages") or body["input"]
    return [item for item in found if item["role"] != "system"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("form", ["completions", "responses", "messages"])
def test_what_is_refused_for_its_length_is_sent_again_shorter(proxy: Proxy, form: str, stream: bool) -> None:
    proxy.provider.window = WINDOW
    proxy.provider.otherwise = Says("It is 4417.")
    talk = [*history(40), {"role": "user", "content": QUESTION}]
    words, headers = ask(proxy, form, talk, stream=stream)
    assert words == "It is 4417."
    assert proxy.provider.refused == 1
    left_out = int(headers["x-recollect-left-out"])
    sent = items(proxy)
    assert len(sent) == len(talk) - left_out
    assert sent[0]["role"] == "user"
    assert sent[:-1] == talk[left_out:-1]
    assert SYSTEM in json.dumps({**proxy.provider.body, "tools": None})
    assert FIRST not in json.dumps(sent[:-1])
    assert FIRST in json.dumps(sent[-1])  # what was left out was stored first, found, and given back
    assert QUESTION in json.dumps(sent[-1])
    assert [words for _, words in said(proxy)] == [*(item["content"] for item in talk), "It is 4417."]

    talk += [{"role": "assistant", "content": words}, {"role": "user", "content": "Thank you. And the buoys?"}]
    ask(proxy, form, talk, stream=stream)
    assert proxy.provider.refused == 1  # it is known by now how much the model takes
    assert items(proxy)[: len(sent) - 1] == sent[:-1]  # so that the provider's cache holds


def test_a_conversation_goes_on_for_ever_and_its_beginning_seldom_moves(proxy: Proxy) -> None:
    proxy.provider.window = WINDOW
    talk: list[dict[str, Any]] = []
    begins: list[str] = []
    client = proxy.openai(default_headers={**SCOPE, "X-Recollect-Budget": "0"})
    for number in range(80):
        talk.append({"role": "user", "content": filler(number)})
        answer = client.chat.completions.create(model="m", messages=talk)
        talk.append({"role": "assistant", "content": answer.choices[0].message.content})
        begins.append(items(proxy)[0]["content"])
    assert proxy.provider.refused <= 2
    moves = [n for n in range(1, 80) if begins[n] != begins[n - 1]]
    assert 3 <= len(moves) <= 10  # of about 40 turns that are too long
    assert len(said(proxy)) == 160


def test_a_limit_by_header_or_setting(tmp_path: Path, provider: Upstream, home: Path) -> None:
    talk = [*history(40), {"role": "user", "content": QUESTION}]
    with serving(tmp_path, provider, proxy_window=6_000) as proxy:
        _, headers = ask(proxy, "messages", talk, stream=False)
        by_setting = int(headers["x-recollect-left-out"])
        _, headers = ask(proxy, "messages", talk, stream=False, Window="4000")
        assert int(headers["x-recollect-left-out"]) > by_setting
        _, headers = ask(proxy, "messages", talk, stream=False, Window="0")
        assert "x-recollect-left-out" not in headers
        assert len(items(proxy)) == len(talk)
        assert all("x-recollect-window" not in told for _, _, told in provider.asked)


def test_who_wants_to_be_refused_is(proxy: Proxy) -> None:
    import openai

    proxy.provider.window = WINDOW
    talk = [*history(40), {"role": "user", "content": QUESTION}]
    with pytest.raises(openai.BadRequestError, match="maximum context length"):
        ask(proxy, "completions", talk, stream=False, Window="0")
    with pytest.raises(openai.BadRequestError, match="maximum context length"):  # what goes and is not stored is gone
        ask(proxy, "completions", talk, stream=False, Store="no")
    _, headers = ask(proxy, "completions", talk, stream=False, Store="no", Window="7000")
    assert int(headers["x-recollect-left-out"]) > 0
    assert proxy.memories.names() == ("default",)


def test_what_the_provider_keeps_it_alone_can_leave_out(proxy: Proxy) -> None:
    import openai

    proxy.provider.window = WINDOW
    with pytest.raises(openai.BadRequestError, match="exceeds the context window"):
        proxy.openai(default_headers=SCOPE).responses.create(
            model="m", input=[*history(40), {"role": "user", "content": QUESTION}], previous_response_id="resp_7"
        )
    assert len(proxy.provider.asked) == 1


def test_a_question_that_alone_is_too_long_is_refused_by_the_provider(proxy: Proxy) -> None:
    import anthropic

    proxy.provider.window = WINDOW
    talk = [{"role": "user", "content": " ".join(filler(number) for number in range(60))}]
    with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
        ask(proxy, "messages", talk, stream=False)
    assert len(proxy.provider.asked) == 1
    ask(proxy, "messages", [{"role": "user", "content": "Hello"}], stream=False)


def test_what_is_given_makes_no_request_too_long(proxy: Proxy) -> None:
    memory = proxy.memory("acme/rex")
    memory.store_messages([{"content": filler(number)} for number in range(60)])
    proxy.provider.window = 3_000
    words, headers = ask(
        proxy, "completions", [{"role": "user", "content": "Which buoys drift north of the mole?"}], stream=False
    )
    assert words == "Noted."
    assert int(headers["x-recollect-context"]) > 0
    assert "x-recollect-left-out" not in headers


def test_a_file_that_is_too_long_spoils_no_other_conversation(proxy: Proxy) -> None:
    import anthropic

    proxy.provider.window = WINDOW
    document = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "A" * 90_000}}
    asked: list[dict[str, Any]] = [{"role": "user", "content": [document, {"type": "text", "text": "What is this?"}]}]
    with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
        ask(proxy, "messages", asked, stream=False)
    _, headers = ask(proxy, "messages", [*history(12), {"role": "user", "content": QUESTION}], stream=False)
    assert "x-recollect-left-out" not in headers


def test_steps_of_an_agent_go_with_the_results_of_their_tools(proxy: Proxy) -> None:
    """One question, and then hundreds of calls: the question stays, the oldest steps go."""
    proxy.provider.window = WINDOW
    talk: list[dict[str, Any]] = [{"role": "user", "content": "Read all the reports and count the buoys."}]
    for number in range(40):
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": "read", "input": {"report": number}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": filler(number)}
        talk += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    _, headers = ask(proxy, "messages", talk, stream=True)
    sent = items(proxy)
    left_out = int(headers["x-recollect-left-out"])
    assert left_out % 2 == 0
    assert "count the buoys" in json.dumps(sent[0])
    assert sent[1:] == talk[1 + left_out :]
    memory = proxy.memory("acme/rex")
    kept = memory.conversation(memory.conversations()[0].conversation.id).tool_calls
    assert len(kept) == 40  # those that were left out, too


def test_a_budget_of_0_in_the_settings_gives_nothing(tmp_path: Path, provider: Upstream, home: Path) -> None:
    with serving(tmp_path, provider, proxy_budget=0) as proxy:
        proxy.memory("acme/rex").store_message(FIRST)
        _, headers = ask(proxy, "completions", [{"role": "user", "content": QUESTION}], stream=False)
        assert headers["x-recollect-context"] == "0"
        assert proxy.provider.body["messages"][-1]["content"] == QUESTION
        _, headers = ask(
            proxy, "completions", [{"role": "user", "content": f"{QUESTION} Now."}], stream=False, Budget="800"
        )
        assert int(headers["x-recollect-context"]) > 0
