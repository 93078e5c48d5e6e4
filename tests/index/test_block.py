"""Shortened vectors tell cosines up to what they leave out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.index import block as shortened_module
from recollect.index.block import Shortened
from recollect.index.corpus import Corpus
from recollect.index.numeric import Moments, to_int8, unit
from recollect.store.passages import Float
from tests.index.rows import SIZE, ListEngine, made_rows

Make = Callable[..., Corpus]


def shortened_of(vectors: Float) -> Shortened | None:
    packed, _ = to_int8(vectors)
    inverse = 1 / np.maximum(np.linalg.norm(packed.astype(np.float32), axis=1), 1e-9)
    return Shortened.of(packed, inverse.astype(np.float32), Moments.of(unit(packed)))


@given(st.integers(2, 300), st.sampled_from([8, 32, 256]), st.integers(0, 2**32 - 1))
def test_a_cosine_is_told_up_to_what_the_axes_leave_out(count: int, size: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    vectors = (chance.normal(size=(count, size)) * 0.97 ** np.arange(size) + chance.normal(size=size)).astype(
        np.float32
    )
    vector = unit(chance.normal(size=(1, size)))[0]
    with pytest.MonkeyPatch.context() as patched:
        for bound in ("_LEAST_ROWS", "_SHORTEST", "_LEAST_VARIANCE"):
            patched.setattr(shortened_module, bound, 0)
        made = shortened_of(vectors)
    assert made is not None
    assert made.rows.shape == (count, size * 3 // 8)
    steps = np.linalg.norm(made.axes, axis=1)
    axes = made.axes / np.maximum(steps, 1e-12)[:, None]
    around = unit(to_int8(vectors)[0]) - made.centre
    left_out = np.linalg.norm(around - around @ axes.T @ axes, axis=1) * np.linalg.norm(
        vector - axes.T @ (axes @ vector)
    )
    placed = axes @ vector
    half_steps = steps.max() * np.abs(placed).sum() / 2  # what rounding the rows may lose
    half_steps += np.abs(placed).max() / 127 / 2 * np.abs(around @ axes.T).sum(axis=1)  # and rounding the vector
    exact = unit(to_int8(vectors)[0]) @ vector
    assert np.all(np.abs(made.cosines(vector) - exact) <= 1.01 * (left_out + half_steps) + 1e-4)


def test_vectors_that_lie_in_few_directions_are_told_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortened_module, "_LEAST_ROWS", 2)
    chance = np.random.default_rng(3)
    vectors = (chance.normal(size=(500, 20)) @ chance.normal(size=(20, 64)) + 3).astype(np.float32)
    made, question = shortened_of(vectors), unit(vectors[7:8])[0]
    assert made is not None
    assert made.cosines(question) == pytest.approx(unit(vectors) @ question, abs=0.02)
    assert np.argmax(made.cosines(question)) == 7


def test_few_vectors_and_very_long_or_short_ones_are_not_shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shortened_of(np.ones((300, 256), np.float32)) is None
    monkeypatch.setattr(shortened_module, "_LEAST_ROWS", 2)
    vectors = np.arange(1, 4)[:, None] * np.linspace(1, 2, 1536, dtype=np.float32) + np.eye(3, 1536, dtype=np.float32)
    assert shortened_of(vectors[:, :256]) is not None
    for size in (2, 3, 8, 16, 1536):
        assert shortened_of(vectors[:, :size]) is None


def test_vectors_that_differ_in_all_directions_alike_are_not_shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortened_module, "_LEAST_ROWS", 2)
    chance = np.random.default_rng(5)
    vectors = chance.normal(size=(4000, 256)).astype(np.float32)
    assert shortened_of(vectors) is None  # which of them are near a question, no few axes can tell
    assert shortened_of(vectors * (np.arange(256) < 96)) is not None


def test_blocks_in_files_have_them(corpus: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortened_module, "_LEAST_ROWS", 64)
    monkeypatch.setattr(shortened_module, "_SHORTEST", SIZE)
    engine = ListEngine()
    engine.add(made_rows(100))
    for _ in range(12):
        engine.seal(8)
    for _ in range(2):  # made, and read again
        full, *rest = (part.block for part in corpus(tmp_path).snapshot(engine.source()).parts)
        assert full.shortened is not None
        assert full.shortened.rows.shape == (64, 12)
        assert all(block.shortened is None for block in rest)
