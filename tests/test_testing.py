"""Models that a program brings along: a function, and the fake for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.answer.results import AskAnswer
from recollect.errors import InvalidInput, NotFound, StoreError
from recollect.models.language.prompts import NAMES, QUESTIONS, prompt
from recollect.models.language.talk import Talk
from recollect.testing import FakeModel

QUESTION = "Which bike did I choose?"


@pytest.fixture
def store(home: Path) -> Path:
    path = home / "memory.db"
    with recollect.open(path, background=False) as memory:
        memory.store_message("I chose the Brompton.", "user")
    return path


def test_a_fake_model_answers_in_turn_and_keeps_what_it_was_asked(store: Path) -> None:
    model = FakeModel("The Brompton [1].", lambda prompt: f"{'Brompton' in prompt} [1].")
    with recollect.open(store, model=model, background=False) as memory:
        answers = [memory.ask(QUESTION), memory.ask(QUESTION), memory.ask(QUESTION)]
    assert [one.text for one in answers] == ["The Brompton [1].", "True [1].", "True [1]."]
    assert [one.model for one in answers] == ["fake"] * 3
    assert "I chose the Brompton." in model.prompts[-1]


def test_a_fake_model_answers_by_schema(store: Path) -> None:
    data: dict[str, Any] = {
        "intent": {"intent": "DECISION"},
        "hyde": {"passage": "a bicycle"},
        "expand": {"queries": ["which bicycle"]},
    }
    with recollect.open(store, model=FakeModel("It [1].", data=data), background=False) as memory:
        assert memory.ask(QUESTION).intent.value == "DECISION"


@pytest.mark.parametrize(
    ("data", "missing"),
    [
        ({"research_plan": {"title": "Bikes"}}, "research_plan lack 'queries'"),
        ({"research_plan": {"title": "Bikes", "queries": [{"query": "bike"}]}}, r"queries\[0\] lack 'heading'"),
        ({"research_plan": {"title": "Bikes", "queries": ["bike"]}}, r"queries\[0\] lack an object"),
        ({"research_plan": {"title": "Bikes", "queries": "bike"}}, "queries lack a list"),
        ({"expand": {"queries": [7]}}, r"queries\[0\] lack text"),
        ({"hyde": None}, "hyde lack an object"),
        ({"plan": {}}, "'plan' is no prompt"),
    ],
)
def test_incomplete_data_of_a_fake_model_are_refused_by_name(data: Any, missing: str) -> None:
    with pytest.raises(InvalidInput, match=missing):
        FakeModel(data=data)


@pytest.mark.parametrize("name", [*NAMES, *QUESTIONS])
def test_the_examples_of_the_prompts_are_complete_data(name: str) -> None:
    FakeModel(data={name: prompt(name).example})
    assert f"`{name}`" in (FakeModel.__doc__ or "")


def test_a_fake_model_fails_as_it_is_told(store: Path) -> None:
    with recollect.open(store, model=FakeModel(ConnectionError("gone")), background=False) as memory:
        answer = memory.ask(QUESTION)
    assert (answer.model, "Brompton" in answer.text) == (None, True)
    assert "fake failed (ConnectionError: gone). This answer quotes your conversations." in answer.notes


def test_a_function_is_a_model(store: Path) -> None:
    prompts: list[str] = []

    def model(prompt: str) -> str:
        prompts.append(prompt)
        if "JSON schema" not in prompt:
            return "The Brompton [1]."
        return json.dumps({"intent": "QA", "passage": "a bike", "queries": ["which bicycle"]})

    with recollect.open(store, asked_model=model, background=False) as memory:
        answer = memory.ask(QUESTION)
        assert isinstance(answer, AskAnswer)
        assert (answer.text, answer.model, answer.known) == ("The Brompton [1].", "function:model", True)
        assert memory.chat(None, QUESTION).text == "The Brompton [1]."
    assert any("I chose the Brompton." in prompt for prompt in prompts)


def test_a_function_that_returns_no_text_is_replaced(store: Path) -> None:
    with recollect.open(store, asked_model=lambda prompt: 7, background=False) as memory:  # type: ignore[arg-type,return-value]
        answer = memory.ask(QUESTION)
    assert answer.model is None
    assert any("returned int instead of str" in note for note in answer.notes)


@pytest.mark.parametrize("call", ["ask", "chat", "research"])
@pytest.mark.parametrize(
    "raised", [InvalidInput("boo"), NotFound("boo"), StoreError("boo"), ValueError("boo"), RecursionError("boo")]
)
def test_whatever_a_model_of_ones_own_raises_is_its_failure_and_not_the_callers(
    store: Path, raised: Exception, call: str
) -> None:
    def model(prompt: str) -> str:
        raise raised

    with recollect.open(store, asked_model=model, background=False) as memory:
        if call == "chat":
            turn = memory.chat(None, QUESTION)
            assert turn.text.startswith("The language model failed")
            assert "function:model failed" in turn.note
        else:
            answer = getattr(memory, call)(QUESTION)
            assert "Brompton" in answer.text
            assert "function:model failed" in " ".join(answer.notes)


@pytest.mark.parametrize("answer", ["", "  \n"])
def test_a_model_that_answers_nothing_is_said_to_have_done_so(store: Path, answer: str) -> None:
    with recollect.open(store, model=FakeModel(answer), background=False) as memory:
        asked = memory.ask(QUESTION)
    assert "Brompton" in asked.text
    assert "The model answered with no words. This answer quotes your conversations." in asked.notes


@pytest.mark.parametrize("parts", [[7], [None], [], ["words alone"], 7])
def test_a_model_that_talks_in_another_way_than_it_should_is_replaced(store: Path, parts: Any) -> None:
    class Odd(FakeModel):
        def talk(self, talk: Talk) -> Any:
            return parts if isinstance(parts, int) else iter(parts)

    with recollect.open(store, model=Odd(), background=False) as memory:
        asked = memory.ask(QUESTION)
        chatted = memory.chat(None, QUESTION)
    assert asked.model is chatted.model is None
    assert any("fake failed (TypeError" in note for note in asked.notes)
    assert "Brompton" in asked.text
    assert "fake failed (TypeError" in chatted.note


def test_no_file_is_made_of_a_name_that_means_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    with pytest.raises(InvalidInput, match="working memory"):
        recollect.open(":memory:")
    assert not (home / ":memory:").exists()


def test_what_is_public_is_listed() -> None:
    assert set(recollect.__all__) <= set(dir(recollect))
