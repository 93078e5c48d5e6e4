"""How good a ranking is: recall@k and nDCG@10, for one question and for many."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

#: recall@k is counted for these k.
CUTS = (1, 5, 10)
DEPTH = 10


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over questions, in percent."""

    questions: int
    recall: dict[int, float]  # k to the share of questions with evidence among the first k
    ndcg: float

    def to_json(self) -> dict[str, float]:
        """Rounded, under the names that the tables show."""
        named = {f"recall@{k}": round(value, 1) for k, value in self.recall.items()}
        return {"questions": self.questions, **named, f"ndcg@{DEPTH}": round(self.ndcg, 1)}


def found(ranking: Sequence[str], evidence: Collection[str], k: int) -> bool:
    """Whether a piece of evidence is among the first k."""
    return any(item in evidence for item in ranking[:k])


def ndcg(ranking: Sequence[str], evidence: Collection[str], k: int = DEPTH) -> float:
    """Normalised discounted cumulative gain of the first k, each piece of evidence worth 1; from 0 to 1."""
    gain = sum(1 / math.log2(place + 2) for place, item in enumerate(ranking[:k]) if item in evidence)
    best = sum(1 / math.log2(place + 2) for place in range(min(k, len(evidence))))
    return gain / best if best else 0.0


def figures(asked: Iterable[tuple[Sequence[str], Collection[str]]]) -> Figures:
    """The means over pairs of a ranking and its evidence. Rankings hold each item once."""
    pairs = list(asked)
    count = len(pairs) or 1
    recall = {k: 100 * sum(found(ranking, evidence, k) for ranking, evidence in pairs) / count for k in CUTS}
    return Figures(len(pairs), recall, 100 * sum(ndcg(ranking, evidence) for ranking, evidence in pairs) / count)


def first_seen(items: Iterable[str]) -> list[str]:
    """The items in order, each where it stands first."""
    return list(dict.fromkeys(items))
