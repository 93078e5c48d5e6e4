"""Models that a program brings along: a function, and the fake for tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import recollect
from recollect.answer.ask.answer import Answer
from recollect.errors import InvalidInput
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
    data = {
        "intent": {"intent": "DECISION"},
        "hyde": {"passage": "a bicycle"},
        "expand": {"queries": ["which bicycle"]},
    }
    with recollect.open(store, model=FakeModel("It [1].", data=data), background=False) as memory:
        assert memory.ask(QUESTION).intent.value == "DECISION"


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
        assert isinstance(answer, Answer)
        assert (answer.text, answer.model, answer.known) == ("The Brompton [1].", "function:model", True)
        assert memory.chat(None, QUESTION).text == "The Brompton [1]."
    assert any("I chose the Brompton." in prompt for prompt in prompts)


def test_a_function_that_returns_no_text_is_replaced(store: Path) -> None:
    with recollect.open(store, asked_model=lambda prompt: 7, background=False) as memory:  # type: ignore[arg-type,return-value]
        answer = memory.ask(QUESTION)
    assert answer.model is None
    assert any("returned int instead of str" in note for note in answer.notes)


def test_no_file_is_made_of_a_name_that_means_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    with pytest.raises(InvalidInput, match="working memory"):
        recollect.open(":memory:")
    assert not (home / ":memory:").exists()


def test_what_is_public_is_listed() -> None:
    assert set(recollect.__all__) <= set(dir(recollect))
