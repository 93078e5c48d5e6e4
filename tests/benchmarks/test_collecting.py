from __future__ import annotations

import numpy as np
import pytest

from benchmarks.asking import ask
from benchmarks.collecting import collect
from benchmarks.datasets import scripts_set
from benchmarks.prepared import Prepared
from recollect.search.scoring import TERMS
from recollect.search.weights import INSTANT


def test_candidates_come_with_the_features_and_the_order_of_the_product(tmp_path_factory: pytest.TempPathFactory):
    data = scripts_set().head(histories=1, questions=12)
    prepared = Prepared(data, tmp_path_factory.mktemp("cache"))
    weights = np.array([INSTANT.get(term.name, 0.0) for term in TERMS])

    asked = list(collect(data, prepared, "instant"))
    outcomes = list(ask(data, prepared, "instant", str, sessions=False))

    assert all(question.features.shape[1] == len(TERMS) for question in asked)
    assert [question.hit(weights) for question in asked] == [outcome.hit(5) for outcome in outcomes]
    assert [question.hit(weights, k=1) for question in asked] == [outcome.hit(1) for outcome in outcomes]
