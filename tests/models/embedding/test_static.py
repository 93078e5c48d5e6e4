"""Static vectors: the reference's numbers, for texts of any size."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from recollect.errors import ModelError
from recollect.models.embedding import base, static
from recollect.models.embedding.base import unit_rows
from recollect.models.embedding.static import StaticEmbedder
from recollect.models.embedding.tokenizer import UNKNOWN, WordPieces
from tests.models.embedding.reference import needs_reference, reference

TEXTS = ["Where did we go last summer?", "", "  \n", "A dog, a cat and 17 mice.", "naïve café 東京 🙂", "x" * 300]


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


@needs_reference
def test_vectors_equal_those_of_the_reference(embedder):
    texts = [*TEXTS, "long " * 3_000] + [f"message {n} about topic {n % 7}" for n in range(2_000)]
    expected = reference().Static()
    expected.rows[UNKNOWN] = 0
    np.testing.assert_allclose(embedder.embed(texts), expected(texts), atol=1e-5)


def test_rows_are_unit_and_rows_without_known_tokens_are_zero(embedder):
    lengths = np.linalg.norm(embedder.embed(TEXTS), axis=1)
    np.testing.assert_allclose(lengths, [1, 0, 0, 1, 1, 0], atol=1e-6)


def test_what_cannot_be_spelled_is_like_nothing(embedder):
    """Q5: all of it was one token, so that emoji, Chinese and encoded files were alike."""
    encoded = "x" * 300
    strange, other, said = embedder.embed([f"{encoded} 🙂 🦜", "🧭" * 3, "the kettle is broken 🙂🙂"])
    (plain,) = embedder.embed(["the kettle is broken"])
    assert not strange.any()
    assert not other.any()
    np.testing.assert_allclose(said, plain, atol=1e-6)


def test_no_texts_give_no_rows(embedder):
    rows = embedder.embed([])
    assert rows.shape == (0, 256)
    assert rows.dtype == np.float32


def test_likeness_follows_meaning(embedder):
    dog, puppy, tax = embedder.embed(["my dog is ill", "the puppy is sick", "tax return deadline"])
    assert dog @ puppy > dog @ tax + 0.2


def test_a_giant_text_is_the_mean_of_all_its_tokens(embedder):
    # 600,000 characters of two kinds: were the end cut off, the vector would be that of the beginning alone.
    first, last, both = embedder.embed(["dog " * 150_000, "tax " * 150_000, "dog " * 150_000 + "tax " * 150_000])
    dog, tax = embedder.embed(["dog", "tax"])
    np.testing.assert_allclose(first, dog, atol=1e-4)
    np.testing.assert_allclose(last, tax, atol=1e-4)
    assert both @ tax > first @ tax + 0.1


def test_a_text_among_others_has_the_vector_it_has_alone(embedder):
    texts = [f"note number {n}: " + "word " * (n % 90) for n in range(300)] + ["", "w " * 30_000]
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    np.testing.assert_allclose(embedder.embed(texts), alone, atol=1e-5)


def test_short_texts_have_exactly_the_sums_of_their_rows(embedder):
    rows, scales = static._table()
    texts = [" ".join(["a kettle of 7 unbelievable fish boils"] * n) for n in (1, 2, 3, 8, 40)]
    sums = [
        np.add.reduceat(rows[ids] * scales[ids][:, None], [0], axis=0)[0]
        for ids in map(np.array, WordPieces().ids(texts))
    ]
    assert np.array_equal(embedder.embed(texts), unit_rows(np.stack(sums)))


def test_broken_unicode_is_embedded_all_the_same(embedder):
    assert np.linalg.norm(embedder.embed(["half a pair \ud800 of surrogates"])[0]) == pytest.approx(1)


def test_threads_may_share_it(embedder):
    texts = [f"thread {n}" for n in range(64)]
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda text: embedder.embed([text])[0], texts))
    np.testing.assert_array_equal(np.stack(rows), embedder.embed(texts))


@pytest.mark.parametrize("left", [0, 60, 5_000])
def test_a_damaged_table_is_a_model_error(tmp_path, monkeypatch, left):
    damaged = tmp_path / "static.npy"
    damaged.write_bytes(base.packaged("static-reg-int8.npy").read_bytes()[:left])
    monkeypatch.setattr(base, "packaged", lambda name: damaged)
    with pytest.raises(ModelError, match="damaged"):
        static._table.__wrapped__()


def test_no_network_client_is_imported():
    import subprocess

    code = (
        "import sys; from recollect.models.embedding import open_embedder as o; o().embed(['a']); print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"huggingface_hub", "urllib.request", "http.client", "onnxruntime"} & set(loaded)
