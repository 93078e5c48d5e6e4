from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import InvalidInput
from recollect.record import checked_id, namespace, new_id, stable_id
from recollect.record.ids import UlidFactory

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
