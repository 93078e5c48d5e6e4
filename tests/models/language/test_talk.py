"""Free talk with both providers, streamed and with tools: told apart as well as answers by schema are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.models.language.base import (
    BudgetSpent,
    Completion,
    CutAnswer,
    EmptyAnswer,
    HugeAnswer,
    LanguageModelError,
    ModelNotReady,
    ModelRefused,
    ModelTimeout,
    ModelUnreachable,
    RateLimited,
    Request,
)
from recollect.models.language.budget import Limits, metered
from recollect.models.language.talk import Call, Result, Said, Spoken, Talk, TalkingModel, Tool, talking
from tests.models.language.conftest import model_of
from tests.models.language.wire_server import Says, WireServer

pytestmark = pytest.mark.slow

SEARCH = Tool(
    name="vector_search",
    description="Searches.",
    schema={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
QUESTION = Talk(system="Be brief.", said=[Said(role="user", text="What can Luna not eat?")], tools=[SEARCH])


def heard(model: Any, talk: Talk = QUESTION) -> tuple[list[str], Spoken]:
    *words, spoken = list(model.talk(talk))
    assert isinstance(spoken, Spoken)
    return words, spoken


def failed(model: Any) -> tuple[list[str], LanguageModelError]:
    words: list[str] = []
    with pytest.raises(LanguageModelError) as caught:
        words.extend(model.talk(QUESTION))
    assert "Luna" not in str(caught.value)
    return words, caught.value


def test_the_words_come_as_they_are_said_and_last_the_whole_turn(model: Any, server: WireServer) -> None:
    server.script.append(Says("Luna is allergic to chicken.", usage=(1000, 200)))
    words, spoken = heard(model)
    assert len(words) == 3
    assert "".join(words) == spoken.said.text == "Luna is allergic to chicken."
    assert (spoken.stop, spoken.model) == ("end", model.name)
    assert (spoken.usage.input_tokens, spoken.usage.output_tokens) == (1000, 200)
    assert spoken.cost == pytest.approx((1000 * 1 + 200 * 5) / 1e6)
    assert isinstance(model, TalkingModel)


def test_the_first_words_come_before_the_last_are_said(model: Any, server: WireServer) -> None:
    server.script.append(Says("word " * 20, fault="drip"))
    talk = model.talk(QUESTION)
    assert next(talk) == "word word wo"
    assert server.sent < 2_000
    talk.close()


def test_tools_are_told_and_called_and_their_answers_go_back(model: Any, provider: str, server: WireServer) -> None:
    server.script.append(
        Says("Let me look.", calls=(("vector_search", '{"query": "Luna food"}'),), thinking="Hm. A dog?")
    )
    _, spoken = heard(model)
    assert spoken.stop == "calls"
    (call,) = spoken.said.calls
    assert (call.name, json.loads(call.arguments)) == ("vector_search", {"query": "Luna food"})
    server.script.append(Says("No chicken."))
    results = Said(role="user", results=(Result(call, "[1] Luna can't have chicken"),))
    heard(model, Talk(system="Be brief.", said=[*QUESTION.said, spoken.said, results], tools=[SEARCH], may_call=False))
    first, second = server.bodies
    if provider == "anthropic":
        assert first["tools"][0]["input_schema"] == SEARCH.schema
        assert [body["tool_choice"]["type"] for body in (first, second)] == ["auto", "none"]
        thinking, text, use = second["messages"][1]["content"]
        assert thinking == {"type": "thinking", "thinking": "Hm. A dog?", "signature": "signed"}
        assert (text["text"], use["input"]) == ("Let me look.", {"query": "Luna food"})
        (result,) = second["messages"][2]["content"]
        assert (result["tool_use_id"], result["content"]) == (use["id"], "[1] Luna can't have chicken")
    else:
        assert first["tools"][0]["function"]["parameters"] == SEARCH.schema
        assert [body["tool_choice"] for body in (first, second)] == ["auto", "none"]
        asked, answered = second["messages"][2:]
        assert json.loads(asked["tool_calls"][0]["function"]["arguments"]) == {"query": "Luna food"}
        assert (answered["role"], answered["tool_call_id"]) == ("tool", asked["tool_calls"][0]["id"])
        assert answered["content"] == "[1] Luna can't have chicken"


def test_several_tools_are_called_in_one_turn(model: Any, server: WireServer) -> None:
    calls = (("vector_search", '{"query": "a"}'), ("vector_search", '{"query": "b"}'))
    server.script.append(Says(calls=calls))
    _, spoken = heard(model)
    assert [(call.name, call.arguments) for call in spoken.said.calls] == list(calls)
    assert len({call.id for call in spoken.said.calls}) == 2


def test_arguments_that_are_no_json_come_as_they_are_and_go_back_as_none(model: Any, server: WireServer) -> None:
    server.script.append(Says(calls=(("vector_search", '{"query": '),)))
    _, spoken = heard(model)
    assert spoken.said.calls[0].arguments == '{"query": '
    server.script.append(Says("Sorry."))
    results = Said(role="user", results=(Result(spoken.said.calls[0], "no JSON", is_error=True),))
    heard(model, Talk(system="", said=[*QUESTION.said, spoken.said, results], tools=[SEARCH]))
    assert '"query": ' not in json.dumps(server.bodies[1]["messages"])


@pytest.mark.parametrize(
    ("says", "expected", "began"),
    [
        (Says(status=429, kind="rate_limit_error", headers={"Retry-After": "7"}), RateLimited, False),
        (Says(status=500), ModelUnreachable, False),
        (Says(status=401), ModelNotReady, False),
        (Says("word " * 40, fault="cut"), CutAnswer, True),
        (Says("word " * 40, fault="no_end"), CutAnswer, True),
        (Says("word " * 40, fault="in_stream"), ModelUnreachable, True),
        (Says(fault="huge"), HugeAnswer, True),
        (Says(fault="page"), ModelNotReady, False),
        (Says("I won't.", stop="refusal"), ModelRefused, True),
        (Says(""), EmptyAnswer, False),
        (Says(calls=(("vector_search", '{"query": "x'),), stop="limit"), CutAnswer, False),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else None,
)
def test_each_fault_is_told_apart(
    model: Any, server: WireServer, says: Says, expected: type[LanguageModelError], began: bool
) -> None:
    server.script.append(says)
    words, problem = failed(model)
    assert type(problem) is expected
    assert bool(words) is began
    if expected is RateLimited:
        assert problem.retry_after == 7


def test_silence_is_a_time_out(provider: str, server: WireServer) -> None:
    server.script.append(Says(fault="silence"))
    words, problem = failed(model_of(provider, server, silence=0.3))
    assert (type(problem), words) == (ModelTimeout, [])


def test_an_answer_at_the_limit_of_its_tokens_is_given_and_marked(model: Any, server: WireServer) -> None:
    server.script.append(Says("Luna is", stop="limit"))
    assert heard(model)[1].stop == "limit"


def test_a_talk_is_counted_within_the_budget(model: Any, server: WireServer, tmp_path: Path) -> None:
    counted = metered(model, tmp_path, Limits(calls=2), store="s", namespace="n")
    server.script += [Says("No chicken.", usage=(50, 7)), Says("cut " * 40, fault="cut")]
    heard(counted)
    with pytest.raises(CutAnswer):
        list(counted.talk(QUESTION))
    (spent,) = counted.spent()
    assert (spent.kind, spent.calls) == ("chat", 2)
    assert spent.input_tokens >= 50
    with pytest.raises(BudgetSpent):
        next(counted.talk(QUESTION))
    assert len(server.bodies) == 2


class Silent:
    """A model of one's own that answers by schema alone."""

    name = "silent"

    def complete(self, request: Request) -> Completion:
        raise NotImplementedError


def test_a_model_that_does_not_talk_says_so(tmp_path: Path) -> None:
    assert not isinstance(Silent(), TalkingModel)
    counted = metered(Silent(), tmp_path, Limits(), store="s", namespace="n")
    assert not isinstance(counted, TalkingModel)
    with pytest.raises(ModelNotReady, match="chat needs free words"):
        talking(counted, "chat")


def test_what_a_call_holds_is_an_object_or_nothing() -> None:
    from recollect.models.language.talk import arguments_of

    found: Iterator[dict[str, Any]] = (arguments_of(Call("1", "t", text)) for text in ('{"a": 1}', "", "[1]", "{"))
    assert list(found) == [{"a": 1}, {}, {}, {}]
