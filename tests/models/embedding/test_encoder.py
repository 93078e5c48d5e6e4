"""Long texts are cut into pieces that lose nothing."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.models.embedding.base import TokenEmbedder
from recollect.models.embedding.encoder import PIECE, MiniLM, cut_pieces
from recollect.models.embedding.tokenizer import packaged_tokenizer
from tests.models.embedding.reference import needs_reference, reference


@given(st.lists(st.integers(0, 40), max_size=6), st.integers(1, 12))
def test_pieces_joined_are_the_texts(lengths, size):
    texts = ["word " * length for length in lengths]
    pieces = list(cut_pieces(packaged_tokenizer(), texts, size))
    assert all(0 < len(piece.ids) <= size for piece in pieces)
    found = {owner: list(group) for owner, group in groupby(pieces, key=lambda piece: piece.owner)}
    for number, length in enumerate(lengths):
        mine = found.get(number, [])
        assert sum(len(piece.ids) for piece in mine) == length
        assert [piece.start for piece in mine] == list(range(0, length, size))


def test_pieces_run_on_over_slices_of_a_giant_text():
    pieces = list(cut_pieces(packaged_tokenizer(), ["word " * 30_000], 254))
    assert [len(piece.ids) for piece in pieces[:-1]] == [254] * (30_000 // 254)
    assert sum(len(piece.ids) for piece in pieces) == 30_000


def test_a_limit_leaves_out_what_begins_after_it():
    pieces = list(cut_pieces(packaged_tokenizer(), ["word " * 100, "other"], 10, limit=25))
    assert [(piece.owner, piece.start) for piece in pieces] == [(0, 0), (0, 10), (0, 20), (1, 0)]


# MiniLM: the reference's vectors and token vectors, and long texts whole.

#: Texts for parity: of one token up to exactly one full piece.
TEXTS = ["Yes", "Where did we go last summer?", "naïve café 東京 🙂", "We met Anna at the lake. " * 9, "word " * PIECE]


@pytest.fixture(scope="module")
def model() -> TokenEmbedder:
    return MiniLM()


@needs_reference
def test_single_texts_equal_the_reference(model, monkeypatch):
    monkeypatch.setattr(onnxruntime, "SessionOptions", _exact)
    theirs = reference().MiniLM()
    for text in TEXTS:
        (vector,), (tokens,) = model.embed_with_tokens([text])
        (expected,), ((ids, vectors),) = theirs([text])
        np.testing.assert_allclose(vector, expected, atol=1e-5)
        np.testing.assert_array_equal(tokens.ids, ids)
        np.testing.assert_allclose(tokens.unit(), vectors, atol=0.5 / 127 + 1e-5)


def _exact(make=onnxruntime.SessionOptions):
    """Options by which no sum overflows, whatever the processor has."""
    options = make()
    options.add_session_config_entry("session.x64quantprecision", "1")
    return options


def test_a_text_has_the_same_vectors_on_every_processor(model):
    expected = [-0.079196, 0.098881, 0.073384, 0.084190, -0.006374, 0.029877]
    np.testing.assert_allclose(model.embed(["We met Anna at the lake."])[0][:6], expected, atol=2e-5)


def test_a_text_has_the_same_vectors_whatever_stands_beside_it(model):
    texts = [f"{text} {n}" for n in range(12) for text in TEXTS[:4]]
    beside, _ = model.embed_with_tokens(texts)
    np.testing.assert_array_equal(beside, np.concatenate([model.embed([text]) for text in texts]))


def test_the_three_calls_agree(model):
    vectors, tokens = model.embed_with_tokens(TEXTS)
    np.testing.assert_allclose(model.embed(TEXTS), vectors, atol=1e-5)
    for one, other in zip(model.token_embed(TEXTS), tokens, strict=True):
        np.testing.assert_array_equal(one.ids, other.ids)
        np.testing.assert_array_equal(one.vectors, other.vectors)


def test_a_text_without_tokens_gives_a_zero_row_and_no_token_vectors(model):
    vectors, tokens = model.embed_with_tokens(["", "hello", " \n"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [0, 1, 0], atol=1e-5)
    assert [len(each) for each in tokens] == [0, 1, 0]
    assert tokens[0].vectors.shape == (0, 128)


def test_no_texts_give_no_rows(model):
    assert model.embed([]).shape == (0, 384)
    assert model.token_embed([]) == []


def test_token_vectors_are_int8_near_unit_length(model):
    (tokens,) = model.token_embed(["Where did we go last summer?"])
    assert (tokens.ids.dtype, tokens.vectors.dtype) == (np.uint16, np.int8)
    np.testing.assert_allclose(np.linalg.norm(tokens.unit(), axis=1), 1, atol=0.02)


def test_a_long_text_counts_to_its_end(model):
    dogs, taxes = "The dog ate the bone. " * 43, "The tax return is due in May. " * 60
    long, start, end = model.embed([dogs + taxes, dogs, taxes])
    assert long @ end > start @ end + 0.1


def test_a_long_text_is_the_mean_of_its_pieces(model):
    words = [f"{word}" for word in ["dog", "tax", "lake", "music"] for _ in range(PIECE)]
    pieces = [" ".join(words[at : at + PIECE]) for at in range(0, len(words), PIECE)]
    mean = np.concatenate([model.embed([piece]) for piece in pieces]).mean(axis=0)
    (whole,) = model.embed([" ".join(words)])
    assert whole @ mean / np.linalg.norm(mean) > 0.98


def test_token_vectors_of_a_long_text_follow_its_order_up_to_the_limit(model):
    text = " ".join(str(number) for number in range(1_000))
    ids = packaged_tokenizer().encode(text, add_special_tokens=False).ids
    for limit in (10, PIECE, 300, 600):
        (tokens,) = model.token_embed([text], max_tokens=limit)
        assert tokens.ids.tolist() == ids[:limit]
        assert tokens.vectors.shape == (limit, 128)
    (_,), (kept,) = model.embed_with_tokens([text])
    assert kept.ids.tolist() == ids[:1_024]


def test_threads_may_share_it(model):
    texts = [f"thread number {n}" for n in range(8)]
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda text: model.embed([text])[0], texts))
    np.testing.assert_allclose(np.stack(rows), np.concatenate([model.embed([text]) for text in texts]), atol=1e-5)


def test_the_runtime_keeps_no_telemetry(tmp_path):
    """Some builds of ONNX Runtime keep events under the home folder for sending them, from the moment of the import."""
    code = "from recollect.models.embedding.encoder import MiniLM; MiniLM().embed(['a'])"
    environment = {"HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert list(tmp_path.rglob("*")) == []
