"""Searches of the kind people type, on the sample archive: is the conversation that they mean first, or in three?

The targets were chosen from the archive's titles, and the searches written, before any of them was run: words, things
copied, another language than the conversation's, what one half remembers, wrong spellings.

python -m benchmarks.typed [--mode quality]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.asking import Outcome, ask
from benchmarks.datasets import typed_set
from benchmarks.prepared import Prepared, cache_folder
from benchmarks.tables import table


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.typed", description="Measures typed searches.")
    parser.add_argument("--mode", choices=("instant", "quality"), default="instant")
    print(report(outcomes(parser.parse_args(arguments).mode)))
    return 0


def outcomes(mode: str) -> list[Outcome]:
    """All searches in one mode."""
    data = typed_set()
    prepared = Prepared(data, cache_folder())
    if mode == "quality":
        prepared.make_quality()
    return list(ask(data, prepared, mode, str))


def report(searched: Sequence[Outcome]) -> str:
    """How many come first and in three, by kind and in all, and which do not."""
    kinds = dict.fromkeys(outcome.category for outcome in searched)
    rows = [_row(kind, [outcome for outcome in searched if outcome.category == kind]) for kind in kinds]
    missed = [f"- {o.question} ({o.session or 'not in ten'})" for o in searched if not o.session_hit(3)]
    below = ["Not in three (rank):", "\n".join(missed)] if missed else []
    return "\n\n".join([table(["typed", "searches", "first", "in three"], [*rows, _row("all", searched)]), *below])


def _row(name: str, of: Sequence[Outcome]) -> list[str]:
    first, three = (sum(outcome.session_hit(k) for outcome in of) for k in (1, 3))
    return [name, str(len(of)), f"{first:.0f}", f"{three:.0f}"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
