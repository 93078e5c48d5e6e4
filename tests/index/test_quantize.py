"""Vectors as int8 keep their directions."""

from __future__ import annotations

import numpy as np
import pytest

from recollect.index.quantize import to_int8, unit


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
