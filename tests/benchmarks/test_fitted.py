from __future__ import annotations

import numpy as np
import pytest

from benchmarks.fitted import Setting, held_out, report
from benchmarks.listwise import Asked

pytestmark = pytest.mark.slow


def made(weights: list[float], questions: int, data: str, seed: int, origin: str = "") -> list[Asked]:
    """Questions whose evidence is what these weights rank first among forty."""
    chance = np.random.default_rng(seed)
    asked = []
    for _ in range(questions):
        features = chance.normal(size=(40, len(weights))).astype(np.float32)
        best = int(np.argmax(features @ np.array(weights) + 0.3 * chance.normal(size=40)))
        asked.append(Asked(data, origin or data, features, np.arange(40) == best, np.arange(40)))
    return asked


def setting(given: list[float], kept: list[bool], strength: float = 1e-3) -> Setting:
    return Setting(["words", "meaning", "noise"], np.array(given), np.array(kept), strength)


def test_weights_that_hold_elsewhere_are_found_on_a_set_that_was_left_out():
    asked = [*made([2, 1, 0], 150, "a", 1), *made([2, 1, 0], 150, "b", 2), *made([2, 1, 0], 150, "c", 3)]

    tried = held_out(asked, setting([0.1, 0.1, 1.0], [True] * 3), say=lambda _: None)
    told = report(asked, setting([0.1, 0.1, 1.0], [True] * 3), tried)

    assert [t.data for t in tried] == ["a", "b", "c"]
    assert all(t.from_zero.mean() > t.given.mean() + 20 for t in tried)
    assert "- Earns nothing: noise" in told


def test_a_term_that_one_set_alone_can_use_is_named():
    asked = [*made([2, 0, 0], 200, "a", 1), *made([2, 0, 0], 200, "b", 2), *made([1, 2, 0], 200, "c", 3)]
    two = setting([1, 0.7, 0], [True, True, False], strength=100.0)
    told = report(asked, two, held_out(asked, two, say=lambda _: None))

    assert "meaning (c)" in next(line for line in told.splitlines() if line.startswith("- Earns on one set only"))


def test_what_shares_an_origin_is_left_out_too():
    asked = [*made([1, 1, 1], 20, "a", 1), *made([1, 1, 1], 20, "mix", 2, origin="a"), *made([1, 1, 1], 20, "b", 3)]
    said: list[str] = []

    held_out(asked, setting([1, 1, 1], [True] * 3), say=said.append)

    assert said[0] == "a left out, fitted on 20 questions"


def test_terms_that_are_not_kept_have_no_weight():
    fitted = setting([1, 1, 1], [True, False, True]).fit(made([1, 1, 1], 50, "a", 1), from_zero=True)

    assert fitted[1] == 0
    assert fitted[0] > 0
