"""Proposes weights for the terms of the ranker from questions with known answers, and tells which terms earn nothing.

Each set is left out once: weights fitted on all others are tried on it, beside the weights in use. A set that is made
of several is left out together with them. What counts is the set left out; a gain on the sets in the fit is none.

python -m benchmarks.fit [--sets sample,locomo-dev] [--data FOLDER] [--mode quality] [--strength 0.01] [--terms a,b]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks.collecting import collect
from benchmarks.datasets import ALL_NAMES, PUBLIC, DataSet, sets_named
from benchmarks.fitted import Setting, held_out, report
from benchmarks.listwise import Asked
from benchmarks.prepared import Prepared, cache_folder
from recollect.search.scoring import TERMS
from recollect.search.weights import INSTANT, QUALITY

_GIVEN: Mapping[str, Mapping[str, float]] = {"instant": INSTANT, "quality": QUALITY}


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    names = options.sets or (
        ALL_NAMES if options.data == PUBLIC else sorted(p.stem for p in options.data.glob("*.json"))
    )
    sets, notes = sets_named(names, options.data)
    for line in notes:
        _say(line)
    if len({origin for data in sets for origin in _origins(data)}) < 2:
        _say("Fitting leaves out one set at a time: name at least two.")
        return 2
    asked = [question for data in sets for question in _collected(data, options.mode)]
    given = np.array([_GIVEN[options.mode].get(term.name, 0.0) for term in TERMS])
    kept = np.array([not options.terms or term.name in options.terms for term in TERMS])
    setting = Setting([term.name for term in TERMS], given, kept, options.strength)
    began = time.monotonic()
    tried = held_out(asked, setting, say=_say)
    print(report(asked, setting, tried))
    _say(f"{len(asked)} questions, fitted in {time.monotonic() - began:.0f} s")
    return 0


def _collected(data: DataSet, mode: str) -> list[Asked]:
    began = time.monotonic()
    prepared = Prepared(data, cache_folder())
    if mode == "quality":
        prepared.make_quality()
    asked = list(collect(data, prepared, mode))
    _say(f"{data.name}: {len(asked)} questions in {time.monotonic() - began:.0f} s")
    return asked


def _origins(data: DataSet) -> set[str]:
    return {question.origin for history in data.histories for question in history.questions}


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks.fit", description="Proposes weights, leaving out a set at a time."
    )
    known = [term.name for term in TERMS]
    parser.add_argument("--sets", type=_names, help=f"with commas between them, of {', '.join(ALL_NAMES)}; or all")
    parser.add_argument("--data", type=Path, default=PUBLIC, help="a folder with sets of the same form")
    parser.add_argument("--mode", choices=tuple(_GIVEN), default="instant")
    parser.add_argument("--strength", type=float, default=0.003, help="of the pull towards the given weights")
    parser.add_argument("--terms", type=_names, help=f"fit these alone, the others 0; of {', '.join(known)}")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.terms or () if name not in known]:
        parser.error(f"no such term: {', '.join(unknown)}")
    return options


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
