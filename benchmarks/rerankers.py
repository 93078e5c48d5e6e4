"""How much a re-ranker's word should weigh: tried with simulated ones of known quality.

A simulated re-ranker says d + noise of a message that answers and noise of any other, with noise from a standard normal
distribution; d says how well it tells them apart (the area under its curve). Its errors have nothing to do with ours,
which favours it. No model is needed, and none is flattered.

python -m benchmarks.rerankers --sets beam-dev,sample --mode instant
"""

from __future__ import annotations

import argparse
import sys
from math import erf
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import PUBLIC, DataSet, sets_named
from benchmarks.prepared import Prepared, cache_folder
from benchmarks.tables import table
from recollect.search.weights import RERANK_POOL, RERANKED

_QUALITIES = (0.7, 1.2, 1.8, 2.5, 3.5)
_WEIGHTS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 8.0, 100.0)
_DRAWS = 5
_DEPTH = 5

#: The scores (n,) of the messages found for a question, and which of them answer it.
Pool = tuple[NDArray[np.float64], NDArray[np.bool_]]


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    sets, notes = sets_named(options.sets.split(","), options.data)
    for line in notes:
        print(line, file=sys.stderr)
    for data in sets:
        pools = list(_pools(data, options.mode))
        rows = [
            [f"{(1 + erf(d / 2)) / 2:.2f}", *(f"{100 * share(pools, d, weight):.1f}" for weight in _WEIGHTS)]
            for d in _QUALITIES
        ]
        head = ["its area under the curve", *(f"{weight:g}" for weight in _WEIGHTS)]
        print(
            f"\n{data.name}, {options.mode}: H@{_DEPTH} by weight (in use: {RERANKED})\n{table(head, rows)}", flush=True
        )
    return 0


def share(pools: list[Pool], d: float, weight: float) -> float:
    """How often an answering message is among the first with a simulated re-ranker of that weight."""
    noise = np.random.default_rng(0)
    found = []
    for _ in range(_DRAWS):
        for scores, answers in pools:
            said = d * answers + noise.standard_normal(len(scores))
            order = np.argsort(-(scores + weight * (said - said.mean()) / (said.std() + 1e-6)), kind="stable")
            found.append(answers[order[:_DEPTH]].any())
    return float(np.mean(found))


def _pools(data: DataSet, mode: str) -> list[Pool]:
    prepared, pools = Prepared(data, cache_folder()), []
    if mode == "quality":
        prepared.make_quality()
    for history in data.histories:
        with prepared.memory(history) as memory:
            for question in history.questions:
                found = memory.search(question.text, group_by="message", limit=RERANK_POOL, mode=mode)
                if len(found) > 1:
                    ids = [hit.best.message.source_id for hit in found]
                    answers = np.array([name in question.evidence for name in ids])
                    pools.append((np.array([hit.score for hit in found]), answers))
    return pools


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="sample,beam-dev")
    parser.add_argument("--data", type=Path, default=PUBLIC)
    parser.add_argument("--mode", choices=("instant", "quality"), default="instant")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
