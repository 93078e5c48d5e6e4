from __future__ import annotations

import random
import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.search.query import wants
from recollect.search.query.wants import META_TERMS, TimeOrder, read_order, without_meta, words_of
from tests.paths import SHARED
from tests.reference import all_texts, needs_shared, reference

Rule = Callable[[str], bool]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (wants.asks_when, "since when do we row"),
        (wants.asks_when, "which year was it built"),
        (wants.asks_how_many, "how long is the rope"),
        (wants.asks_how_many, "what price did they ask"),
        (wants.asks_where, "which town has a harbour"),
        (wants.asks_assistant, "the knot you explained"),
        (wants.asks_assistant, "what was your first suggestion"),
        (wants.asks_assistant, "Could you tell me how your plan began?"),
        (wants.asks_assistant, "did you find a boat"),
        (wants.wants_summary, "summarize the trip"),
        (wants.is_how_to, "Should I buy the boat"),
        (wants.is_how_to, "What are some knots for beginners"),
        (wants.is_how_to, "I'm looking for a rope"),
        (wants.is_how_to, "Could you please write a list"),
    ],
)
def test_a_rule_knows_its_questions(rule: Rule, text: str) -> None:
    assert rule(text)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (wants.asks_when, "whenever we row"),
        (wants.asks_how_many, "how is the rope"),
        (wants.asks_where, "nowhere to row"),
        (wants.asks_assistant, "Could you suggest how my boat floats?"),
        (wants.wants_summary, "the summer house"),
        (wants.is_how_to, "How should I have known what you suggested"),
        (wants.is_how_to, "I want to know how many boats there are"),
    ],
)
def test_a_rule_leaves_other_questions_alone(rule: Rule, text: str) -> None:
    assert not rule(text)


@pytest.fixture(scope="module")
def pairs() -> list[tuple[Rule, Rule]]:
    qa, ranker = reference("qa"), reference("ranker")
    return [
        (wants.asks_when, lambda text: bool(ranker.WHEN.search(text))),
        (wants.asks_how_many, lambda text: bool(ranker.MANY.search(text))),
        (wants.asks_where, lambda text: bool(ranker.WHERE.search(text))),
        (wants.asks_assistant, ranker.asks),
        (wants.wants_summary, lambda text: bool(ranker.SUMM.search(text))),
        (wants.is_how_to, qa.howto),
    ]


@needs_shared
def test_messages_and_questions_want_what_the_reference_says(pairs: list[tuple[Rule, Rule]]) -> None:
    texts = [text for text in all_texts() if len(text) <= 1_500]
    assert texts
    assert not [(rule.__name__, text) for text in texts for rule, expected in pairs if rule(text) != expected(text)]


@needs_shared
def test_words_of_the_rules_in_any_order_want_what_the_reference_says(pairs: list[tuple[Rule, Rule]]) -> None:
    vocabulary = sorted(set(re.findall(r"[A-Za-z']{2,}", (SHARED / "reference" / "qa.py").read_text())))
    chance = random.Random(7)
    openings = ("", "how do I ", "Can you ", "what would ", "I'm ", "could you please ", "which ", "your ", "you ")
    texts = [chance.choice(openings) + " ".join(chance.choices(vocabulary, k=6)) for _ in range(3_000)]
    assert not [(rule.__name__, text) for text in texts for rule, expected in pairs if rule(text) != expected(text)]


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("When did I last bake bread?", TimeOrder.LAST),
        ("What did we decide the first time?", TimeOrder.FIRST),
        ("what did I use at first", TimeOrder.FIRST),
        ("What did Ann say most recently about Rome?", TimeOrder.LAST),
        ("when did Joanna first watch it", TimeOrder.FIRST),
        ("the latest on the roof", TimeOrder.LAST),
        ("What did I say last night?", None),
        ("When did John have his first call-out?", None),
        ("Who won in the beginning of May?", None),
        ("What is my last name?", None),
    ],
)
def test_the_first_and_the_last_are_read(question: str, order: TimeOrder | None) -> None:
    assert read_order(question) == order


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (wants._FIRST, wants._FIRST_WORDS),
        (wants._LAST, wants._LAST_WORDS),
    ],
    ids=["first", "last"],
)
@given(data=st.data())
def test_what_a_pattern_finds_holds_one_of_its_words(pattern: str, words: frozenset[str], data: st.DataObject) -> None:
    """Questions without any of them are not even looked at."""
    found = data.draw(st.from_regex(pattern, alphabet=st.characters(codec="ascii")))
    assert words & words_of(found)


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


@pytest.mark.parametrize("rule", [rule for rule in wants._RULES if rule[0]], ids=lambda rule: rule[0].split()[0])
@given(data=st.data())
def test_what_a_rule_takes_out_holds_one_of_its_words(rule: tuple[str, str, str], data: st.DataObject) -> None:
    """Questions without any of them are not even looked at."""
    found = data.draw(st.from_regex(f"(?i){rule[1]}", alphabet=st.characters(codec="ascii")))
    assert set(rule[0].split()) & wants.words_of(found)
