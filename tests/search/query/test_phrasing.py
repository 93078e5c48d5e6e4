from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.search.query import phrasing
from recollect.search.query.phrasing import META_TERMS, without_meta
from tests.reference import all_texts, needs_shared, reference


@pytest.mark.parametrize(
    ("question", "clean"),
    [
        ("Hello, where is the blue boat", "where is the blue boat"),
        ("Please walk me through the sail repair", "the sail repair"),
        ("Could you summarise the harbour plans?", "the harbour plans?"),
        ("Which sails throughout all of our earlier conversations?", "Which sails?"),
        ("Which sails that we've talked about so far were red?", "Which sails were red?"),
        ("How did my questions about sail repair develop over there", "sail repair over there"),
        ("The boats (mention only five items) in order", "The boats"),
        ("the order in which I brought up boats and sails", "boats and sails"),
        ("a clear and brief overview of the harbour plans", "the harbour plans"),
        ("different aspects of boat building", "boat building"),
        ("boat repair costs, including all the sails and ropes", "boat repair costs"),
        ("boat repair, covering all ropes", "boat repair"),
        ("Do you remember the green boat", "the green boat"),
        ("Did I mention that the boat leaks", "did I the boat leaks"),
        ("The rope I told you about leaks", "The rope I about leaks"),
        ("How many different boats are there", "how many boats are there"),
        ("Which boat did you recommend for winter?", "Which boat for winter?"),
        ("What rope would you suggest for winter?", "What rope for winter?"),
    ],
)
def test_what_speaks_of_the_asking_is_taken_out(question: str, clean: str) -> None:
    assert without_meta(question) == clean


def test_a_question_that_would_be_left_without_words_stays_as_it_is() -> None:
    assert without_meta(" Can you tell me more about it? ") == " Can you tell me more about it? "


@pytest.mark.parametrize("paste", [" " * 3_999 + "x", "a" + " " * 3_990, "covering all " * 300, "," * 3_990 + "\na"])
def test_pasted_texts_take_no_time(paste: str) -> None:
    began = time.thread_time()
    without_meta(paste)
    assert time.thread_time() - began < 0.5


@needs_shared
def test_messages_and_questions_are_cleaned_as_by_the_reference() -> None:
    clean = reference("qa").clean
    texts = [text for text in all_texts() if len(text) <= 1_500]
    assert texts
    assert not [text for text in texts if without_meta(text) != clean(text)]


@needs_shared
def test_words_about_the_asking_are_those_of_the_reference() -> None:
    ranker = reference("ranker")
    assert set(ranker.toks(" ".join(ranker.META))) == META_TERMS


@pytest.mark.parametrize("rule", [rule for rule in phrasing._RULES if rule[0]], ids=lambda rule: rule[0].split()[0])
@given(data=st.data())
def test_what_a_rule_takes_out_holds_one_of_its_words(rule: tuple[str, str, str], data: st.DataObject) -> None:
    """Questions without any of them are not even looked at."""
    found = data.draw(st.from_regex(f"(?i){rule[1]}", alphabet=st.characters(codec="ascii")))
    assert set(rule[0].split()) & phrasing.words_of(found)
