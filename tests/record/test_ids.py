"""A foreign name gets a part of a namespace that no other name gets."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.errors import InvalidInput
from recollect.record import (
    checked_id,
    from_microseconds,
    iso,
    namespace,
    namespace_part,
    new_id,
    parse_time,
    stable_id,
    to_microseconds,
)
from recollect.record.ids import EARLIEST, LATEST, UlidFactory

SHAPE = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")

any_text = st.text(st.characters(categories=None))  # halves of surrogate pairs too: exports hold them
parts = st.lists(st.one_of(any_text, st.integers(), st.none()), max_size=4)


@given(parts)
def test_a_stable_id_has_the_shape_of_a_ulid(given_parts: list[str | int | None]) -> None:
    assert SHAPE.fullmatch(stable_id(*given_parts))
    assert stable_id(*given_parts) == stable_id(*given_parts)


@given(st.lists(any_text, max_size=4), st.lists(any_text, max_size=4))
def test_other_parts_give_another_id(one: list[str], other: list[str]) -> None:
    assert (stable_id(*one) == stable_id(*other)) == (one == other)


def test_where_a_part_ends_counts() -> None:
    assert len({stable_id("ab", "c"), stable_id("a", "bc"), stable_id("abc"), stable_id("abc", "")}) == 4


def test_a_stable_id_is_the_same_for_ever() -> None:
    assert stable_id("conversation", "chatgpt", "1") == "6J9A8BWC1KZJFXD97JNM4FXS0X"


def test_new_ids_sort_by_creation_within_a_millisecond_and_when_the_clock_goes_back() -> None:
    times = iter([100.0] * 50 + [99.0] * 50 + [101.0])
    make = UlidFactory(lambda: next(times))
    made = [make() for _ in range(101)]
    assert made == sorted(set(made))


def test_a_new_id_begins_with_its_time() -> None:
    early, late = UlidFactory(lambda: 1_700_000_000.0)(), UlidFactory(lambda: 1_700_000_000.001)()
    assert early[:10] < late[:10]
    assert SHAPE.fullmatch(early)


def test_threads_never_get_the_same_id() -> None:
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda _: new_id(), range(2000)))
    assert len(set(made)) == 2000


@pytest.mark.parametrize(
    "name", ["default", "acme/rex", "acme/rex/2024", "Zürich", "猫", "a.b-c_d@e", ".a", "..a/b..", "..."]
)
def test_a_namespace_is_names_joined_by_slashes(name: str) -> None:
    assert namespace(name) == name


@pytest.mark.parametrize(
    "name",
    ["", "/", "a/", "/a", "a//b", "a b", "a\tb", "a\nb", "a\x00", "x" * 201, ".", "..", "a/../b", "./a", "\ud800"],
)
def test_what_is_no_namespace_is_refused_with_an_example(name: str) -> None:
    with pytest.raises(InvalidInput, match="is not a namespace") as caught:
        namespace(name)
    assert "acme/rex" in caught.value.hint


@pytest.mark.parametrize("name", [".", "..", "a/../b", "./a", "a/.", "a/.."])
def test_what_addresses_drop_is_no_part_of_a_namespace(name: str) -> None:
    with pytest.raises(InvalidInput, match="is not a namespace"):
        namespace(name)


@pytest.mark.parametrize("name", ["c", "kitchen talk", "a/../b", "猫", ".", "x" * 200])
def test_an_id_may_be_of_any_script_and_hold_blanks(name: str) -> None:
    assert checked_id(name, "id") == name


@pytest.mark.parametrize("name", ["", " ", " a", "a\n", "a\x00b", "\x7f", "\ud800", "x" * 201, "\xa0"])
def test_what_is_no_id_is_refused_by_its_name(name: str) -> None:
    with pytest.raises(InvalidInput, match="conversation_id cannot be") as caught:
        checked_id(name, "conversation_id")
    assert len(caught.value.message) < 200


# A foreign name gets a part of a namespace that no other name gets.

NAMES = st.text(max_size=80)
#: What people might do to a name so that it leads where another does.
NEAR: tuple[Callable[[str], str], ...] = (
    namespace_part,
    str.strip,
    str.casefold,
    str.upper,
    lambda name: unicodedata.normalize("NFC", name),
    lambda name: unicodedata.normalize("NFD", name),
    lambda name: unicodedata.normalize("NFKC", name),
    lambda name: name.replace(" ", "-"),
    lambda name: f" {name}",
    lambda name: f"{name}\t",
    lambda name: name[:60],
    lambda name: name.rstrip("."),
)


@given(NAMES, st.sampled_from(NEAR), NAMES)
@example("Anna Smith", namespace_part, "Anna-Smith")
@example("Ünal", NEAR[5], "U\u0308nal")
@example("x" * 61, NEAR[10], "x" * 62)
@example("..", NEAR[11], "")
def test_two_names_never_share_a_namespace(name: str, near: Callable[[str], str], other: str) -> None:
    for one in {near(name), other} - {name}:
        assert namespace_part(one) != namespace_part(name)


@given(st.text(max_size=200))
@example(".")
@example("a/b")
@example("\ud800")
def test_any_name_is_one_part_of_a_namespace(name: str) -> None:
    part = namespace_part(name)
    assert namespace(f"user/{part}").count("/") == 1
    assert len(part) <= 60
    assert part == namespace_part(name)


def test_a_name_that_fits_stays_itself() -> None:
    for name in ("mia", "mia-kay", "anna@example.org", "Ünal", "名前", "a.b+c_d", "Anna-Smith-h1g7e6", "x" * 60):
        assert namespace_part(name) == name


def test_a_changed_name_can_be_read_and_not_be_chosen() -> None:
    part = namespace_part("Anna Smith")
    assert part.startswith("Anna-Smith~")
    assert len(part.partition("~")[2]) * 5 >= 96  # bits
    assert namespace_part(part) != part


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
