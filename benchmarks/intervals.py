"""How sure a figure is: percentile bootstrap over questions, for a mean and for a difference of two systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_DRAWS, _PAIR_DRAWS, _SEED = 4_000, 1_000, 16


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the bounds that hold 95 % of its bootstrap draws."""

    mean: float
    low: float
    high: float

    @property
    def is_proven(self) -> bool:
        """Whether a difference lies on one side of zero."""
        return self.low > 0 or self.high < 0


def mean_with_bounds(values: Sequence[float] | NDArray[np.float64]) -> Interval:
    """The mean of a value a question. Give it differences for a paired comparison."""
    drawn = np.asarray(values, np.float64)
    if not len(drawn):
        return Interval(0.0, 0.0, 0.0)
    low, high = np.percentile(_means(drawn), (2.5, 97.5))
    return Interval(float(drawn.mean()), float(low), float(high))


def mean_of_groups(groups: Sequence[Sequence[float]]) -> Interval:
    """The mean of the groups' means, each group worth the same; questions are drawn within their group."""
    drawn = [np.asarray(group, np.float64) for group in groups if len(group)]
    if not drawn:
        return Interval(0.0, 0.0, 0.0)
    low, high = np.percentile(np.mean([_means(group) for group in drawn], axis=0), (2.5, 97.5))
    return Interval(float(np.mean([group.mean() for group in drawn])), float(low), float(high))


def _means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each draw. The same seed for all, so that a figure does not move between two runs."""
    count = len(values)
    weights = np.random.default_rng(_SEED).multinomial(count, np.full(count, 1 / count), size=_DRAWS)
    means: NDArray[np.float64] = weights @ values / count
    return means


def auroc(present: Sequence[float], absent: Sequence[float]) -> float:
    """How often one of the first is greater than one of the second; a tie counts half."""
    return float(_beats(present, absent).mean()) if len(present) and len(absent) else 0.0


def auroc_of_groups(groups: Sequence[tuple[Sequence[float], Sequence[float]]]) -> Interval:
    """The mean of the groups' AUROC, each worth the same; of both classes questions are drawn within their group."""
    groups = [group for group in groups if len(group[0]) and len(group[1])]
    if not groups:
        return Interval(0.0, 0.0, 0.0)
    beats = [_beats(*group) for group in groups]
    drawn = np.mean([_aurocs(matrix) for matrix in beats], axis=0)
    low, high = np.percentile(drawn, (2.5, 97.5))
    return Interval(float(np.mean([matrix.mean() for matrix in beats])), float(low), float(high))


def _beats(present: Sequence[float], absent: Sequence[float]) -> NDArray[np.float64]:
    """1 where one of the first (rows) is greater than one of the second (columns), 1/2 where they are equal."""
    difference = np.asarray(present, np.float64)[:, None] - np.asarray(absent, np.float64)[None, :]
    return np.asarray((np.sign(difference) + 1) / 2)


def _aurocs(beats: NDArray[np.float64]) -> NDArray[np.float64]:
    """The AUROC of each draw."""
    chance = np.random.default_rng(_SEED)
    rows, columns = (chance.multinomial(n, np.full(n, 1 / n), size=_PAIR_DRAWS) / n for n in beats.shape)
    drawn: NDArray[np.float64] = np.einsum("dc,dc->d", rows @ beats, columns)
    return drawn
