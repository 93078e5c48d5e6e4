"""Does the memory know when it does not hold an answer? `SearchResults.likelihood` of questions with and without one.

Two kinds without one (absent.py): *easy*, what was asked of other archives, and *honest*, what was asked of this one,
with all conversations that answer it deleted from a copy. Printed are the AUROC per set and on average, with bounds,
and what the thresholds of `ask` and of "nothing close" do.

With --fit weights are fitted on all sets, and each set is judged by those fitted on the others: the figures that may be
expected of conversations that nobody has seen. Sets in two languages of the same conversations are left out together.

python -m benchmarks.unanswered [--sets sample,locomo-dev] [--data FOLDER] [--mode quality] [--fit]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.absent import CASES, EASY, HERE, HONEST, put
from benchmarks.datasets import ALL_NAMES, PUBLIC, PUBLIC_NAMES, SAMPLE_NAME, DataSet, sets_named
from benchmarks.intervals import auroc, auroc_of_groups
from benchmarks.prepared import Prepared, cache_folder
from benchmarks.tables import table
from recollect.models.embedding.static import StaticEmbedder
from recollect.search.known import Signs
from recollect.search.query.asking import ask
from recollect.search.query.request import Search, parse_query
from recollect.search.ranking import rank
from recollect.search.weights import KNOWN
from recollect.store.passages import Filter, Partition

_NAMES = (SAMPLE_NAME, *(name for name in PUBLIC_NAMES if name != "lifebench-zh-dev"))
_TODAY = date(2026, 11, 1)  # "last week" shall mean the same tomorrow
_PULL, _STEPS = 0.03, 8
#: How much the honest questions count of those without an answer, when weights are fitted.
_HONEST = 0.4


@dataclass(frozen=True, slots=True)
class Judged:
    """A question in one of the cases: what the product says of it, and by which signs (None: nothing was found)."""

    case: str
    signs: Signs | None
    close: bool
    likelihood: float


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    names = options.sets or (_NAMES if options.data == PUBLIC else sorted(p.stem for p in options.data.glob("*.json")))
    sets, notes = sets_named(names, options.data)
    for line in notes:
        _say(line)
    others, _ = sets_named([name for name in _NAMES if name != SAMPLE_NAME], options.data)
    judged = {}
    for data in sets:
        began = time.monotonic()
        judged[data.name] = judge(data, others, options.mode)
        _say(f"{data.name}: {len(judged[data.name])} questions in {time.monotonic() - began:.0f} s")
    print(report(judged))
    if options.fit:
        print("\n" + fitted(judged))
    return 0


def judge(data: DataSet, others: Sequence[DataSet], mode: str) -> list[Judged]:
    """Every question of a set in every case."""
    prepared, embedder = Prepared(data, cache_folder()), StaticEmbedder()
    if mode == "quality":
        prepared.make_quality()
    found = []
    for one in put(data, prepared, others):
        search = Search(parse_query(one.question.text), Filter(), group_by="message", mode=mode)
        asked = ask(one.view, search, embedder, prepared.model, _TODAY)
        ranking = rank(one.view, asked, Partition.SAID, prepared.model)
        found.append(Judged(one.case, ranking.signs, ranking.close, ranking.likelihood))
    return found


def report(judged: Mapping[str, Sequence[Judged]]) -> str:
    """AUROC of both makes per set and on average, and what the thresholds let through."""
    rows = [_row(name, [of]) for name, of in judged.items()]
    head = ["set", "questions", *(f"AUROC, {case}" for case in (EASY, HONEST))]
    head += [f"known ({KNOWN}), {case}" for case in CASES] + [f"not close, {case}" for case in CASES]
    return table([*head], [*rows, _row("mean", list(judged.values()))])


def fitted(judged: Mapping[str, Sequence[Judged]]) -> str:
    """AUROC of each set with weights fitted on the others, and the weights that are fitted on all."""
    rows, groups = [], defaultdict(list)
    for name, of in judged.items():
        others = [other for key, other in judged.items() if _family(key) != _family(name)]
        if not others:
            return "Name two sets at least, to fit on one and judge on the other."
        weights = _fit(others)
        values = {case: [_logit(one, weights) for one in of if one.case == case] for case in CASES}
        cells = [name]
        for case in (EASY, HONEST):
            groups[case].append((values[HERE], values[case]))
            cells.append(f"{100 * auroc(values[HERE], values[case]):.1f}")
        rows.append(cells)
    rows.append(["mean", *(_interval(groups[case]) for case in (EASY, HONEST))])
    every = ", ".join(f"{name} {value:.2f}" for name, value in _fit(list(judged.values())).items())
    return table(["left out", f"AUROC, {EASY}", f"AUROC, {HONEST}"], rows) + f"\n\nFitted on all: {every}"


def _fit(sets: Sequence[Sequence[Judged]]) -> dict[str, float]:
    """Weights of a logistic model, each set counting the same, by Newton's method, pulled to zero. A question in a
    script that the quality mode cannot read lacks the signs of this mode, and teaches nothing.
    """
    names = list(max((one.signs for of in sets for one in of if one.signs), key=len))
    rows, right, worth = [], [], []
    share = {HERE: 1.0, EASY: 1 - _HONEST, HONEST: _HONEST}
    for of in sets:
        whole = [(one.case, one.signs) for one in of if one.signs is not None and len(one.signs) == len(names)]
        counts = Counter(case for case, _ in whole)
        for case, found in whole:
            rows.append([found[name] for name in names])
            right.append(case == HERE)
            worth.append(share[case] / counts[case] / len(sets) / 2)
    signs, answers, each = np.array(rows), np.array(right, float), np.array(worth)
    mean, deviation = signs.mean(axis=0), signs.std(axis=0) + 1e-9
    columns = np.column_stack([(signs - mean) / deviation, np.ones(len(signs))])
    weights, pull = np.zeros(columns.shape[1]), np.full(columns.shape[1], 2 * _PULL)
    pull[-1] = 1e-9
    for _ in range(_STEPS):
        guess = 1 / (1 + np.exp(-columns @ weights))
        slope = columns.T @ (each * (guess - answers)) + pull * weights
        curve = (columns * (each * guess * (1 - guess))[:, None]).T @ columns + np.diag(pull)
        weights = weights - np.linalg.solve(curve, slope)
    own: NDArray[np.float64] = weights[:-1] / deviation
    constant = weights[-1] - float(own @ mean)
    return {**{name: float(value) for name, value in zip(names, own, strict=True)}, "constant": float(constant)}


def _logit(one: Judged, weights: Mapping[str, float]) -> float:
    if one.signs is None or not weights.keys() <= one.signs.keys() | {"constant"}:
        return float(np.log(max(one.likelihood, 1e-9) / max(1 - one.likelihood, 1e-9)))
    return weights["constant"] + sum(weights[name] * value for name, value in one.signs.items())


def _row(name: str, sets: Sequence[Sequence[Judged]]) -> list[str]:
    by_case = {case: [[one for one in of if one.case == case] for of in sets] for case in CASES}
    cells = [name, str(sum(len(of) for of in by_case[HERE]))]
    for case in (EASY, HONEST):
        pairs = zip(by_case[HERE], by_case[case], strict=True)
        cells.append(_interval([([o.likelihood for o in a], [o.likelihood for o in b]) for a, b in pairs]))
    cells += [_share([o.likelihood >= KNOWN for o in of] for of in by_case[case]) for case in CASES]
    return cells + [_share([not o.close for o in of] for of in by_case[case]) for case in CASES]


def _interval(groups: Sequence[tuple[Sequence[float], Sequence[float]]]) -> str:
    found = auroc_of_groups(groups)
    return f"{100 * found.mean:.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def _share(groups: Iterable[Sequence[bool]]) -> str:
    means = [100 * sum(of) / len(of) for of in groups if of]
    return f"{sum(means) / (len(means) or 1):.0f} %"


def _family(name: str) -> str:
    return name.partition("-")[0]


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.unanswered", description="Measures what is not in the history.")
    parser.add_argument("--sets", type=lambda text: text.split(","), help=f"with commas, of {', '.join(ALL_NAMES)}")
    parser.add_argument("--data", type=Path, default=PUBLIC, help="a folder with sets of the same form")
    parser.add_argument("--mode", choices=("instant", "quality"), default="instant")
    parser.add_argument("--fit", action="store_true", help="fit weights, and judge each set by the others")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
