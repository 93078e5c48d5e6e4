"""The arithmetic that engines share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.store.numeric import best_three, bm25, closeness, zscore


def test_bm25_of_one_occurrence_in_a_text_of_mean_length_is_one() -> None:
    assert bm25(np.ones(1, np.float32), np.ones(1, np.float32), 2.0, 1.0) == pytest.approx([1.0])


def test_bm25_grows_with_occurrences_and_falls_with_length() -> None:
    counts = bm25(np.array([1, 2, 3], np.float32), np.ones(3, np.float32), 2.0, 1.0)
    lengths = bm25(np.ones(3, np.float32), np.array([0.5, 1, 2], np.float32), 2.0, 1.0)
    assert list(np.sign(np.diff(counts))) == [1, 1]
    assert list(np.sign(np.diff(lengths))) == [-1, -1]


def test_z_is_taken_over_the_chosen_rows_and_given_for_all() -> None:
    values = np.array([0, 2, 100], np.float32)
    assert zscore(values, np.array([True, True, False])) == pytest.approx([-1, 1, 99], rel=1e-4)
    assert zscore(values, np.zeros(3, bool)) == pytest.approx([0, 0, 0])


def test_closeness_falls_slower_after_a_date_than_before_it() -> None:
    inside, near = closeness(np.array([100, 110, 90, 101, -1]), [(100, 101)])
    assert list(inside) == [1, 0, 0, 1, 0]
    assert near == pytest.approx([1, np.exp(-0.9), np.exp(-2.5), 1, 0])


def test_of_several_ranges_the_nearest_counts() -> None:
    _, near = closeness(np.array([50]), [(0, 1), (49, 49)])
    assert near == pytest.approx([np.exp(-0.1)])


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_the_three_best_of_a_sitting_are_what_a_plain_loop_finds(sittings: list[int], chance: object) -> None:
    numbers = np.unique(np.array(sittings), return_inverse=True)[1]
    values = np.array([chance.random() for _ in sittings], np.float32)  # type: ignore[attr-defined]
    order = np.argsort(numbers, kind="stable")
    begins = np.searchsorted(numbers[order], np.arange(numbers.max() + 2))
    wanted = np.unique(numbers)
    plain = [np.sort(values[numbers == sitting])[-3:].mean() for sitting in wanted]
    assert best_three(values, numbers, order, begins, wanted) == pytest.approx(plain, rel=1e-5)
