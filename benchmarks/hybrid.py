"""Baselines that get what the product gets: its words, its stemmer and its static vectors, but no relations.

BM25 over our own terms, and the hybrid of two lines that one tries next: z(BM25) + z(cosine), with or without the
conversation's title before each message.

python -m benchmarks.hybrid     tries k1 and b over all sets that are here
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import ALL_NAMES, PUBLIC_NAMES, DataSet, History, sets_named
from benchmarks.metrics import found
from benchmarks.tables import table
from recollect.models.embedding.static import StaticEmbedder
from recollect.text.terms import terms

Array = NDArray[np.float64]

#: The best on the mean of the sets, of the grid below (`python -m benchmarks.hybrid`).
K1, B = 0.9, 1.0
_K1S, _BS = (0.5, 0.9, 1.2, 2.0, 3.0), (0.2, 0.4, 0.6, 0.75, 1.0)
_MATCHES = 500  # messages of a ranking: enough for ten sessions


class Words:
    """BM25 over the index terms of texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(terms(text)) for text in texts]
        lengths = np.array([sum(count.values()) for count in counts], np.float64)
        self._postings: dict[str, tuple[list[int], list[int]]] = {}
        for number, count in enumerate(counts):
            for term, often in count.items():
                numbers, frequencies = self._postings.setdefault(term, ([], []))
                numbers.append(number)
                frequencies.append(often)
        self._share = lengths / (lengths.mean() or 1)

    def scores(self, question: str, k1: float = K1, b: float = B) -> Array:
        """One a text; each term of the question counts once."""
        scores = np.zeros(len(self._share))
        for term in set(terms(question)):
            if term in self._postings:
                numbers, frequencies = (np.array(column) for column in self._postings[term])
                idf = np.log1p((len(scores) - len(numbers) + 0.5) / (len(numbers) + 0.5))
                worn = frequencies + k1 * (1 - b + b * self._share[numbers])
                scores[numbers] += idf * frequencies * (k1 + 1) / worn
        return scores


class OwnBM25:
    """BM25 at its best: our terms, stop words out, k1 and b tuned."""

    def __init__(self, history: History) -> None:
        self._ids = [message.id for message in history.messages]
        self._words = Words([message.line for message in history.messages])

    def __call__(self, question: str, k1: float = K1, b: float = B) -> list[str]:
        """The ids of messages with a word of the question, best first."""
        scores = self._words.scores(question, k1, b)
        return [self._ids[i] for i in _best(scores) if scores[i] > 0]


class Hybrid:
    """z(BM25) + z(cosine of the static vectors)."""

    def __init__(self, history: History, *, titles: bool) -> None:
        said = [(session.title, message) for session in history.sessions for message in session.messages]
        texts = [f"{title}\n{message.line}" if titles else message.line for title, message in said]
        self._ids = [message.id for _, message in said]
        self._words, self._vectors = Words(texts), _static().embed(texts)

    def __call__(self, question: str) -> list[str]:
        """The ids of messages, best first."""
        likeness = self._vectors @ _static().embed([question])[0]
        return [self._ids[i] for i in _best(_z(self._words.scores(question)) + _z(likeness.astype(np.float64)))]


def tuned(sets: Sequence[DataSet]) -> str:
    """H@5 of BM25 by k1 and b, the mean over sets, best first."""
    rows = []
    histories = [(data.name, [(h, OwnBM25(h)) for h in data.histories]) for data in sets]
    for k1 in _K1S:
        for b in _BS:
            shares = [_share(own, k1, b) for _, own in histories]
            rows.append((float(np.mean(shares)), k1, b, shares))
    best = sorted(rows, reverse=True)
    head = ["k1", "b", "mean of sets", *(name for name, _ in histories)]
    told = [[f"{k1}", f"{b}", f"{mean:.1f}", *(f"{s:.1f}" for s in each)] for mean, k1, b, each in best]
    tops = [f"{max(shares):.1f}" for shares in zip(*(each for *_, each in rows), strict=True)]
    return table(head, [*told, ["the best", "of each set", "", *tops]])


def _share(asked: Sequence[tuple[History, OwnBM25]], k1: float, b: float) -> float:
    hits = []
    for history, bm25 in asked:
        hits += [found(bm25(question.text, k1, b), question.evidence, 5) for question in history.questions]
    return 100 * float(np.mean(hits))


def _best(scores: Array) -> list[int]:
    return [int(i) for i in np.argsort(-scores, kind="stable")[:_MATCHES]]


def _z(values: Array) -> Array:
    return np.asarray((values - values.mean()) / (values.std() + 1e-9), np.float64)


@lru_cache(maxsize=1)
def _static() -> StaticEmbedder:
    return StaticEmbedder()


if __name__ == "__main__":
    alone, _ = sets_named([name for name in ALL_NAMES if name == "sample" or name in PUBLIC_NAMES])
    print(tuned(alone))
    sys.exit(0)
