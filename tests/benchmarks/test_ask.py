"""The benchmark of answers counts what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.ask import Asked, asked, report
from benchmarks.datasets import Question, sets_named
from benchmarks.intents import DEVELOPMENT, HELD_OUT, read_all
from recollect.answer.intents import Intent
from recollect.answer.results import AskAnswer


def given(answer: str, text: str, found: tuple[str, ...] = ()) -> Asked:
    question = Question("Which tea does Ana drink?", "fact", frozenset({"m1"}), "own", answer)
    return Asked(question, AskAnswer(question=question.text, intent=Intent.QA, known=True, text=text), found, 1.0)


def test_key_words_are_those_of_the_answer_that_the_question_does_not_hold() -> None:
    assert given("Ana drinks green tea", "Green, she said.").told == 1.0
    assert given("black tea from Assam", "Assam, she said.").told == 0.5


def test_an_answer_that_is_a_letter_or_not_given_has_none() -> None:
    assert given("C", "C").told is None
    assert given("", "anything").told is None


def test_a_hit_is_an_answering_message_among_the_first() -> None:
    one = given("", "", ("m2", "m1"))
    assert (one.hit(1), one.hit(5), one.right()) == (0.0, 1.0, 0.0)


def test_the_questions_on_intents_are_enough_and_half_of_them_held_out() -> None:
    read = read_all()
    held_out = sum(one.part == HELD_OUT for one in read)
    assert len(read) >= 150
    assert abs(2 * held_out - len(read)) <= len(Intent)
    assert {one.part for one in read} == {DEVELOPMENT, HELD_OUT}
    assert len({one.question for one in read}) == len(read)


def test_a_set_is_asked_and_told_in_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_BENCH_CACHE", str(tmp_path / "cache"))
    (data,), _ = sets_named(["sample"])
    rows = list(asked(data.head(1, 3), "instant"))
    assert len(rows) == 3
    assert all(1 <= len(one.cited) <= 5 for one in rows if one.answer.known)
    assert "| sample | 3 |" in report({"sample": rows})
