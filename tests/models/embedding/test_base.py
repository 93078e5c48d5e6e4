from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from recollect.models.embedding.base import Vectors, embed_with_runs
from recollect.models.embedding.choose import LazyEmbedder
from recollect.models.embedding.static import StaticEmbedder
from recollect.models.embedding.tokenizer import count_tokens, count_tokens_of
from recollect.text.sentences import cut_sentences

TEXTS = [
    "",
    ".",
    "One sentence alone",
    "Plant the tomatoes in May. Water them daily! Why do they wilt?\n\nMaybe it froze. I do not know. Ask Ada.",
    "- \n1\nA list. With scraps\n2\nof one character",
    "今日は天気がいい。散歩に行きましょう。公園で会いますか？はい。",
    "word " * 6_000 + ". The end. Really. " * 30,
]


class _Plain:
    """An embedder that knows nothing of runs."""

    name, dimensions = "plain", 256

    def embed(self, texts: Sequence[str]) -> Vectors:
        return StaticEmbedder().embed(texts)


def test_one_pass_gives_what_embedding_texts_and_runs_one_by_one_gives():
    cut = [cut_sentences(text) for text in TEXTS]

    whole, runs = embed_with_runs(StaticEmbedder(), cut)
    whole_apart, runs_apart = embed_with_runs(_Plain(), cut)

    assert len(whole) == len(TEXTS)
    assert len(runs) == sum(len(text.runs) for text in cut)
    np.testing.assert_allclose(whole, whole_apart, atol=1e-6)
    np.testing.assert_allclose(runs, runs_apart, atol=1e-6)


def test_many_texts_are_embedded_in_groups_without_mixing_them():
    cut = [cut_sentences(f"Text {number}. It has. Four sentences. Not more.") for number in range(700)]

    whole, runs = embed_with_runs(StaticEmbedder(), cut)

    np.testing.assert_allclose(whole[699], StaticEmbedder().embed([cut[699].text])[0], atol=1e-6)
    np.testing.assert_allclose(runs[-1], StaticEmbedder().embed([" ".join(cut[699].parts[2:])])[0], atol=1e-6)


def test_nothing_gives_nothing():
    whole, runs = embed_with_runs(StaticEmbedder(), [])

    assert whole.shape == runs.shape == (0, 256)


def test_an_embedder_opened_later_takes_the_one_pass_too():
    cut = [cut_sentences(TEXTS[3])]

    np.testing.assert_allclose(embed_with_runs(LazyEmbedder("static"), cut)[1], embed_with_runs(_Plain(), cut)[1], 1e-4)


@pytest.mark.parametrize("text", [*TEXTS, "x" * 30_000, "emoji 🦕🦖 and \ud800 half a pair"])
def test_counting_many_texts_at_once_counts_each_as_alone(text: str):
    assert count_tokens_of(["before", text, "after it"]) == [1, count_tokens(text), 2]
