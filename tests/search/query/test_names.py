from __future__ import annotations

import pytest

from recollect.search.query.names import named, without_names
from tests.reference import needs_shared, reference, talks

CREW = ("Bo", "Tilda Marsh", "Will", "小明", "민수")


def test_people_are_named_by_full_or_first_name_where_it_first_stands() -> None:
    assert named("Did Bo see Tilda before Tilda Marsh left?", CREW) == {"Bo": 4, "Tilda Marsh": 11}


def test_longer_names_are_found_in_any_case_short_ones_as_written() -> None:
    assert named("tilda and bo", CREW) == {"Tilda Marsh": 0}


def test_a_part_of_a_word_is_nobody() -> None:
    assert named("the boat of Tildason", CREW) == {}


def test_names_are_found_in_scripts_that_run_words_together() -> None:
    assert named("小明在哪里", CREW) == {"小明": 0}
    assert named("어제 민수는 뭐 했어", CREW) == {"민수": 3}


PEOPLE = ("Will", "Mark", "Rose", "Bill Marsh", "May")


@pytest.mark.parametrize(
    "question",
    [
        "when will the package arrive",
        "When will the package arrive?",
        "Will the package arrive today?",
        "Will he come?",
        "what mark did I get in maths",
        "Mark the date",
        "how high is the electricity bill",
        "prices rose in spring",
        "the rose by the gate",
        "the bill's total",
        "what did I plant in May",
        "May 3 and the harvest",
        "May I ask about the rent?",
        "what may have happened",
    ],
)
def test_words_that_are_names_too_name_nobody(question: str) -> None:
    assert named(question, PEOPLE) == {}


@pytest.mark.parametrize(
    ("question", "who"),
    [
        ("How many cats does Rose have?", "Rose"),
        ("what did will say about the boat", "Will"),
        ("When will Will arrive?", "Will"),
        ("Will said that the boat leaks", "Will"),
        ("Rose's garden", "Rose"),
        ("has mark moved", "Mark"),
        ("mark's birthday", "Mark"),
        ("when did bill marsh call", "Bill Marsh"),
        ("What did I buy for Bill?", "Bill Marsh"),
        ("Where does May live?", "May"),
        ("Rose", "Rose"),
    ],
)
def test_words_that_are_names_too_are_people_where_the_sentence_says_so(question: str, who: str) -> None:
    assert list(named(question, PEOPLE)) == [who]


def test_people_speak_of_themselves_as_i_and_my() -> None:
    assert without_names("Is Tilda's boat where Bo’s is, and does Will Tilda Marsh know?", CREW) == (
        "Is my boat where my is, and does I I know?"
    )


def test_names_that_are_blank_or_full_of_signs_do_no_harm() -> None:
    odd = ("", "  ", "C++", "(x)", "a.b [c]")
    assert named("is (x) here with C++ code?", odd) in ({}, {"(x)": 3})
    assert without_names("plain", odd) == "plain"


@needs_shared
def test_people_are_found_and_replaced_as_by_the_reference() -> None:
    clean, ranker = reference("qa").clean, reference("ranker")
    seen, different = 0, []
    for talk in talks():
        for text in map(clean, talk.questions):
            seen += 1
            if named(text, talk.names) != ranker.names_of(text, talk.names):
                different.append(text)
            if without_names(text, talk.names) != ranker.dename(text, talk.names):
                different.append(text)
    assert seen
    assert not different
