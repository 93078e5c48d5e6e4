from __future__ import annotations

import pytest

from benchmarks.intervals import mean_of_groups, mean_with_bounds


def test_bounds_of_a_share_are_about_two_standard_errors_away():
    half = mean_with_bounds([0.0, 100.0] * 200)

    assert half.mean == 50
    assert half.low == pytest.approx(50 - 1.96 * 2.5, abs=0.6)
    assert half.high == pytest.approx(50 + 1.96 * 2.5, abs=0.6)


def test_a_difference_is_proven_where_its_bounds_leave_zero_out():
    assert mean_with_bounds([1.0] * 30 + [0.0] * 70).is_proven
    assert not mean_with_bounds([1.0] * 6 + [-1.0] * 5 + [0.0] * 89).is_proven
    assert not mean_with_bounds([]).is_proven


def test_groups_count_the_same_however_many_questions_they_have():
    assert mean_of_groups([[100.0] * 1000, [0.0] * 10, []]).mean == 50


def test_the_same_values_have_the_same_bounds():
    values = [float(number % 3) for number in range(50)]

    assert mean_with_bounds(values) == mean_with_bounds(values)
