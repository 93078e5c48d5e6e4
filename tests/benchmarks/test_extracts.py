"""The benchmark of extracts measures what it says."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from benchmarks.datasets import History, Question, Said, Session
from benchmarks.extracts import SHARE, SYSTEMS, case, first, first_of_each, ours, survival
from recollect.record import Message, NodeId, Role

_FILLER = "Well, that is one way to look at it, and there are many others that one could think of. " * 6


def history() -> History:
    said = tuple(
        Said(f"m{n}", "assistant" if n % 2 else "user", None, _FILLER, datetime(2025, 1, 1, 9, n, tzinfo=UTC))
        for n in range(9)
    )
    fact = Said("m9", "user", None, f"{_FILLER}Luna is allergic to chicken.", None)
    question = Question("What is Luna allergic to?", "one", frozenset({"m9"}), "test")
    return History("h", (Session("s", "", None, (*said, fact)),), (question,))


def test_a_question_is_answered_by_the_sentence_that_holds_its_rare_words() -> None:
    made = case(history(), {})
    assert made is not None
    ((wanted,),) = (one.answers for one in made.questions)
    assert wanted[1] == frozenset({"luna", "allerg", "chicken"})
    assert survival(made, [lambda messages, length: ["Luna is allergic to chicken."]]) == [1.0]
    assert survival(made, [lambda messages, length: ["Luna likes chicken."]]) == [0.0]
    assert survival(made, [first]) == [0.0]
    assert survival(made, [ours]) == [1.0]


def test_with_answers_those_of_the_answer_count_and_questions_without_are_left_out() -> None:
    assert case(history(), {"Another question?": "yes"}) is None
    made = case(history(), {"What is Luna allergic to?": "chicken"})
    assert made is not None
    assert len(made.questions) == 1


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_system_says_more_than_it_may(name: str) -> None:
    messages = [Message(NodeId(m.id), NodeId("h"), Role(m.role), m.content) for m in history().messages]
    length = round(SHARE * sum(len(m.content) for m in messages))
    for system in SYSTEMS[name]:
        assert sum(len(text) + 1 for text in system(messages, length)) <= length


def test_the_first_of_each_message_comes_before_the_second_of_any() -> None:
    messages = [Message(NodeId(f"m{n}"), NodeId("h"), Role.USER, f"One {n}. Two {n}.") for n in range(3)]
    assert first_of_each(messages, 100)[:3] == ["One 0.", "One 1.", "One 2."]
