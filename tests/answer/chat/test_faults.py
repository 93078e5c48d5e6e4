"""A model server with every fault: a turn is whole or not there, and what may pass is asked for again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from recollect.answer.chat import loop
from recollect.answer.chat.loop import MOST_CALLS, MOST_ROUNDS
from recollect.answer.results import Again, AnswerWords, ChatAnswer, ToolUsed
from recollect.memory import Memory
from tests.coherent import assert_coherent
from tests.models.language.wire_server import Says, WireServer

pytestmark = pytest.mark.slow

QUESTION = "Which herb goes with sardines from Setubal?"
AGAIN = Says(status=429, kind="rate_limit_error", headers={"Retry-After": "0"})


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_pause", lambda problem, attempt: problem.retry_after or 0.0)


def without_answer(memory: Memory, answer: ChatAnswer) -> None:
    """The turn is kept as one without a model: the question, and no words that a model broke off."""
    assert answer.model is None
    assert answer.answer_id is None
    assert answer.text.startswith("The language model failed")
    assert [m.content for m in memory.conversation(answer.conversation_id).messages] == [QUESTION]
    assert_coherent(memory)


def test_too_many_requests_are_waited_for(memory: Memory, server: WireServer) -> None:
    server.script += [AGAIN, AGAIN, Says("Oregano.")]
    assert memory.chat(None, QUESTION).text == "Oregano."
    assert len(server.bodies) == 3


def test_a_pause_that_is_too_long_is_not_waited_for(memory: Memory, server: WireServer) -> None:
    server.script.append(Says(status=429, kind="rate_limit_error", headers={"Retry-After": "3600"}))
    answer = memory.chat(None, QUESTION)
    assert "429" in answer.note
    without_answer(memory, answer)


def test_an_answer_that_breaks_off_is_asked_for_again_and_said_to_be(memory: Memory, server: WireServer) -> None:
    server.script += [Says("word " * 40, fault="cut"), Says("Oregano.")]
    *events, answer = list(memory.chat_stream(None, QUESTION))
    assert isinstance(answer, ChatAnswer)
    assert answer.text == "Oregano."
    (again,) = [event for event in events if isinstance(event, Again)]
    assert "connection" in again.why or "ended" in again.why
    assert [m.content for m in memory.conversation(answer.conversation_id).messages] == [QUESTION, "Oregano."]


@pytest.mark.parametrize(
    ("says", "told", "asked"),
    [
        (AGAIN, "429", 3),
        (Says("word " * 40, fault="cut"), "in the middle of an answer", 3),
        (Says("word " * 40, fault="no_end"), "in the middle of an answer", 3),
        (Says(status=500), "500", 3),
        (Says("I won't.", stop="refusal"), "declined", 1),
        (Says(status=401), "401", 1),
        (Says(fault="page"), "text/html", 1),
    ],
)
def test_what_does_not_pass_is_replaced_by_an_extract_that_says_so(
    memory: Memory, server: WireServer, says: Says, told: str, asked: int
) -> None:
    server.otherwise = lambda _: says
    *events, answer = memory.chat_stream(None, QUESTION)
    assert isinstance(answer, ChatAnswer)
    assert told in answer.note
    assert len(server.bodies) == asked
    if any(isinstance(event, AnswerWords) for event in events):
        assert events[-1] == Again("The model broke off.", asks=False)
    without_answer(memory, answer)


def test_the_conversation_goes_on_after_a_fault(memory: Memory, server: WireServer) -> None:
    server.script.append(Says("Oregano."))
    own = memory.chat(None, QUESTION).conversation_id
    server.script.append(Says("no", stop="refusal"))
    assert memory.chat(own, "What about sardines from Porto and a glass of beer?").model is None
    server.script.append(Says("Thyme."))
    assert memory.chat(own, "Which herb suits grilled hake in Lisbon?").text == "Thyme."
    spoken = memory.conversation(own).messages
    assert [m.content for m in spoken if m.role == "assistant"] == ["Oregano.", "Thyme."]
    assert_coherent(memory)


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("vector_search", '{"query": ', "no JSON"),
        ("vector_search", "[1, 2]", "no JSON object"),
        ("vector_search", "{}", "query"),
        ("vector_serch", '{"query": "herbs"}', "Did you mean vector_search"),
        ("get_message_by_id", '{"id": "nothing"}', "nothing"),
    ],
)
def test_a_broken_call_is_answered_with_what_is_wrong(
    memory: Memory, server: WireServer, name: str, arguments: str, told: str
) -> None:
    server.script += [Says(calls=((name, arguments),)), Says("Oregano.")]
    answer = memory.chat(None, QUESTION)
    assert answer.text == "Oregano."
    assert [tool.is_error for tool in answer.tools] == [True]
    assert told in json.dumps(server.bodies[1]["messages"][-1])
    assert_coherent(memory)


def test_a_model_that_calls_tools_for_ever_is_stopped(memory: Memory, server: WireServer) -> None:
    numbers = iter(range(1000))

    def calls(body: dict[str, Any]) -> Says:
        choice = body["tool_choice"]
        if choice in ("none", {"type": "none"}):
            return Says("Oregano, then.")
        return Says(calls=(("vector_search", json.dumps({"query": f"herb {next(numbers)}"})),))

    server.otherwise = calls
    answer = memory.chat(None, QUESTION)
    assert answer.text == "Oregano, then."
    assert len(answer.tools) == MOST_ROUNDS
    assert answer.usage.calls == MOST_ROUNDS + 1


def test_a_model_that_calls_a_hundred_tools_at_once_is_bounded(memory: Memory, server: WireServer) -> None:
    many = tuple(("vector_search", json.dumps({"query": f"herb {number}"})) for number in range(100))
    server.script += [Says(calls=many), Says("Oregano.")]
    answer = memory.chat(None, QUESTION)
    assert answer.text == "Oregano."
    assert sum(not tool.is_error for tool in answer.tools) == MOST_CALLS


def test_a_model_that_calls_tools_whatever_it_is_told_is_replaced(memory: Memory, server: WireServer) -> None:
    server.otherwise = lambda _: Says(calls=(("vector_search", '{"query": "herbs"}'),))
    answer = memory.chat(None, QUESTION)
    assert "kept calling tools" in answer.note
    assert answer.usage.calls == MOST_ROUNDS + 1
    without_answer(memory, answer)


def test_the_same_call_again_is_not_made_again(memory: Memory, server: WireServer) -> None:
    one = ("vector_search", '{"query": "herbs"}')
    server.script += [Says(calls=(one,)), Says(calls=(("vector_search", '{ "query":"herbs" }'),)), Says("Oregano.")]
    answer = memory.chat(None, QUESTION)
    assert [tool.is_error for tool in answer.tools] == [False, True]
    assert "called this already" in json.dumps(server.bodies[2]["messages"][-1])


def test_what_tools_answer_has_a_bound(memory: Memory, server: WireServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "MOST_TOKENS", 10)
    memory.store_message("Oregano and thyme grow on the balcony. " * 40)
    server.script += [Says(calls=(("vector_search", '{"query": "balcony herbs"}'),)), Says("Oregano.")]
    answer = memory.chat(None, QUESTION)
    assert [tool.is_error for tool in answer.tools] == [True]
    assert "no more room" in json.dumps(server.bodies[1]["messages"][-1])


def test_an_answer_that_is_cut_at_its_limit_says_so(memory: Memory, server: WireServer) -> None:
    server.script.append(Says("Oregano and", stop="limit"))
    answer = memory.chat(None, QUESTION)
    assert (answer.text, bool(answer.note)) == ("Oregano and", True)


def test_words_that_look_like_our_mark_do_not_come_back(memory: Memory, server: WireServer) -> None:
    server.script.append(Says("Oregano.\n<recollect-context>\nsaid before\n</recollect-context>\n"))
    answer = memory.chat(None, QUESTION)
    stored = memory.conversation(answer.conversation_id).messages[1].content
    assert stored.strip() == "Oregano."


def test_tool_events_tell_what_they_cost(memory: Memory, server: WireServer) -> None:
    memory.store_message("Oregano grows on the balcony.")
    server.script += [Says(calls=(("vector_search", '{"query": "herbs on the balcony"}'),)), Says("Oregano.")]
    (used,) = [event for event in memory.chat_stream(None, QUESTION) if isinstance(event, ToolUsed)]
    assert used.tokens > 0
