"""A re-ranker that knows is followed, one that knows nothing does no more harm than its weight."""

from __future__ import annotations

import numpy as np

from benchmarks.rerankers import Pool, share


def test_a_good_one_gains_and_a_bad_one_loses_by_its_weight() -> None:
    draws = np.random.default_rng(1)
    pools: list[Pool] = []
    for _ in range(60):
        answers = np.arange(32) == draws.integers(12)
        pools.append((np.sort(draws.standard_normal(32))[::-1].copy(), answers))
    alone = share(pools, 2.5, 0.0)
    assert share(pools, 2.5, 1.5) > alone
    assert share(pools, 0.0, 1.5) < alone
    assert share(pools, 0.0, 100.0) < share(pools, 0.0, 0.5)
