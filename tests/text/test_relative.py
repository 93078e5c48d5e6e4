from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.relative import parse_moment, relative_dates, with_year, without_relative

FRIDAY = date(2025, 3, 14)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what did I cook yesterday", "2025-03-13", "2025-03-13"),
        ("the day before yesterday", "2025-03-12", "2025-03-12"),
        ("what did I say today", "2025-03-14", "2025-03-14"),
        ("Last week's plan", "2025-03-03", "2025-03-09"),
        ("this week", "2025-03-10", "2025-03-14"),
        ("last weekend", "2025-03-08", "2025-03-09"),
        ("last month", "2025-02-01", "2025-02-28"),
        ("last year", "2024-01-01", "2024-12-31"),
        ("last Friday", "2025-03-07", "2025-03-07"),
        ("last monday", "2025-03-10", "2025-03-10"),
        ("in the past week", "2025-03-07", "2025-03-14"),
        ("the last 3 months", "2024-12-14", "2025-03-14"),
        ("three days ago", "2025-03-11", "2025-03-11"),
        ("two weeks ago", "2025-02-25", "2025-03-03"),
        ("a month ago", "2025-01-30", "2025-03-01"),
        ("a year ago", "2023-09-14", "2024-09-12"),
        ("a couple of days ago", "2025-03-12", "2025-03-12"),
        ("last spring", "2024-03-01", "2024-05-31"),
        ("last summer", "2024-06-01", "2024-08-31"),
        ("last fall", "2024-09-01", "2024-11-30"),
        ("last winter", "2024-12-01", "2025-02-28"),
        ("this spring", "2025-03-01", "2025-05-31"),
        ("last January", "2025-01-01", "2025-01-31"),
        ("last March", "2024-03-01", "2024-03-31"),
        ("last Nov.", "2024-11-01", "2024-11-30"),
        ("this May", "2025-05-01", "2025-05-31"),
    ],
)
def test_times_are_counted_from_today(text: str, first: str, last: str) -> None:
    (span,) = relative_dates(text, FRIDAY)
    assert (span.start.isoformat(), span.end.isoformat()) == (first, last)


def test_a_season_under_way_is_not_the_last_one() -> None:
    (span,) = relative_dates("last winter", date(2025, 1, 5))
    assert span.start == date(2023, 12, 1)


@pytest.mark.parametrize(
    "text",
    [
        "before we moved",
        "recently",
        "a few weeks ago",
        "the last week of the trip",
        "last but not least",
        "this may do",
    ],
)
def test_what_is_not_sure_is_no_date(text: str) -> None:
    assert relative_dates(text, FRIDAY) == ()


def test_several_times_come_in_the_order_of_the_text() -> None:
    spans = relative_dates("not last week but yesterday", FRIDAY)
    assert [span.start.day for span in spans] == [3, 13]


def test_a_month_back_from_its_last_day_is_the_last_day_of_a_shorter_one() -> None:
    (span,) = relative_dates("past month", date(2025, 3, 31))
    assert span.start == date(2025, 2, 28)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("what did I say last week about bread", "what did I say about bread"),
        ("Yesterday I asked about rye", "I asked about rye"),
        ("the plumber I called 2 days ago", "the plumber I called"),
        ("the storm of last summer, and last night", "the storm of , and"),
        ("the last 3 months ago", "the"),
        ("before we moved", "before we moved"),
    ],
)
def test_words_that_say_when_are_not_sought(text: str, left: str) -> None:
    assert without_relative(text, FRIDAY, (2024, 2025)) == left
    assert without_relative(text, FRIDAY, (2022,)) == text


def test_a_month_of_last_year_gets_its_number() -> None:
    assert with_year("since March last year, or 3 May of this year", FRIDAY) == "since March 2024, or 3 May 2025"
    assert with_year("last year", FRIDAY) == "last year"


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("2024", "2024-01-01T00:00", "2025-01-01T00:00"),
        ("2024-02", "2024-02-01T00:00", "2024-03-01T00:00"),
        ("2024-12-31", "2024-12-31T00:00", "2025-01-01T00:00"),
        ("2024-05-01T10:30", "2024-05-01T10:30", "2024-05-01T10:30"),
        ("2024-05-01 10:30:00+02:00", "2024-05-01T08:30", "2024-05-01T08:30"),
        ("2024-05-01T10:30:00Z", "2024-05-01T10:30", "2024-05-01T10:30"),
        ("March 2024", "2024-03-01T00:00", "2024-04-01T00:00"),
        ("14 march 2024", "2024-03-14T00:00", "2024-03-15T00:00"),
        ("Feb", "2025-02-01T00:00", "2025-03-01T00:00"),
        ("May 3", "2024-05-03T00:00", "2024-05-04T00:00"),
        ("last week", "2025-03-03T00:00", "2025-03-10T00:00"),
        (" Yesterday ", "2025-03-13T00:00", "2025-03-14T00:00"),
        ("3  days ago", "2025-03-11T00:00", "2025-03-12T00:00"),
    ],
)
def test_since_begins_with_what_is_named_and_until_ends_after_it(text: str, since: str, until: str) -> None:
    assert parse_moment(text, FRIDAY, end=False) == datetime.fromisoformat(since).replace(tzinfo=UTC)
    assert parse_moment(text, FRIDAY, end=True) == datetime.fromisoformat(until).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["", "soon", "2024-13", "2024-02-30", "99", "the trip of May 2024", "9999 years ago", "9999-12-31T23:00-23:00"],
)
def test_what_names_no_moment_gives_none(text: str) -> None:
    assert parse_moment(text, FRIDAY, end=False) is None


def test_the_end_of_time_has_nothing_after_it() -> None:
    assert parse_moment("9999-12-31", FRIDAY, end=True) is None


@given(st.text(), st.dates(), st.booleans())
def test_any_text_can_be_read_on_any_day(text: str, today: date, end: bool) -> None:
    relative_dates(text, today)
    parse_moment(text, today, end=end)


@given(st.sampled_from(["last winter", "this week", "past year", "a year ago", "last weekend"]), st.dates())
def test_phrases_can_be_read_on_any_day(text: str, today: date) -> None:
    assert all(span.start <= span.end for span in relative_dates(text, today))
    parse_moment(text, today, end=True)
