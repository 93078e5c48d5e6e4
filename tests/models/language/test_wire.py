"""Both SDKs against a server that answers well, and with every fault there is: each is told apart, and what helps."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from recollect.errors import InvalidInput, ModelError
from recollect.models.language.anthropic import AnthropicModel
from recollect.models.language.base import (
    BrokenAnswer,
    CutAnswer,
    EmptyAnswer,
    HugeAnswer,
    LanguageModelError,
    ModelNotReady,
    ModelRefused,
    ModelTimeout,
    ModelUnreachable,
    RateLimited,
    RequestRejected,
    WrongAnswer,
)
from recollect.models.language.openai import OpenAIModel
from tests.models.language.conftest import GOOD, REQUEST, model_of
from tests.models.language.wire_server import HUGE, Says, WireServer, retry_date, says

pytestmark = pytest.mark.slow


def failed(model: Any) -> LanguageModelError:
    with pytest.raises(LanguageModelError) as caught:
        model.complete(REQUEST)
    assert isinstance(caught.value, ModelError)
    assert "chicken" not in str(caught.value)
    return caught.value


def test_a_good_answer_is_validated_and_counted(model: Any, server: WireServer) -> None:
    server.script.append(says(GOOD, usage=(1000, 200)))
    found = model.complete(REQUEST)
    assert found.data == GOOD
    assert (found.input_tokens, found.output_tokens, found.calls) == (1000, 200, 1)
    assert found.cost == pytest.approx((1000 * 1 + 200 * 5) / 1e6)
    assert found.model == model.name
    assert len(server.bodies) == 1


def test_what_is_sent_is_the_prompt_the_example_and_the_text_and_nothing_else(
    model: Any, provider: str, server: WireServer
) -> None:
    server.script.append(says(GOOD))
    model.complete(REQUEST)
    body = server.bodies[0]
    turns = body["messages"]
    system = body["system"] if provider == "anthropic" else turns.pop(0)["content"]
    assert turns == [{"role": "user", "content": REQUEST.text}]
    assert system.startswith("Summarise.")
    assert json.dumps(GOOD) in system
    assert body["stream"] is True
    if provider == "anthropic":
        assert body["output_config"]["format"]["type"] == "json_schema"
        assert "minLength" not in json.dumps(body["output_config"])
        assert body["max_tokens"] >= REQUEST.max_tokens
    else:
        assert body["response_format"]["json_schema"]["strict"] is True
        assert '"required"' in system  # some servers take a schema and do not look at it
        assert body["max_tokens"] == REQUEST.max_tokens


def test_a_server_that_knows_no_schemas_is_told_in_words_and_asked_so_from_then_on(
    model: Any, provider: str, server: WireServer
) -> None:
    forms = 3 if provider == "anthropic" else 2
    for _ in range(forms - 1):
        server.script.append(Says(status=400, kind="invalid_request_error", message="unknown field"))
    server.script += [says(GOOD), says(GOOD)]
    assert model.complete(REQUEST).data == GOOD
    assert model.complete(REQUEST).calls == 1
    assert len(server.bodies) == forms + 1
    for body in server.bodies[-2:]:
        assert "output_config" not in body
        assert "response_format" not in body
        assert '"required"' in json.dumps(body).replace("\\", "")


def test_a_request_that_is_not_taken_in_any_form_is_rejected_for_good(model: Any, server: WireServer) -> None:
    server.otherwise = lambda _: Says(status=400, kind="invalid_request_error", message="prompt is too long")
    problem = failed(model)
    assert isinstance(problem, RequestRejected)
    assert (problem.again, problem.outage) == (False, False)
    assert "prompt is too long" in problem.message


@pytest.mark.parametrize(
    "form",
    ["```json\n{}\n```", "Here it is:\n{}\nI hope that helps {{truly}}.", "\ufeff  {}\n", "<think>{{a}}</think>{}"],
)
def test_json_is_found_in_fences_prose_and_thoughts(model: Any, server: WireServer, form: str) -> None:
    server.script.append(Says(form.format(json.dumps(GOOD))))
    assert model.complete(REQUEST).data == GOOD
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (Says("I think that it is about a dog."), "no JSON"),
        (Says('{"summary": "Luna'), "no JSON"),
        (says({"summary": "Luna"}), "lacks themes"),
        (says({**GOOD, "mood": "fine"}), "keys that the schema does not name"),
        (says({**GOOD, "themes": ["a", 2]}), "themes[1] is not of type string"),
        (says({**GOOD, "themes": list("abcd")}), "themes breaks maxItems 3"),
        (says([GOOD["summary"]]), "no JSON object"),
        (Says(json.dumps(GOOD)[:20], stop="limit"), "cut off"),
    ],
)
def test_a_bad_answer_is_sent_back_once_with_what_is_wrong(
    model: Any, server: WireServer, bad: Says, told: str
) -> None:
    server.script += [bad, says(GOOD)]
    found = model.complete(REQUEST)
    assert (found.data, found.calls, found.input_tokens, found.output_tokens) == (GOOD, 2, 200, 40)
    turns = server.bodies[1]["messages"]
    assert turns[-2] == {"role": "assistant", "content": bad.text}
    assert told in turns[-1]["content"]


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (Says("No idea."), BrokenAnswer),
        (says({"themes": []}), WrongAnswer),
        (Says(json.dumps(GOOD)[:20], stop="limit"), CutAnswer),
    ],
)
def test_a_second_bad_answer_is_an_error_to_try_again(
    model: Any, server: WireServer, bad: Says, kind: type[LanguageModelError]
) -> None:
    server.script += [bad, bad]
    problem = failed(model)
    assert type(problem) is kind
    assert (problem.again, problem.outage, problem.usage.calls) == (True, False, 2)


def test_a_cut_answer_is_asked_for_again_with_more_room(model: Any, server: WireServer) -> None:
    server.script += [Says("{", stop="limit"), says(GOOD)]
    model.complete(REQUEST)
    name = "max_tokens" if "max_tokens" in server.bodies[0] else "max_completion_tokens"
    assert server.bodies[1][name] - server.bodies[0][name] == REQUEST.max_tokens


def test_an_empty_answer_is_told_and_not_argued_with(model: Any, server: WireServer) -> None:
    server.script.append(Says("  \n"))
    problem = failed(model)
    assert (type(problem), problem.again, problem.usage.calls) == (EmptyAnswer, True, 1)


def test_thinking_that_left_no_room_is_told(model: Any, server: WireServer) -> None:
    server.script.append(Says("", stop="limit"))
    assert isinstance(failed(model), EmptyAnswer)


def test_a_refusal_is_for_good_and_counted(model: Any, server: WireServer) -> None:
    server.script.append(Says("", stop="refusal"))
    problem = failed(model)
    assert (type(problem), problem.again, problem.outage, problem.usage.calls) == (ModelRefused, False, False, 1)


def test_silence_is_a_time_out(provider: str, server: WireServer) -> None:
    server.script.append(Says(fault="silence"))
    started = time.monotonic()
    problem = failed(model_of(provider, server, silence=0.3))
    assert (type(problem), problem.again, problem.outage) == (ModelTimeout, True, False)
    assert time.monotonic() - started < 3
    assert problem.usage.calls == 1  # the provider may count what it never sent


def test_an_answer_that_drips_for_ever_is_a_time_out(provider: str, server: WireServer) -> None:
    server.script.append(Says(json.dumps(GOOD) * 20, fault="drip"))
    started = time.monotonic()
    assert isinstance(failed(model_of(provider, server, silence=2, longest=0.5)), ModelTimeout)
    assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({}, None, None),
        ({"Retry-After": "7"}, 7, 7),
        ({"retry-after-ms": "1500"}, 1.5, 1.5),
        ({"Retry-After": "soon"}, None, None),
        ({"Retry-After": "nan"}, None, None),
        ({"Retry-After": "-3"}, 0, 0),
        ({"Retry-After": "999999999"}, 86_400, 86_400),
        ({"Retry-After": "date"}, 20, 31),
    ],
)
def test_a_rate_limit_tells_how_long_to_wait(
    model: Any, server: WireServer, headers: dict[str, str], least: float | None, most: float | None
) -> None:
    headers = {name: retry_date(30) if value == "date" else value for name, value in headers.items()}
    server.script.append(Says(status=429, kind="rate_limit_error", headers=headers))
    problem = failed(model)
    assert (type(problem), problem.again, problem.outage) == (RateLimited, True, True)
    assert problem.usage.calls == 0
    if least is None or most is None:
        assert problem.retry_after is None
    else:
        assert problem.retry_after is not None
        assert least <= problem.retry_after <= most
    assert len(server.bodies) == 1  # the SDK does not retry: whoever asks knows better


@pytest.mark.parametrize("status", [500, 502, 503, 529])
def test_a_server_with_problems_is_asked_later(model: Any, server: WireServer, status: int) -> None:
    server.script.append(Says(status=status, kind="api_error", headers={"Retry-After": "3"}))
    problem = failed(model)
    assert (type(problem), problem.again, problem.outage) == (ModelUnreachable, True, True)
    assert problem.retry_after == 3
    assert len(server.bodies) == 1


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_or_name_waits_for_a_person(model: Any, server: WireServer, status: int) -> None:
    server.script.append(Says(status=status, kind="authentication_error"))
    problem = failed(model)
    assert (type(problem), problem.again, problem.outage) == (ModelNotReady, False, True)
    assert problem.hint
    assert len(server.bodies) == 1


def test_a_used_up_quota_is_no_rate_limit(model: Any, server: WireServer) -> None:
    server.script.append(Says(status=429, kind="insufficient_quota"))
    assert isinstance(failed(model), ModelNotReady)


@pytest.mark.parametrize("fault", ["cut", "no_end", "no_reason"])
def test_a_cut_stream_is_told_from_an_empty_answer(model: Any, server: WireServer, fault: str) -> None:
    server.script.append(says(GOOD, fault=fault))
    problem = failed(model)
    assert (type(problem), problem.again, problem.usage.calls) == (CutAnswer, True, 1)
    assert len(server.bodies) == 1


def test_a_connection_that_breaks_before_any_answer_is_unreachable(model: Any, server: WireServer) -> None:
    server.script.append(Says(fault="cut_at_once"))
    assert isinstance(failed(model), ModelUnreachable)


def test_nobody_there_is_unreachable(provider: str, server: WireServer) -> None:
    model = model_of(provider, server)
    server.close()
    problem = failed(model)
    assert (type(problem), problem.again, problem.outage) == (ModelUnreachable, True, True)


def test_an_error_within_a_stream_is_told_by_its_kind(model: Any, server: WireServer) -> None:
    server.script.append(says(GOOD, fault="in_stream", kind="overloaded_error"))
    problem = failed(model)
    assert (type(problem), problem.again) == (ModelUnreachable, True)


def test_ten_megabytes_are_left_where_they_are(model: Any, server: WireServer) -> None:
    server.script.append(Says(fault="huge"))
    started = time.monotonic()
    problem = failed(model)
    assert (type(problem), problem.again) == (HugeAnswer, True)
    assert server.sent < HUGE / 2
    assert time.monotonic() - started < 3


def test_an_error_of_ten_megabytes_is_left_as_well(model: Any, server: WireServer) -> None:
    server.script.append(Says(status=500, fault="huge_error"))
    assert failed(model).again
    assert server.sent < HUGE / 2


def test_what_is_no_stream_of_events_is_a_wrong_address(model: Any, server: WireServer) -> None:
    server.script.append(Says(fault="page"))
    problem = failed(model)
    assert isinstance(problem, ModelNotReady)
    assert "text/html" in problem.message


def test_events_that_are_no_json_are_a_broken_answer(model: Any, server: WireServer) -> None:
    server.script.append(Says(fault="garbage"))
    assert failed(model).again


def test_an_error_that_quotes_the_request_is_told_without_its_words(model: Any, server: WireServer) -> None:
    quoting = "cannot parse: Luna can't have chicken, she's allergic to it."
    server.otherwise = lambda _: Says(status=400, kind="invalid_request_error", message=quoting)
    assert "Luna" not in failed(model).message


def test_a_server_that_counts_no_tokens_is_counted_for(model: Any, server: WireServer) -> None:
    server.script.append(says(GOOD, usage=None))
    found = model.complete(REQUEST)
    assert found.input_tokens > 20


def test_no_redirect_carries_the_texts_away(model: Any, server: WireServer) -> None:
    server.script.append(Says(status=307, headers={"Location": f"{server.root}/elsewhere/messages"}))
    assert isinstance(failed(model), ModelNotReady)
    assert len(server.bodies) == 1


def test_a_key_is_sent_only_to_the_server_that_it_is_for(
    provider: str, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret-of-anthropic")
    monkeypatch.setenv("OPENAI_API_KEY", "secret-of-openai")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9/never")
    server.script += [says(GOOD), says(GOOD)]
    model_of(provider, server).complete(REQUEST)
    assert "secret" not in json.dumps(server.headers[0])
    monkeypatch.setenv("RECOLLECT_MODEL_KEY", "key-of-this-server")
    model_of(provider, server).complete(REQUEST)
    assert "key-of-this-server" in json.dumps(server.headers[1])


def test_the_usual_server_of_openai_gets_its_key(server: WireServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.root}/v1/")
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-gateway")
    server.script.append(says(GOOD))
    OpenAIModel("test").complete(REQUEST)
    assert server.headers[0]["authorization"] == "Bearer key-of-the-gateway"


def test_without_a_key_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelNotReady, match="ANTHROPIC_API_KEY"):
        AnthropicModel("claude-test").complete(REQUEST)
    with pytest.raises(ModelNotReady, match="OPENAI_API_KEY"):
        OpenAIModel("test").complete(REQUEST)


@pytest.mark.parametrize("address", ["localhost:11434", "ftp://host", "http://", "http://user:password@host/v1"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput):
        OpenAIModel("test", base_url=address)
