"""Whether an answer to "compare A with B" speaks of both: what it cites, with the parts searched for by themselves and
without.

The questions are made by chance, so that nobody chose them: pairs of the keyword searches of the sample archive, of
which each is answered by other conversations than its partner.

python -m benchmarks.comparing --pairs 60
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.datasets import History, Question, own_set
from benchmarks.intervals import Interval, mean_with_bounds
from benchmarks.prepared import Prepared, cache_folder
from benchmarks.tables import table
from recollect.answer.ask import understand
from recollect.memory import Memory
from recollect.search.query.parts import compared

_WAYS = ("with its parts", "the question alone")


@dataclass(frozen=True, slots=True)
class Compared:
    """How many of the two sides the citations hold, by the way that was searched, and whether it was known."""

    sides: dict[str, int]
    known: dict[str, bool]


def pairs(history: History, count: int, seed: int) -> list[tuple[Question, Question]]:
    """Searches drawn by chance, two and two, that other conversations answer."""
    session_of = history.session_of()
    words = [question for question in history.questions if question.category == "keywords"]
    drawn = random.Random(seed)
    found: list[tuple[Question, Question]] = []
    while len(found) < count:
        one, other = drawn.sample(words, 2)
        sessions = [{session_of[message] for message in side.evidence} for side in (one, other)]
        if sessions[0].isdisjoint(sessions[1]) and len(compared(asked(one, other))) == 2:
            found.append((one, other))
    return found


def asked(one: Question, other: Question) -> str:
    """The question about both."""
    return f"compare {one.text} with {other.text}"


def measured(count: int, seed: int, mode: str) -> Iterator[Compared]:
    """Each pair, searched in both ways."""
    data = own_set()
    (history,) = data.histories
    prepared = Prepared(data, cache_folder())
    if mode == "quality":
        prepared.make_quality()
    with prepared.memory(history) as memory:
        for pair in pairs(history, count, seed):
            came = {way: _cited(memory, pair, mode, alone=way != _WAYS[0]) for way in _WAYS}
            yield Compared(
                {way: sides for way, (sides, _) in came.items()}, {w: known for w, (_, known) in came.items()}
            )


def _cited(memory: Memory, pair: tuple[Question, Question], mode: str, *, alone: bool) -> tuple[int, bool]:
    before = understand.compared
    understand.compared = (lambda _: []) if alone else before
    try:
        answer = memory.ask(asked(*pair), mode=mode)
    finally:
        understand.compared = before
    cited = {citation.message.source_id for citation in answer.citations}
    return sum(not cited.isdisjoint(side.evidence) for side in pair), answer.known


def report(rows: Sequence[Compared]) -> str:
    """A row a way, and the difference."""
    lines = []
    for way in _WAYS:
        both = mean_with_bounds([100.0 * (row.sides[way] == 2) for row in rows])
        one = mean_with_bounds([100.0 * (row.sides[way] >= 1) for row in rows])
        known = mean_with_bounds([100.0 * row.known[way] for row in rows])
        lines.append([way, str(len(rows)), *map(_bounded, (both, one, known))])
    gained = [
        mean_with_bounds([100.0 * (of(row, _WAYS[0]) - of(row, _WAYS[1])) for row in rows])
        for of in (lambda row, way: row.sides[way] == 2, lambda row, way: row.sides[way] >= 1, lambda r, w: r.known[w])
    ]
    lines.append(["difference", "", *(f"{one.mean:+.1f} [{one.low:.1f}, {one.high:.1f}]" for one in gained)])
    return table(["searched for", "questions", "both sides cited, %", "one at least, %", "known, %"], lines)


def _bounded(value: Interval) -> str:
    return f"{value.mean:.1f} [{value.low:.0f}-{value.high:.0f}]"


def main(arguments: list[str]) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.comparing", description=__doc__)
    parser.add_argument("--pairs", type=int, default=60, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mode", choices=("instant", "quality"), default="instant")
    options = parser.parse_args(arguments)
    print(report(list(measured(options.pairs, options.seed, options.mode))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
