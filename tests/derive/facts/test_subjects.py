"""A fact never has two owners: what is said of another is another fact, or none."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.derive.facts.claim import USER
from recollect.derive.facts.rules import subjects
from tests.derive.facts.test_draw import drawn


def values_of(text: str) -> dict[str, list[str]]:
    """Whose values are drawn, without names of one's own people."""
    found: dict[str, list[str]] = {}
    for entity, attribute, value in drawn(text):
        if attribute not in ("dog", "cat", "wife", "husband", "sister", "brother"):
            found.setdefault(entity, []).append(value)
    return found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Luna is allergic to chicken and Rex to beef.", {"Luna": ["chicken"], "Rex": ["beef"]}),
        ("Luna is allergic to chicken, Rex to beef.", {"Luna": ["chicken"], "Rex": ["beef"]}),
        ("Luna is allergic to chicken, milk and Rex to beef.", {"Luna": ["chicken"], "Rex": ["beef"]}),
        ("Luna is allergic to chicken but Rex to beef and corn.", {"Luna": ["chicken"], "Rex": ["beef", "corn"]}),
        ("Luna is allergic to chicken (Rex to beef).", {"Luna": ["chicken"], "Rex": ["beef"]}),
        ("Luna is allergic to chicken [Rex: beef].", {"Luna": ["chicken"]}),
        ("Luna is allergic to chicken and, sadly, Rex to beef.", {"Luna": ["chicken"], "Rex": ["beef"]}),
        ("I like tea and mom coffee.", {USER: ["tea"]}),
        ("I like tea and mom likes coffee.", {USER: ["tea"]}),
        ("My son likes nuts and daughter eggs.", {f"{USER}'s son": ["nuts"]}),
        ("My favourite colour is red and hers blue.", {USER: ["red"]}),
        ("Luna is allergic to chicken; Rex, to beef.", {"Luna": ["chicken"], "Rex": ["beef"]}),
        ("I'm allergic to nuts and my sister to eggs.", {USER: ["nuts"], f"{USER}'s sister": ["eggs"]}),
        ("I am allergic to nuts and tom to milk.", {USER: ["nuts"]}),
        ("My dog Luna is allergic to chicken and my cat Milo to fish.", {"Luna": ["chicken"], "Milo": ["fish"]}),
        ("Luna is allergic to chicken and the other dog to beef.", {"Luna": ["chicken"]}),
        ("Luna is allergic to chicken and Tom's dog to beef.", {"Luna": ["chicken"]}),
        ("Tom's dog is allergic to beef and Mia's cat to fish.", {}),
        ("Tom's dog and Mia's cat are allergic to chicken and fish.", {}),
        ("I prefer tea over coffee, Clara prefers juice.", {USER: ["tea over coffee"], "Clara": ["juice"]}),
        ("I prefer tea over coffee and Clara juice.", {USER: ["tea over coffee"]}),
        ("I prefer tea to coffee, my wife the other way round.", {USER: ["tea to coffee"]}),
        ("Clara prefers tea, Tom coffee.", {"Clara": ["tea"]}),
        ("I like tea and Clara coffee.", {USER: ["tea"]}),
        ("I like tea and maybe Clara coffee.", {USER: ["tea"]}),
        ("I like sushi but Tom never.", {USER: ["sushi"]}),
        ("Luna loves chicken and Rex beef.", {"Luna": ["chicken"]}),
        ("Luna likes chicken and the cat fish.", {"Luna": ["chicken"]}),
        ("Maria loves dogs and cats, her husband birds.", {"Maria": ["dogs", "cats"]}),
        ("I live in Oslo, Tom in Bergen.", {USER: ["Oslo"], "Tom": ["Bergen"]}),
        ("Anna works for Siemens and Ben for Bosch.", {"Anna": ["Siemens"], "Ben": ["Bosch"]}),
        (
            "My wife is a nurse and my brother a plumber.",
            {f"{USER}'s wife": ["nurse"], f"{USER}'s brother": ["plumber"]},
        ),
        ("I'm 40 and Tom 42.", {USER: ["40"], "Tom": ["42"]}),
        ("Luna weighs 12 kg and Rex 30 kg.", {"Luna": ["12 kg"]}),
        ("Luna takes 5 mg of enalapril and Rex 10 mg.", {"Luna": ["enalapril", "5 mg"]}),
        ("Anna speaks German and Ben Italian.", {"Anna": ["German"]}),
        ("My favourite colour is red and Tom's is blue.", {USER: ["red"]}),
        ("Tom's favourite food is pizza and Mia's sushi.", {"Tom": ["pizza"]}),
        ("Anna was diagnosed with asthma and Ben with diabetes.", {"Anna": ["asthma"], "Ben": ["diabetes"]}),
        ("I'm going to Rome in May and Clara to Paris in June.", {USER: ["going to Rome in May"]}),
        ("Rex and Luna are allergic to beef and chicken, respectively.", {}),
        ("Luna is allergic to chicken or Rex to beef.", {}),
        ("I no longer live in Oslo and Tom in Bergen.", {USER: ["Oslo"]}),
        ("Ich bin allergisch gegen Nüsse und Tom gegen Milch.", {}),
        ("Ich wohne in Berlin, Anna in Hamburg.", {USER: ["Berlin"]}),
        ("I have a meeting with Tom and Clara next week.", {USER: ["a meeting with Tom and Clara next week"]}),
        ("I love Rome and Paris in spring.", {USER: ["Rome", "Paris"]}),
    ],
)
def test_what_is_said_of_another_is_his(text: str, told: dict[str, list[str]]) -> None:
    assert values_of(text) == told


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("My dog is called Luna and Tom's Rex.", ["Luna"]),
        ("I speak German and my sister Italian.", ["German"]),
        ("My dog is called Luna and Ben is my son.", ["Luna"]),
        ("I have a dog called Luna and Ben has a cat.", ["Luna"]),
        ("We have two dogs, Luna and Rex.", ["Luna", "Rex"]),
        ("My kids are called Anna and Ben and Tom's is called Mia.", ["Anna", "Ben"]),
    ],
)
def test_a_name_is_that_of_ones_own(text: str, names: list[str]) -> None:
    assert [value for entity, _, value in drawn(text) if entity == USER] == names


NAMES = st.sampled_from(["Luna", "Rex", "Clara", "Tom", "Mia", "Ben", "Bello", "Anna"])
JOINS = st.sampled_from([" and ", ", ", " but ", "; ", " while ", ", and ", " - ", " whereas ", " und "])
SAID = st.sampled_from(
    [
        ("is allergic to chicken", "to beef"), ("likes tea", "coffee"), ("prefers tea over coffee", "juice"),
        ("lives in Oslo", "in Bergen"), ("works for Siemens", "for Bosch"), ("hates olives", "loves mushrooms"),
        ("is a teacher", "a doctor"), ("speaks German", "Italian"), ("doesn't eat pork", "beef"),
        ("was diagnosed with asthma", "with diabetes"), ("owns a Honda Civic", "a Ford Focus"), ("is 40", "just 42"),
        ("is going to Rome in May", "to Paris in June"), ("enjoys old films", "new ones, says her sister"),
    ]
)  # fmt: skip
ANOTHER = st.one_of(NAMES, st.sampled_from(["my sister", "our cat", "her dog", "Jo's dog", "they", "the other one"]))


@given(NAMES, ANOTHER, JOINS, SAID)
def test_nothing_of_another_is_in_a_value(one: str, other: str, join: str, said: tuple[str, str]) -> None:
    if one != other:
        for entity, _, value in drawn(f"{one} {said[0]}{join}{other} {said[1]}."):
            assert other not in value
            assert not (entity == one and said[1].split()[-1] in value)


def test_the_examples_of_the_module() -> None:
    assert doctest.testmod(subjects).failed == 0
