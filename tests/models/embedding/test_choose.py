"""Embedders by name."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from recollect.errors import InvalidInput, ModelError
from recollect.models.embedding import CachedEmbedder, open_embedder
from recollect.models.embedding.encoder import MiniLM
from recollect.models.embedding.remote import OpenAIEmbeddings
from recollect.models.embedding.static import StaticEmbedder


def test_the_default_is_static():
    assert isinstance(open_embedder(), StaticEmbedder)
    assert isinstance(open_embedder("static"), StaticEmbedder)
    assert (open_embedder().name, open_embedder().dimensions) == ("static-reg-int8@1", 256)


def test_minilm_is_the_quality_mode():
    model = open_embedder("minilm")
    assert isinstance(model, MiniLM)
    assert (model.name, model.dimensions) == ("minilm-int8@1", 384)


def test_a_server_is_named_by_its_model_and_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = open_embedder("openai:nomic-embed-text:v1.5")
    assert isinstance(model, OpenAIEmbeddings)
    assert model.name == "openai:nomic-embed-text:v1.5"


def test_a_folder_that_is_not_there_is_a_model_error(tmp_path):
    with pytest.raises(ModelError, match="not a folder"):
        open_embedder(f"folder:{tmp_path / 'nowhere'}")


@pytest.mark.parametrize("spec", ["", "bert", "static:x", "minilm:2", "folder:", "openai:", "openai", "Static"])
def test_another_name_is_refused_with_the_choices(spec):
    with pytest.raises(InvalidInput) as caught:
        open_embedder(spec)
    for choice in ("static", "minilm", "folder:", "openai:"):
        assert choice in caught.value.hint


# Equal texts are embedded once.


class Counting:
    """Embeds a text as its length and remembers what it was asked."""

    name = "counting@1"
    dimensions = 2

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts):
        self.asked.extend(texts)
        return np.array([[len(text), 1] for text in texts], np.float32).reshape(-1, 2)


def test_equal_texts_in_a_batch_are_embedded_once():
    inner = Counting()
    rows = CachedEmbedder(inner).embed(["aa", "b", "aa", "aa"])
    assert inner.asked == ["aa", "b"]
    assert rows[:, 0].tolist() == [2, 1, 2, 2]


def test_what_was_embedded_before_is_remembered():
    inner = Counting()
    cached = CachedEmbedder(inner)
    cached.embed(["aa", "b"])
    assert cached.embed(["b", "ccc", "aa"])[:, 0].tolist() == [1, 3, 2]
    assert inner.asked == ["aa", "b", "ccc"]


def test_what_was_not_used_longest_is_forgotten_first():
    inner = Counting()
    cached = CachedEmbedder(inner, capacity=2)
    for texts in (["a"], ["bb"], ["a"], ["ccc"], ["a"], ["bb"]):
        cached.embed(texts)
    assert inner.asked == ["a", "bb", "ccc", "bb"]


def test_a_batch_larger_than_the_capacity_is_answered_whole():
    texts = ["x" * n for n in range(1, 20)] * 2
    assert CachedEmbedder(Counting(), capacity=3).embed(texts)[:, 0].tolist() == [len(text) for text in texts]


def test_changing_a_given_row_does_not_change_the_memory():
    cached = CachedEmbedder(Counting())
    cached.embed(["aa"])[:] = 0
    cached.embed(["aa"])[:] = 0
    assert cached.embed(["aa"])[0, 0] == 2


def test_it_stands_for_the_wrapped_embedder():
    cached = CachedEmbedder(Counting())
    assert (cached.name, cached.dimensions) == ("counting@1", 2)
    assert cached.embed([]).shape == (0, 2)
    assert cached.embed(["\ud800"]).shape == (1, 2)


def test_threads_may_share_it():
    cached = CachedEmbedder(Counting(), capacity=5)
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(lambda n: cached.embed(["x" * (n % 9 + 1)])[0, 0], range(500)))
    assert rows == [n % 9 + 1 for n in range(500)]
