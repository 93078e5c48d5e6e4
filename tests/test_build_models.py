"""The arithmetic of the models' recipe, and its one step that needs no torch."""

import importlib.util
import sys
from types import ModuleType

import numpy as np
import pytest

from recollect.models.embedding.base import packaged
from tests.paths import ROOT


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_models", ROOT / "tools" / "build_models.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_torch_is_wanted_only_by_the_steps_that_train(build):
    assert "torch" not in sys.modules


def test_quantised_rows_come_back_within_half_a_step(build):
    rows = np.random.default_rng(0).normal(size=(200, 64)).astype(np.float32) * np.logspace(-3, 1, 200)[:, None]
    rows = rows.astype(np.float32)
    quantised, scales = build.quantise_rows(rows)
    assert (quantised.dtype, scales.dtype, scales.shape) == (np.int8, np.float16, (200, 1))
    error = np.abs(quantised * scales.astype(np.float32) - rows)
    assert (error <= 0.57 * np.abs(rows).max(axis=1, keepdims=True) / 127).all()


def test_a_row_of_zeros_stays_zeros(build):
    quantised, scales = build.quantise_rows(np.zeros((1, 8), np.float32))
    assert not quantised.any()
    assert np.isfinite(scales).all()


def test_the_packaged_table_has_the_shape_that_quantising_gives(build):
    rows, scales = np.load(packaged("static-reg-int8.npy")), np.load(packaged("static-reg-scales.npy"))
    quantised, _ = build.quantise_rows(rows * scales.astype(np.float32))
    assert (quantised == rows).mean() > 0.99


def test_principal_axes_are_the_directions_of_most_spread(build):
    random = np.random.default_rng(1)
    basis, _ = np.linalg.qr(random.normal(size=(10, 10)))
    spread = np.array([9, 5, 3] + [0.1] * 7)
    vectors = ((random.normal(size=(5_000, 10)) * spread) @ basis.T).astype(np.float32)
    axes = build.principal_axes(vectors, 3)
    np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-5)
    np.testing.assert_allclose(np.abs((axes * basis[:, :3]).sum(axis=0)), 1, atol=1e-2)


def test_common_tokens_weigh_little_and_unseen_ones_all(build):
    weights = build.sif_weights(np.array([0, 1, 999]))
    assert weights[0] == 1
    assert weights[1] == pytest.approx(0.5)
    assert weights[2] == pytest.approx(1e-3 / (1e-3 + 0.999))


def test_the_projection_is_made_from_texts(build, tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("".join(f"We talked about trip number {n} to the lake.\n\n" for n in range(40)))
    build.main(["projection", "--texts", str(texts), "--out", str(tmp_path / "new")])
    axes = np.load(tmp_path / "new" / "li-pca384.npy")
    assert (axes.shape, axes.dtype) == ((384, 128), np.float16)


def test_the_regression_starts_from_single_tokens_weighted_by_rarity(build, monkeypatch):
    monkeypatch.setattr(build, "vocabulary_vectors", lambda _, size: np.ones((size, 384), np.float32))
    rows = build.first_rows(None, build.token_ids(["the the the lake", "the"]), np.eye(384, 4, dtype=np.float32))
    (the,), (lake,), (unseen,) = build.token_ids(["the", "lake", "piano"])
    assert rows[the, 0] < rows[lake, 0] < rows[unseen, 0] == 1


def test_tokens_are_asked_of_the_model_one_by_one(build):
    vectors = build.vocabulary_vectors(build.packaged_encoder(), 50)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
