"""Weights of a linear scorer from questions with their candidates: softmax over each question's list, and what follows.

The loss of a question is -log of the share of softmax that its evidence has together (marginal over evidence), each set
counting the same however many questions it has. L2 draws the weights to given ones, each measured by the size of its
feature, so that a cosine's weight and a flag's are drawn alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_MEMORY, _STEPS, _ENOUGH = 8, 200, 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question with its candidates: features (n, k), which are evidence, and the message that each belongs to."""

    data: str
    origin: str
    features: NDArray[np.float32]  # best first, as the product ranked them
    evidence: NDArray[np.bool_]
    messages: NDArray[np.int64]

    def hit(self, weights: Array, k: int = 5) -> float:
        """1 where a message with evidence is among the first k."""
        if not self.evidence.any():
            return 0.0
        order = np.argsort(-(self.features @ weights), kind="stable")
        _, first = np.unique(self.messages[order], return_index=True)
        return float(self.evidence[order[np.sort(first)[:k]]].any())


class Lists:
    """Questions as one matrix, for fitting."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        """Questions without evidence among their candidates teach nothing and are left out. Raises ValueError."""
        known = [question for question in asked if question.evidence.any()]
        if not known:
            raise ValueError("There is no question with evidence among its candidates.")
        sizes = np.array([len(question.evidence) for question in known])
        self._features = np.concatenate([question.features for question in known]).astype(np.float64)
        self._starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self._list = np.repeat(np.arange(len(known)), sizes)
        self._evidence = np.concatenate([question.evidence for question in known])
        counts = Counter(question.data for question in known)
        self._weight = np.array([1 / counts[question.data] / len(counts) for question in known])
        used = np.maximum((self._features != 0).sum(axis=0), 1)
        self._size = np.sqrt((self._features**2).sum(axis=0) / used)

    def fit(self, towards: Array, strength: float, begin: Array | None = None) -> Array:
        """The weights of least loss."""

        def penalised(weights: Array) -> tuple[float, Array]:
            loss, gradient = self.loss(weights)
            away = (weights - towards) * self._size
            return loss + strength * float(away @ away), gradient + 2 * strength * away * self._size

        return minimised(penalised, towards if begin is None else begin)

    def loss(self, weights: Array) -> tuple[float, Array]:
        """The mean loss over sets, and its gradient."""
        scores = self._features @ weights
        every, share = self._softmax(scores)
        right, right_share = self._softmax(np.where(self._evidence, scores, -np.inf))
        pull = (share - right_share) * self._weight[self._list]
        return float(self._weight @ (every - right)), self._features.T @ pull

    def _softmax(self, scores: Array) -> tuple[Array, Array]:
        """Log of the sum of exponentials a list, and each candidate's share in its list."""
        most = np.maximum.reduceat(scores, self._starts)
        grown = np.exp(scores - most[self._list])
        total = np.add.reduceat(grown, self._starts)
        return most + np.log(total), grown / total[self._list]


def minimised(function: Callable[[Array], tuple[float, Array]], begin: Array) -> Array:
    """The minimum of a smooth convex function with its gradient: L-BFGS with halved steps (Nocedal and Wright 7.2)."""
    at = begin.astype(np.float64)
    value, gradient = function(at)
    steps: list[tuple[Array, Array]] = []
    for _ in range(_STEPS):
        if np.abs(gradient).max(initial=0) < _ENOUGH:
            break
        direction = -_inverse_hessian(steps, gradient)
        length, slope = 1.0, float(gradient @ direction)
        while True:
            new = at + length * direction
            new_value, new_gradient = function(new)
            if new_value <= value + 1e-4 * length * slope or length < 1e-8:
                break
            length /= 2
        step, change = new - at, new_gradient - gradient
        if float(step @ change) > 1e-12:
            steps = [*steps[-_MEMORY + 1 :], (step, change)]
        done = value - new_value < 1e-9 * max(1.0, abs(value))
        at, value, gradient = new, new_value, new_gradient
        if done:
            break
    return at


def _inverse_hessian(steps: Sequence[tuple[Array, Array]], gradient: Array) -> Array:
    """The gradient, scaled by what the last steps tell of the curvature."""
    direction, taken = gradient.copy(), []
    for step, change in reversed(steps):
        share = float(step @ direction) / float(step @ change)
        taken.append(share)
        direction -= share * change
    if steps:
        step, change = steps[-1]
        direction *= float(step @ change) / float(change @ change)
    for (step, change), share in zip(steps, reversed(taken), strict=True):
        direction += step * (share - float(change @ direction) / float(step @ change))
    return direction
