from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.record import from_microseconds, iso, parse_time, to_microseconds
from recollect.record.time import EARLIEST, LATEST

MOMENT = datetime(2024, 3, 14, 14, 2, 7, 250_000, tzinfo=UTC)

moments = st.datetimes(
    min_value=EARLIEST.replace(tzinfo=None), max_value=LATEST.replace(tzinfo=None), timezones=st.just(UTC)
)


@pytest.mark.parametrize("unit", [1, 1_000, 1_000_000, 1_000_000_000])
def test_seconds_and_their_fractions_are_told_apart_by_size(unit: int) -> None:
    assert parse_time(MOMENT.timestamp() * unit) == MOMENT
    assert parse_time(int(MOMENT.timestamp()) * unit) == MOMENT.replace(microsecond=0)


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-14T14:02:07.25Z",
        "2024-03-14T14:02:07.250000+00:00",
        "2024-03-14 14:02:07.250000",
        "2024-03-14T15:02:07.25+01:00",
        "  2024-03-14T14:02:07.25Z\n",
        str(MOMENT.timestamp()),
        str(round(MOMENT.timestamp() * 1000)),
    ],
)
def test_the_ways_in_which_exports_write_a_time_are_one_moment(text: str) -> None:
    assert parse_time(text) == MOMENT


def test_a_day_is_its_first_moment() -> None:
    assert parse_time("2024-03-14") == parse_time("20240314") == datetime(2024, 3, 14, tzinfo=UTC)


def test_digits_that_look_like_an_early_date_are_milliseconds() -> None:
    assert parse_time("1712101590123") == datetime(2024, 4, 2, 23, 46, 30, 123_000, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        None, True, False, "", "   ", "yesterday", [], {}, b"2024-03-14", 0, -1, -1e300, 1.0, 12_345,
        math.nan, math.inf, -math.inf, 1e400, 1e308, 10**30, 10**400, 2**63, -(10**400),
        "nan", "inf", "-inf", "1e400", "1" * 40, "9" * 5000, "1e99999999",
        "0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-20:00", "1969-12-31", "2300-01-01", "0000-00-00",
    ],
)  # fmt: skip
def test_what_is_no_time_of_a_chat_is_none(value: object) -> None:
    assert parse_time(value) is None


@given(st.one_of(st.integers(), st.floats(), st.text(), st.datetimes(), st.none(), st.booleans()))
def test_anything_is_a_time_within_bounds_or_none(value: object) -> None:
    moment = parse_time(value)
    assert moment is None or (moment.tzinfo is UTC and EARLIEST <= moment <= LATEST)


@given(moments)
def test_microseconds_and_text_keep_a_moment_exactly(moment: datetime) -> None:
    assert from_microseconds(to_microseconds(moment)) == moment
    assert parse_time(iso(moment)) == moment


def test_a_naive_time_is_utc_and_a_zone_is_converted() -> None:
    assert to_microseconds(MOMENT.replace(tzinfo=None)) == to_microseconds(MOMENT)
    assert parse_time(MOMENT.astimezone(timezone(timedelta(hours=5, minutes=30)))) == MOMENT


def test_nothing_stays_nothing() -> None:
    assert to_microseconds(None) is from_microseconds(None) is iso(None) is None


def test_iso_ends_with_z_and_has_no_empty_fraction() -> None:
    assert iso(MOMENT) == "2024-03-14T14:02:07.250000Z"
    assert iso(MOMENT.replace(microsecond=0)) == "2024-03-14T14:02:07Z"
