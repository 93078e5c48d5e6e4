"""The product's instant mode on questions as they are, after an opening, and as five keywords.

python -m benchmarks.reworded
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence

from benchmarks.asking import Outcome, ask
from benchmarks.datasets import ALL_NAMES, SCRIPTS, TYPED, DataSet, sets_named
from benchmarks.intervals import mean_with_bounds
from benchmarks.prepared import Prepared, cache_folder
from benchmarks.tables import table
from benchmarks.wordings import OPENING, keywords, with_opening

_FORMS: dict[str, Callable[[str], str]] = {"as asked": str, f'"{OPENING}…"': with_opening, "five keywords": keywords}


def measure(sets: Iterable[DataSet]) -> dict[str, list[list[Outcome]]]:
    """The outcomes of each set, form by form. Sets of typed searches are left out."""
    asked = {}
    for data in sets:
        if data.name not in (TYPED, SCRIPTS):
            prepared = Prepared(data, cache_folder())
            asked[data.name] = [list(ask(data, prepared, "instant", form, sessions=False)) for form in _FORMS.values()]
    return asked


def report(asked: dict[str, list[list[Outcome]]]) -> str:
    """H@5 of each form, with the paired difference to the question as it is."""
    rows = [[name, *_cells(forms)] for name, forms in asked.items()]
    return table(["H@5 of messages", *_FORMS], rows)


def _cells(forms: Sequence[Sequence[Outcome]]) -> Iterable[str]:
    first = [100 * outcome.hit(5) for outcome in forms[0]]
    yield f"{sum(first) / (len(first) or 1):.1f}"
    for form in forms[1:]:
        values = [100 * outcome.hit(5) for outcome in form]
        away = mean_with_bounds([new - old for new, old in zip(values, first, strict=True)])
        yield f"{sum(values) / (len(values) or 1):.1f} ({away.mean:+.1f} [{away.low:.1f}, {away.high:.1f}])"


if __name__ == "__main__":
    print(report(measure(sets_named(ALL_NAMES)[0])))
    sys.exit(0)
