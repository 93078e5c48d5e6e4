from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.search.query import wants
from recollect.search.query.phrasing import words_of
from recollect.search.query.wants import TimeOrder, read_order
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
        (wants.asks_ever, "have I finished the hull"),
        (wants.asks_ever, "was I ever there"),
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
        (wants.asks_ever, "everyone rows"),
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
        (wants.asks_ever, lambda text: bool(qa.EVER.search(text))),
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
