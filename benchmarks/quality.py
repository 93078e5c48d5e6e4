"""Retrieval quality of the product alone, in seconds once the sets are prepared: for whoever works on the ranker.

python -m benchmarks.quality --sets mix,lifebench-zh-dev --mode instant --against before.json --save after.json
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from benchmarks.asking import Outcome, ask, load, save
from benchmarks.datasets import ALL_NAMES, PUBLIC, sets_named
from benchmarks.intervals import Interval, mean_of_groups, mean_with_bounds
from benchmarks.prepared import Prepared, cache_folder
from benchmarks.tables import table
from benchmarks.wordings import OPENING, keywords, with_opening

#: What is told of each question, by the column's name.
_MEASURES: dict[str, Callable[[Outcome], float]] = {
    "H@1": lambda outcome: outcome.hit(1),
    "H@5": lambda outcome: outcome.hit(5),
    "H@10": lambda outcome: outcome.hit(10),
    "MRR": lambda outcome: outcome.reciprocal,
    "session H@1": lambda outcome: outcome.session_hit(1),
    "H@3": lambda outcome: outcome.session_hit(3),
    "H@5 ": lambda outcome: outcome.session_hit(5),
}
_OF_MESSAGES = ("H@1", "H@5", "H@10", "MRR")
_BOUNDED = "H@5"  # the one that is shown with its interval
T = TypeVar("T")
_SLOWEST = ("p50", 50), ("p95", 95)


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    sets, notes = sets_named(options.sets or _all_in(options.data), options.data)
    for line in notes:
        print(line, file=sys.stderr)
    before = load(options.against) if options.against else {}
    asked = {}
    for data in sets:
        began = time.monotonic()
        arranged = data.joined() if options.together else data
        prepared = Prepared(arranged, cache_folder(), fresh=options.fresh)
        if options.mode == "quality":
            prepared.make_quality()
        ready = time.monotonic()
        outcomes = list(ask(arranged, prepared, options.mode, options.wording, sessions=not options.messages_only))
        asked[data.name] = outcomes
        taken = f"{ready - began:.0f} s prepared, {time.monotonic() - ready:.0f} s asked"
        print(f"{data.name}: {len(outcomes)} questions, {taken}", file=sys.stderr, flush=True)
    print(report(asked, before, by=options.by))
    if options.save:
        save(options.save, asked)
    return 0


def report(
    asked: Mapping[str, Sequence[Outcome]], before: Mapping[str, Sequence[Outcome]], *, by: str | None = None
) -> str:
    """The table of all sets and parts of sets, and where there is something to compare with a table of differences."""
    measures = _measures(asked)
    parts = [table(["set", "questions", *_columns(measures), *(name for name, _ in _SLOWEST)], _rows(asked, by))]
    pairs = {name: paired(outcomes, before[name]) for name, outcomes in asked.items() if name in before}
    if any(pairs.values()):
        parts.append(table(["difference", "questions", *measures, "H@5 gained", "lost"], _differences(pairs, by)))
    return "\n\n".join(parts)


def paired(new: Sequence[Outcome], old: Sequence[Outcome]) -> list[tuple[Outcome, Outcome]]:
    """Outcomes of the same questions, new and old, those that both have asked."""
    known: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in reversed(old):
        known.setdefault((outcome.question, outcome.category), []).append(outcome)
    return [(n, known[key].pop()) for n in new if known.get(key := (n.question, n.category))]


def _rows(asked: Mapping[str, Sequence[Outcome]], by: str | None) -> Iterator[list[str]]:
    for name, part in _parts(asked, by, lambda outcome: outcome):
        milliseconds = [outcome.milliseconds for outcome in part]
        figures = []
        for column, of in _measures(asked).items():
            values = mean_with_bounds([100 * of(outcome) for outcome in part])
            bounds = f" [{values.low:.0f}-{values.high:.0f}]" if column == _BOUNDED else ""
            figures.append(f"{values.mean:.1f}{bounds}")
        slow = [f"{np.percentile(milliseconds, share):.0f} ms" for _, share in _SLOWEST]
        yield [name, str(len(part)), *figures, *slow]
    if len(asked) > 1:
        means = [
            mean_of_groups([[100 * of(o) for o in part] for part in asked.values()]) for of in _measures(asked).values()
        ]
        yield ["mean of sets", "", *(f"{mean.mean:.1f}" for mean in means), "", ""]


def _differences(pairs: Mapping[str, Sequence[tuple[Outcome, Outcome]]], by: str | None) -> Iterator[list[str]]:
    measures = _measures({name: [new for new, _ in part] for name, part in pairs.items()})
    for name, part in _parts(pairs, by, lambda pair: pair[0]):
        told = [_told(mean_with_bounds([100 * (of(n) - of(o)) for n, o in part])) for of in measures.values()]
        gained = sum(n.hit(5) > o.hit(5) for n, o in part)
        lost = sum(n.hit(5) < o.hit(5) for n, o in part)
        yield [name, str(len(part)), *told, str(gained), str(lost)]
    if len(pairs) > 1:
        groups = [[[100 * (of(n) - of(o)) for n, o in part] for part in pairs.values()] for of in measures.values()]
        yield ["mean of sets", "", *(_told(mean_of_groups(group)) for group in groups), "", ""]


def _parts(
    of: Mapping[str, Sequence[T]], by: str | None, outcome: Callable[[T], Outcome]
) -> Iterator[tuple[str, Sequence[T]]]:
    """Each set whole, and where it is asked for cut by origin or category; a set that is made of several always is."""
    for name, items in of.items():
        yield name, items
        cut = by or ("origin" if len({outcome(item).origin for item in items}) > 1 else None)
        values = sorted({getattr(outcome(item), cut) for item in items}) if cut else []
        for value in values:
            yield f"{name}: {value}", [item for item in items if getattr(outcome(item), str(cut)) == value]


def _told(difference: Interval) -> str:
    star = "*" if difference.is_proven else ""
    return f"{difference.mean:+.1f}{star} [{difference.low:.1f}, {difference.high:.1f}]"


def _measures(asked: Mapping[str, Sequence[Outcome]]) -> dict[str, Callable[[Outcome], float]]:
    """All of them, or where no conversation was asked for, those of messages."""
    if any(outcome.session for outcomes in asked.values() for outcome in outcomes):
        return _MEASURES
    return {name: _MEASURES[name] for name in _OF_MESSAGES}


def _columns(measures: Iterable[str]) -> list[str]:
    return [f"{name} [95 %]" if name == _BOUNDED else name for name in measures]


def _all_in(folder: Path) -> list[str]:
    """Every set that is known, or every file of another folder."""
    return list(ALL_NAMES) if folder == PUBLIC else sorted(path.stem for path in folder.glob("*.json"))


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.quality", description="Measures the product on chosen sets.")
    known = ", ".join(ALL_NAMES)
    parser.add_argument("--sets", type=_names, help=f"with commas between them, of {known}; all unless told")
    parser.add_argument("--data", type=Path, default=PUBLIC, help="a folder with sets of the same form")
    parser.add_argument("--mode", choices=("instant", "quality"), default="instant")
    parser.add_argument("--together", action="store_true", help="each set as one archive")
    parser.add_argument("--by", choices=("origin", "category"), help="a row for each of these, too")
    parser.add_argument("--messages-only", action="store_true", help="no conversations: half the time")
    parser.add_argument("--fresh", action="store_true", help="import anew")
    parser.add_argument("--save", type=Path, metavar="FILE", help="keeps the result for --against")
    parser.add_argument("--against", type=Path, metavar="FILE", help="tells paired differences to a kept result")
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--opening", nargs="?", const=OPENING, metavar="TEXT", help=f"before each question: {OPENING!r}")
    forms.add_argument(
        "--keywords", action="store_true", help="each question as its first five words that carry meaning"
    )
    options = parser.parse_args(arguments)
    options.wording = _wording(options)
    return options


def _wording(options: argparse.Namespace) -> Callable[[str], str]:
    if options.keywords:
        return keywords
    return (lambda text: with_opening(text, options.opening)) if options.opening else str


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
