from __future__ import annotations

import numpy as np
import pytest

from benchmarks.listwise import Asked, Lists, minimised

CHANCE = np.random.default_rng(3)


def made(weights: list[float], questions: int, data: str = "s", noise: float = 0.0) -> list[Asked]:
    """Questions whose evidence is what these weights rank first."""
    asked = []
    for _ in range(questions):
        features = CHANCE.normal(size=(30, len(weights))).astype(np.float32)
        best = int(np.argmax(features @ np.array(weights) + noise * CHANCE.normal(size=30)))
        asked.append(Asked(data, data, features, np.arange(30) == best, np.arange(30)))
    return asked


def test_fitting_finds_which_features_matter_and_which_do_not():
    asked = made([2.0, -1.0, 0.0], 200, noise=0.5)

    fitted = Lists(asked).fit(np.zeros(3), 1e-4)

    assert fitted[0] / fitted[1] == pytest.approx(-2, rel=0.25)
    assert abs(fitted[2]) < 0.15 * fitted[0]
    assert np.mean([question.hit(fitted) for question in asked]) > 0.95


def test_a_strong_pull_keeps_the_given_weights():
    given = np.array([0.5, 0.5, 0.5])

    assert Lists(made([2.0, -1.0, 0.0], 50)).fit(given, 1e6) == pytest.approx(given, abs=1e-3)


def test_the_gradient_is_that_of_the_loss():
    lists, at = Lists(made([1.0, 0.5], 20)), np.array([0.3, -0.2])
    _, gradient = lists.loss(at)
    numeric = [(lists.loss(at + 1e-5 * e)[0] - lists.loss(at - 1e-5 * e)[0]) / 2e-5 for e in np.eye(2)]

    assert gradient == pytest.approx(np.array(numeric), abs=1e-6)


def test_sets_count_the_same_however_many_questions_they_have():
    big, small = made([1.0, 0.0], 300, "big"), made([0.0, 1.0], 30, "small")

    fitted = Lists([*big, *small]).fit(np.zeros(2), 1e-4)

    assert fitted[0] == pytest.approx(fitted[1], rel=0.5)


def test_a_message_of_several_passages_takes_one_place():
    features = np.array([[9.0], [8.0], [7.0]], np.float32)
    asked = Asked("s", "s", features, np.array([False, False, True]), np.array([4, 4, 5]))

    assert asked.hit(np.array([1.0]), k=2) == 1
    assert asked.hit(np.array([1.0]), k=1) == 0


def test_minimising_a_narrow_valley():
    def valley(x: np.ndarray) -> tuple[float, np.ndarray]:
        scaled = x * np.array([1.0, 100.0]) - 1
        return float(scaled @ scaled), 2 * scaled * np.array([1.0, 100.0])

    assert minimised(valley, np.zeros(2)) == pytest.approx(np.array([1.0, 0.01]), abs=1e-4)


def test_without_any_evidence_there_is_nothing_to_fit():
    with pytest.raises(ValueError, match="no question with evidence"):
        Lists([Asked("s", "s", np.zeros((2, 1), np.float32), np.zeros(2, bool), np.arange(2))])
