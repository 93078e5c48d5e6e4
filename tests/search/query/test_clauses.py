"""What a question says of time by what happened, and which of several times it means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.search.query import clauses
from recollect.search.query.clauses import Order, Side, read_clause, read_order
from recollect.search.query.phrasing import words_of


@pytest.mark.parametrize(
    ("question", "side", "words"),
    [
        ("What did we use for notes before we moved?", Side.BEFORE, "we moved"),
        ("Before we moved, what did the boiler do?", Side.BEFORE, "we moved"),
        ("since I started at Kartona what did I learn", Side.SINCE, "I started at Kartona"),
        ("What did I plan after Anders' wedding?", Side.AFTER, "Anders' wedding"),
        ("what did I eat until my surgery", Side.UNTIL, "my surgery"),
        ("who came after the oven was repaired and who paid", Side.AFTER, "the oven was repaired"),
        ("What did Ann say once her brother arrived?", Side.AFTER, "her brother arrived"),
    ],
)
def test_what_happened_is_read(question: str, side: Side, words: str) -> None:
    clause = read_clause(question)
    assert clause is not None
    assert (clause.side, clause.words) == (side, words)


@pytest.mark.parametrize(
    "question",
    [
        "How long should the dough rest before I shape it?",
        "What should I check before the flight?",
        "timer component stuck after the first second",
        "a glaze named after the sea",
        "how long until the pill worked",
        "what did I say before",
        "before:2024-03 nginx",
        "it failed after all",
    ],
)
def test_what_names_no_time_is_left_alone(question: str) -> None:
    assert read_clause(question) is None


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("When did I last bake bread?", Order.LAST),
        ("What did we decide the first time?", Order.FIRST),
        ("what did I use at first", Order.FIRST),
        ("What did Ann say most recently about Rome?", Order.LAST),
        ("when did Joanna first watch it", Order.FIRST),
        ("the latest on the roof", Order.LAST),
        ("What did I say last night?", None),
        ("When did John have his first call-out?", None),
        ("Who won in the beginning of May?", None),
        ("What is my last name?", None),
    ],
)
def test_the_first_and_the_last_are_read(question: str, order: Order | None) -> None:
    assert read_order(question) == order


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (clauses._CLAUSE, clauses._SIDE_WORDS),
        (clauses._FIRST, clauses._FIRST_WORDS),
        (clauses._LAST, clauses._LAST_WORDS),
    ],
    ids=["clause", "first", "last"],
)
@given(data=st.data())
def test_what_a_pattern_finds_holds_one_of_its_words(pattern: str, words: frozenset[str], data: st.DataObject) -> None:
    """Questions without any of them are not even looked at."""
    found = data.draw(st.from_regex(pattern, alphabet=st.characters(codec="ascii")))
    assert words & words_of(found)
