"""The arithmetic that engines share."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.index.numeric import best_three, bm25, closeness, packed_dots, to_int8, unit


def test_bm25_of_one_occurrence_in_a_text_of_mean_length_is_one() -> None:
    assert bm25(np.ones(1, np.float32), np.ones(1, np.float32), 2.0, 1.0) == pytest.approx([1.0])


def test_bm25_grows_with_occurrences_and_falls_with_length() -> None:
    counts = bm25(np.array([1, 2, 3], np.float32), np.ones(3, np.float32), 2.0, 1.0)
    lengths = bm25(np.ones(3, np.float32), np.array([0.5, 1, 2], np.float32), 2.0, 1.0)
    assert list(np.sign(np.diff(counts))) == [1, 1]
    assert list(np.sign(np.diff(lengths))) == [-1, -1]


def test_closeness_falls_slower_after_a_date_than_before_it() -> None:
    inside, near = closeness(np.array([100, 110, 90, 101, -1]), [(100, 101)])
    assert list(inside) == [1, 0, 0, 1, 0]
    assert near == pytest.approx([1, np.exp(-0.9), np.exp(-2.5), 1, 0])


def test_of_several_ranges_the_nearest_counts() -> None:
    _, near = closeness(np.array([50]), [(0, 1), (49, 49)])
    assert near == pytest.approx([np.exp(-0.1)])


@given(st.lists(st.integers(0, 5), max_size=8), st.randoms(use_true_random=False))
def test_the_three_best_of_a_session_are_what_a_plain_loop_finds(sizes: list[int], chance: Random) -> None:
    begins = np.cumsum([0, *sizes])
    values = np.array([chance.random() for _ in range(begins[-1])], np.float32)
    plain = [np.sort(values[a:b])[-3:].mean() if b > a else 0.0 for a, b in pairwise(begins)]
    assert best_three(values, begins) == pytest.approx(plain, rel=1e-5)


@given(st.integers(0, 9000), st.sampled_from([1, 3, 16, 65, 256, 300]), st.integers(0, 2**32 - 1))
def test_packed_dots_are_the_products_with_unpacked_rows(count: int, size: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    rows = chance.integers(-127, 128, (count, size)).astype(np.int8)
    vector = chance.normal(size=size).astype(np.float32)
    vector /= np.linalg.norm(vector)
    plain = rows.astype(np.float64) @ vector.astype(np.float64)
    half_a_step = np.abs(vector).max() / 127 / 2 * np.abs(rows.astype(np.float64)).sum(axis=1)  # what rounding may lose
    assert np.all(np.abs(packed_dots(rows, vector) - plain) <= 1.01 * half_a_step / 254 + 1e-3)
    assert np.all(np.abs(packed_dots(rows, vector, roughly=True) - plain) <= 1.01 * half_a_step + 1e-3)


def test_packed_dots_with_nothing_are_zero() -> None:
    rows = np.ones((3, 8), np.int8)
    assert packed_dots(rows, np.zeros(8, np.float32)).tolist() == [0, 0, 0]
    assert packed_dots(rows[:0], np.ones(8, np.float32)).shape == (0,)


# Vectors as int8 keep their directions.


def test_a_cosine_survives_int8() -> None:
    rows = unit(np.random.default_rng(7).normal(size=(200, 256)))
    packed, scales = to_int8(rows)
    assert packed.dtype == np.int8
    assert (unit(packed) * rows).sum(axis=1).min() > 0.9995
    assert packed * scales[:, None] == pytest.approx(rows, abs=0.002)


def test_a_row_of_zeros_stays_one() -> None:
    packed, scales = to_int8(np.zeros((1, 4), np.float32))
    assert not packed.any()
    assert scales[0] == 0
    assert not unit(packed).any()


def test_no_rows_are_no_rows() -> None:
    packed, scales = to_int8(np.zeros((0, 4), np.float32))
    assert packed.shape == (0, 4)
    assert len(scales) == 0
