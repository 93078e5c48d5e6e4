"""Equal texts are embedded once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from recollect.models.embedding import CachedEmbedder


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
