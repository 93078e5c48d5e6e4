"""Answers: whatever a model says ends in a validated object or in an error of ours, soon, and without its words."""

from __future__ import annotations

import json
import time
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.models.language.base import NOTHING_USED, BadAnswer, HugeAnswer, WrongAnswer
from recollect.models.language.structured import Reply, check, most_characters, read_answer, wire_schema
from tests.models.language.conftest import GOOD, SCHEMA

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def read(text: str, stop: Any = "end") -> Any:
    return read_answer(Reply(text, stop, NOTHING_USED), SCHEMA, 1024)


@given(st.text())
def test_any_text_is_an_answer_or_an_error_of_ours(text: str) -> None:
    try:
        found = read(text)
    except BadAnswer:
        return
    assert check(found, SCHEMA) is None


@given(JSON)
def test_any_json_is_right_or_told_to_be_wrong(value: Any) -> None:
    try:
        found = read(json.dumps(value))
    except BadAnswer:
        return
    assert check(found, SCHEMA) is None


@given(
    st.text(alphabet=st.characters(exclude_characters="{}`<")),
    st.text(alphabet=st.characters(exclude_characters="{}`<")),
)
def test_prose_around_an_answer_does_no_harm(before: str, after: str) -> None:
    assert read(f"{before}{json.dumps(GOOD)}{after}") == GOOD


def test_the_object_that_fits_is_taken_among_several() -> None:
    assert read(f'I was given {{"a": 1}} and answer {json.dumps(GOOD)}, not {{"b": 2}}.') == GOOD


@pytest.mark.parametrize(
    "text",
    [
        "{" * 30_000,
        '{"a":' * 6_000,
        "[" * 30_000,
        '"' * 30_000,
        "{}" * 15_000,
        "```" * 10_000,
        '{"a":"' + "\\u0041" * 4_000,
    ],
)
def test_hostile_texts_are_done_with_soon(text: str) -> None:
    started = time.perf_counter()
    with pytest.raises(BadAnswer):
        read(text)
    assert time.perf_counter() - started < 1


def test_what_is_longer_than_any_good_answer_is_not_looked_into() -> None:
    with pytest.raises(HugeAnswer):
        read(json.dumps(GOOD) + " " * most_characters(1024))


def test_numbers_that_cannot_be_stored_are_bounded() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "array", "items": {"type": "integer"}}}}
    text = f'{{"n": [{10**30}, {-(10**30)}, 7, 2.0], "sure": true}}'
    answer = read_answer(Reply(text, "end", NOTHING_USED), schema, 1024)
    assert answer == {"n": [2**63 - 1, -(2**63) + 1, 7, 2], "sure": True}
    assert answer["sure"] is True
    assert type(answer["n"][3]) is int
    assert orjson.loads(orjson.dumps(answer)) == answer


def test_nul_and_halves_of_pairs_are_cleaned() -> None:
    raw = '{"summary": "a\\u0000b\\ud83d", "themes": ["\\udc00"]}'
    assert read(raw) == {"summary": "a b\ufffd", "themes": ["\ufffd"]}


@pytest.mark.parametrize(
    "value",
    [{"summary": 12, "themes": "secret"}, {"secret": 1, **GOOD}, {"summary": "s", "themes": ["x", {"secret": 1}]}],
)
def test_errors_tell_the_place_and_not_the_words(value: Any) -> None:
    problem = check(value, SCHEMA)
    assert isinstance(problem, WrongAnswer)
    assert "secret" not in str(problem)


def test_a_property_may_be_called_like_a_rule_of_the_schema() -> None:
    schema = {"type": "object", "properties": {"format": {"type": "string", "maxLength": 3}}, "required": ["format"]}
    assert wire_schema(schema)["properties"] == {"format": {"type": "string"}}
