"""The best passages put in a new order by a re-ranker, which reads question and passage together.

Its word is one more term of the score: a cross-encoder knows nothing of who spoke, when, and what stands around a
message. It is standardised over what it was shown, so that its scale does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from recollect.errors import ModelError
from recollect.models.rerank import Reranker
from recollect.search.query.asking import Asked
from recollect.search.ranking import Ranked, Ranking
from recollect.search.results.snippet import densest
from recollect.search.scoring import pool_z
from recollect.search.weights import RERANK_POOL, RERANKED
from recollect.store import View
from recollect.store.passages import Float

_LONGEST = 1_200  # characters of a passage that it is shown
_BEFORE = 300  # of them before the words of the question
_LARGE = 1e15  # of a score: squares of larger ones are too large for a float of 32 bits


class DiscreetReranker:
    """A re-ranker that is shown no secrets, nor a part of one at the edge of a passage. Thread-safe."""

    def __init__(self, reranker: Reranker, mask: Callable[[Sequence[str]], Sequence[str]]) -> None:
        self._reranker, self._mask = reranker, mask
        self.name = reranker.name

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """As the re-ranker does. Raises ModelError."""
        return self._reranker.score(question, self._mask(texts))


def reranks(asked: Asked) -> bool:
    """Whether a search is one that a re-ranker can better: not by date, not literal, not the instant mode; and not a
    further one beside that for the question itself, for it would be asked about the same messages again.
    """
    search = asked.search
    if search.like or search.wording:
        return False
    return search.mode != "instant" and search.sort != "newest" and not search.query.literal


def reranked(
    view: View, asked: Asked, reranker: Reranker, rankings: Sequence[Ranking]
) -> tuple[list[Ranking], str | None]:
    """The rankings with the best of each in the order that it gives them; as they were, and a note why, where it fails.

    It is asked once for all of them.
    """
    pools = [_best(ranking.passages) for ranking in rankings]
    texts = {t.number: t.text for t in view.passages([entry.passage for pool in pools for entry in pool])}
    shown = [[entry for entry in pool if entry.passage in texts] for pool in pools]
    read = [
        _cut(texts[entry.passage], ranking.words, asked)
        for ranking, pool in zip(rankings, shown, strict=True)
        for entry in pool
    ]
    if len(read) < 2:
        return list(rankings), None
    try:
        scores = _scores(reranker, asked.question.text, read)
    except ModelError as problem:
        return list(rankings), f"Not re-ranked: {problem}"
    parts = np.split(scores, np.cumsum([len(pool) for pool in shown])[:-1])
    return [_joined(*each) for each in zip(rankings, shown, parts, strict=True)], None


def _scores(reranker: Reranker, question: str, texts: Sequence[str]) -> Float:
    """One finite number for each text. Raises ModelError: one that is none would leave no result in its place."""
    try:
        scores = np.asarray(reranker.score(question, texts), np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError("The re-ranker returned no numbers.") from error
    if scores.shape != (len(texts),):
        raise ModelError("The re-ranker returned another number of scores than there are texts.")
    if not np.isfinite(scores).all():
        raise ModelError("The re-ranker returned scores that are not valid numbers.")
    largest = np.abs(scores).max()
    return np.asarray(scores / largest if largest > _LARGE else scores, np.float32)


def _best(passages: Sequence[Ranked]) -> list[Ranked]:
    """The best passage of each of the best messages."""
    best: dict[int, Ranked] = {}
    for entry in passages:
        if len(best) == RERANK_POOL:
            break
        best.setdefault(entry.message or -entry.passage, entry)
    return list(best.values())


def _joined(ranking: Ranking, shown: Sequence[Ranked], scores: Float) -> Ranking:
    if len(shown) < 2:
        return ranking
    added = {e.passage: float(value) for e, value in zip(shown, RERANKED * pool_z(scores), strict=True)}
    top = sorted((replace(e, reranked=added[e.passage]) for e in shown), key=lambda entry: -entry.score)
    rest = [entry for entry in ranking.passages if entry.passage not in added]
    if rest:  # what it has not read comes after what it has
        shift = min(top[-1].score - rest[0].score, 0.0)
        rest = [replace(entry, shift=entry.shift + shift) for entry in rest]
    return replace(ranking, passages=[*top, *rest])


def _cut(text: str, words: Sequence[str], asked: Asked) -> str:
    """Of a long passage the part where the words of the question stand."""
    if len(text) <= _LONGEST:
        return text
    start = max(0, min(densest(text, words, asked.phrases) - _BEFORE, len(text) - _LONGEST))
    return text[start : start + _LONGEST]
