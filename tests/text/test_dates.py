from __future__ import annotations

import random
import re
from collections.abc import Sequence
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from recollect.index.numeric import closeness
from recollect.text.dates import DateSpan, exact_dates, named_dates
from tests.reference import all_texts, needs_shared, reference

#: The reference takes "last March" for every March, and reads English dates only.
READ_OTHERWISE = re.compile(r"\b(?:last|this) \w+|[年月년월]", re.IGNORECASE)

EPOCH = date(1970, 1, 1)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("on 2024-02-29", "2024-02-29", "2024-02-29"),
        ("the 3rd of March, 2024", "2024-03-03", "2024-03-03"),
        ("Sept. 14th 2023", "2023-09-14", "2023-09-14"),
        ("March 3, 2024", "2024-03-03", "2024-03-03"),
        ("Feb of 2024", "2024-02-01", "2024-02-29"),
        ("December 2023", "2023-12-01", "2023-12-31"),
        ("during 2023", "2023-01-01", "2023-12-31"),
        ("2024年2月29日我们去了哪里", "2024-02-29", "2024-02-29"),
        ("2024 年 2 月 29 号", "2024-02-29", "2024-02-29"),
        ("２０２４年２月に何を買った", "2024-02-01", "2024-02-29"),
        ("2024년 2월 29일에 뭐 했어", "2024-02-29", "2024-02-29"),
        ("2023年的旅行", "2023-01-01", "2023-12-31"),
    ],
)
def test_days_months_and_years_are_read(text: str, first: str, last: str) -> None:
    assert named_dates(text) == (DateSpan(date.fromisoformat(first), date.fromisoformat(last)),)


def test_without_a_year_every_year_of_the_history_is_tried() -> None:
    assert [span.start.year for span in named_dates("in early March", (2022, 2023))] == [2022, 2023]
    assert named_dates("in early March") == ()


def test_chinese_japanese_and_korean_dates_without_a_year_are_tried_in_every_year_too() -> None:
    assert [str(span.start) for span in named_dates("3月5日", (2022, 2023))] == ["2022-03-05", "2023-03-05"]
    assert [str(span.end) for span in named_dates("在3月", (2022,))] == ["2022-03-31"]


@pytest.mark.parametrize(
    "text",
    [
        "31 June 2024",
        "2024-13-01",
        "29 Feb 2023",
        "9999 boats",
        "may I",
        "before then",
        "3个月",
        "13月",
        "2024年2月30日",
    ],
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert named_dates(text, (2023,)) == ()


def test_only_a_text_that_is_nothing_but_a_date_is_exactly_one() -> None:
    assert exact_dates("March 2024") == named_dates("in March 2024")
    assert exact_dates("2024") == named_dates("in 2024")
    assert exact_dates("the trip of March 2024") == ()


@given(st.text(alphabet=st.sampled_from("0123456789 -,.ſmayprdecnov/"), max_size=40))
def test_any_text_can_be_looked_through(text: str) -> None:
    assert all(span.start <= span.end for span in named_dates(text, (1, 2024, 9999)))


def test_closeness_is_one_inside_and_falls_faster_before_than_after() -> None:
    span = DateSpan(date(2024, 3, 10), date(2024, 3, 12))
    days = [*(date(2024, 3, day) for day in (2, 10, 11, 12, 22))]
    inside, kernel = _closeness(np.array([_day(day) for day in days] + [-1], np.int64), [span])
    assert inside.dtype == kernel.dtype == np.float32
    assert inside.tolist() == [0, 1, 1, 1, 0, 0]
    assert kernel == pytest.approx([np.exp(-2), 1, 1, 1, np.exp(-1), 0], abs=1e-6)


def test_of_several_spans_the_nearest_counts_and_of_none_nothing() -> None:
    spans = [DateSpan(date(2020, 1, 1), date(2020, 1, 1)), DateSpan(date(2024, 1, 1), date(2024, 1, 1))]
    days = np.array([_day(date(2024, 1, 11))], np.int64)
    assert _closeness(days, spans)[1] == pytest.approx([np.exp(-1)], abs=1e-6)
    assert [values.tolist() for values in _closeness(days, [])] == [[0], [0]]


@needs_shared
def test_messages_and_questions_name_the_dates_that_the_reference_finds() -> None:
    dates, years = reference("qa").dates, (2022, 2024)
    texts = [text for text in all_texts() if len(text) <= 1_500 and not READ_OTHERWISE.search(text)]
    assert texts
    assert not [t for t in texts if [(span.start, span.end) for span in named_dates(t, years)] != dates(t, years)]


@needs_shared
def test_closeness_is_that_of_the_reference() -> None:
    near = reference("qa").near
    chance = random.Random(5)
    days = [date(2023, 1, 1) + timedelta(days=chance.randrange(900)) for _ in range(300)]
    starts = chance.sample(days, 4)
    spans = [DateSpan(start, start + timedelta(days=chance.randrange(40))) for start in starts]
    inside, kernel = _closeness(np.array([_day(day) for day in days], np.int64), spans)
    expected = [near(day, [(span.start, span.end) for span in spans]) for day in days]
    assert inside.tolist() == [value for value, _ in expected]
    assert kernel == pytest.approx([value for _, value in expected], abs=1e-4)  # it takes 2.718 for e


def _closeness(days: NDArray[np.int64], spans: Sequence[DateSpan]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    return closeness(days, [span.days for span in spans])


def _day(day: date) -> int:
    return (day - EPOCH).days
