from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.search.query.request import Query, parse_query


def test_all_operators_together() -> None:
    query = parse_query(
        'porto "rate limit" source:claude since:2025-03 until:"last week" role:user in:"Trip to Porto" kind:tool -hotel'
    )
    assert query == Query(
        text="porto rate limit",
        phrases=("rate limit",),
        excluded=("hotel",),
        sources=("claude",),
        roles=("user",),
        conversations=("Trip to Porto",),
        kinds=("tool",),
        since="2025-03",
        until="last week",
    )


@pytest.mark.parametrize("quoted", ['"old map"', "“old map”", "„old map“", "„old map”", "«old map»", "「old map」"])
def test_quotes_of_any_kind_make_a_phrase_and_its_words_stay(quoted: str) -> None:
    query = parse_query(f"where is the {quoted}?")
    assert query.phrases == ("old map",)
    assert query.text == "where is the old map?"


def test_a_phrase_may_stand_in_brackets() -> None:
    assert parse_query('boats ("old map")') == Query("boats (old map)", phrases=("old map",))


@pytest.mark.parametrize(
    ("text", "excluded"),
    [
        ("-sail boat", "sail"),
        ("boat -sail", "sail"),
        ('boat -"red sail"', "red sail"),
        ("boat -2024", "2024"),
        ("boat -C++", "C++"),
        ("boat -.env", ".env"),
        ("boat -#sail", "#sail"),
        ("boat -@anna", "@anna"),
        ("boat -_sail", "_sail"),
    ],
)
def test_a_minus_before_a_word_or_phrase_excludes_it(text: str, excluded: str) -> None:
    assert parse_query(text) == Query("boat", excluded=(excluded,))


def test_filters_given_twice() -> None:
    query = parse_query("role:user ROLE:assistant since:2023 since:2024")
    assert query.roles == ("user", "assistant")
    assert query.since == "2024"
    assert query.text == ""


@pytest.mark.parametrize(
    "text",
    [
        'an "unbalanced quote',
        '5" rope and 6" rope',
        '""',
        "-",
        "a - b",
        "a -.5 b",
        "rm -/tmp",
        "git log --no-pager",
        "well-known",
        "- item",
        "std::vector",
        "http://example.org/a?b=c",
        "https://in:8080",
        "error: foo",
        "in: the box",
        "role:",
        "in:/etc",
        "language:python",
        '-""',
        " two  blanks\n",
    ],
)
def test_what_is_no_operator_is_text(text: str) -> None:
    assert parse_query(text) == Query(text)


@given(st.text())
def test_any_text_can_be_parsed(text: str) -> None:
    parse_query(text)


@given(st.text(alphabet=st.sampled_from('ab -:"“”„«»(). \nsource:role:in:since')))
def test_any_heap_of_operators_can_be_parsed(text: str) -> None:
    query = parse_query(text)
    assert all((*query.phrases, *query.excluded, *query.sources, *query.roles, *query.conversations))
    assert query == Query(text) or query.text == " ".join(query.text.split())


@given(st.text(alphabet=st.characters(exclude_characters='"“”„«»「」『』:-')))
def test_a_text_without_operators_is_unchanged(text: str) -> None:
    assert parse_query(text) == Query(text)
