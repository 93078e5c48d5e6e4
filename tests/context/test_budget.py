"""Texts that are shortened: within the budget, and cut between words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.context.result import shortened, tokens_in

_TALK = "The vet said that Luna's separation anxiety would lessen within seventeen minutes of every departure. " * 4


@pytest.mark.parametrize("budget", range(12, 60, 3))
def test_a_text_is_cut_between_words(budget: int) -> None:
    found = shortened(_TALK, budget)
    head, _, tail = found.partition(" […] ")
    assert tokens_in(found) <= budget
    assert set(f"{head} {tail}".split()) <= set(_TALK.split())
    assert head
    assert tail


@pytest.mark.parametrize(
    "text", ["露娜对鸡肉过敏。医生说每天早上吃十毫克的药，" * 30, "x" * 4_000, f"See {'a/b' * 900} there"]
)
def test_what_has_no_blanks_near_is_cut_where_it_is_full(text: str) -> None:
    found = shortened(text, 40)
    assert 20 < tokens_in(found) <= 40


@given(st.text(max_size=300), st.integers(0, 60))
def test_it_fits_always(text: str, budget: int) -> None:
    assert tokens_in(shortened(text, budget)) <= budget
