"""Is a context silent where nothing fits, and does it say all where something does?

Two times a hundred texts (`unasked/seen.json`, on which the thresholds of `recollect.search.known.fit` were chosen, and
`kept.json`, which was looked at only here), by a writer who had not seen the code. To sixty of each nothing fits in the
archive that they are put to (greetings, bare commands, questions about the world), and forty ask something in words
that look much alike. Printed is how many get at most 150 tokens of the archive and how many of the forty get all that
they would get otherwise; beside it, what the questions of the sets lose by it.

python -m benchmarks.nothing [--sets locomo-dev,beam-dev] [--budgets 4000,2000] [--questions 100]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import median
from unittest import mock

from benchmarks.datasets import DataSet, sets_named
from benchmarks.prepared import Prepared, cache_folder
from benchmarks.tables import table
from recollect.context.result import Context
from recollect.memory import Memory
from recollect.search.known import Fit

TEXTS = Path(__file__).parent / "unasked"
FILES = ("seen", "kept")
#: Tokens of the archive up to which a context counts as silent, and the parts that are counted.
SILENT, PARTS = 150, ("knowledge", "relevant", "index")
_SETS = "locomo-dev,beam-dev,qmsum-dev,lifebench-en-dev"


@dataclass(frozen=True, slots=True)
class Text:
    """A text that is put to the first history of a set, and whether something fits there."""

    archive: str
    text: str
    fits: bool
    why: str


@dataclass(frozen=True, slots=True)
class Put:
    """What a text got: tokens of the archive, and those that it would get if all fitted."""

    text: Text
    tokens: int
    otherwise: int


@dataclass(frozen=True, slots=True)
class Held:
    """Whether a context holds a message that answers a question whole, and whether it would if all fitted."""

    budget: int
    held: bool
    otherwise: bool


def main(arguments: list[str]) -> int:
    """Prints both tables."""
    parser = argparse.ArgumentParser(prog="benchmarks.nothing", description=__doc__)
    parser.add_argument("--sets", default=_SETS, help="whose questions are asked; none, if empty")
    parser.add_argument("--budgets", default="4000,2000")
    parser.add_argument("--questions", type=int, help="so many of each set, spread over it; all unless told")
    options = parser.parse_args(arguments)
    budgets = [int(budget) for budget in options.budgets.split(",")]
    put = {name: list(put_all(texts(name), max(budgets))) for name in FILES}
    print(report(put))
    asked, notes = sets_named([name for name in options.sets.split(",") if name])
    for line in notes:
        print(line, file=sys.stderr)
    if asked:
        print("\n" + report_held({data.name: list(ask(data, budgets, options.questions)) for data in asked}))
    return 0


def texts(name: str) -> list[Text]:
    """The texts of a file."""
    given = json.loads((TEXTS / f"{name}.json").read_text(encoding="utf-8"))["texts"]
    return [Text(**one) for one in given]


def put_all(given: Sequence[Text], budget: int) -> Iterator[Put]:
    """Each to its archive, as far as that is here."""
    for name, some in groupby(given, key=lambda text: text.archive):
        for data in sets_named([name])[0]:
            with _memory(data, 0) as memory:
                for text in some:
                    yield Put(text, *(_retrieved(one) for one in _both(memory, text.text, budget)))


def ask(data: DataSet, budgets: Sequence[int], most: int | None) -> Iterator[Held]:
    """Questions of a set, spread over it."""
    total = sum(len(history.questions) for history in data.histories)
    step, number = max(1, total // most) if most else 1, 0
    for place, history in enumerate(data.histories):
        questions = [q for at, q in enumerate(history.questions, number) if at % step == 0]
        number += len(history.questions)
        with _memory(data, place) as memory:
            for question in questions:
                for budget in budgets:
                    contexts = _both(memory, question.text, budget)
                    ids = [{m.source_id for m in memory.messages(one.whole_ids())} for one in contexts]
                    held, otherwise = (bool(own & question.evidence) for own in ids)
                    yield Held(budget, held, otherwise)


def report(put: dict[str, list[Put]]) -> str:
    """What was told to texts to which nothing fits, and to those that ask something."""
    head = ["texts", f"nothing fits: at most {SILENT} tokens", "none at all", "tokens, median", "without the decision",
            "they ask something: get all", "tokens, median"]  # fmt: skip
    rows = []
    for name, every in put.items():
        silent, asking = [one for one in every if not one.text.fits], [one for one in every if one.text.fits]
        rows.append([
            f"{name}, {len(silent)} and {len(asking)}",
            _share(silent, lambda one: one.tokens <= SILENT),
            _share(silent, lambda one: not one.tokens),
            f"{median(one.tokens for one in silent):,.0f}",
            _share(silent, lambda one: one.otherwise <= SILENT),
            _share(asking, lambda one: one.tokens == one.otherwise),
            f"{median(one.tokens for one in asking):,.0f}",
        ])  # fmt: skip
    return table(head, rows)


def report_held(found: dict[str, list[Held]]) -> str:
    """How many questions are answered by a whole message of the context, with the decision and without it."""
    rows = []
    for name, every in found.items():
        for budget in dict.fromkeys(one.budget for one in every):
            own = [one for one in every if one.budget == budget]
            with_it, without = (100 * sum(which) / len(own) for which in
                                ([one.held for one in own], [one.otherwise for one in own]))  # fmt: skip
            rows.append([name, f"{budget:,}", str(len(own)), f"{without:.1f}", f"{with_it:.1f}",
                         f"{with_it - without:+.1f}"])  # fmt: skip
    return table(["set", "budget", "questions", "without the decision", "with it", "difference"], rows)


def _memory(data: DataSet, history: int) -> Memory:
    memory = Prepared(data, cache_folder() / "context").memory(data.histories[history])
    memory.upkeep.consolidate()
    return memory


def _both(memory: Memory, text: str, budget: int) -> list[Context]:
    """With the decision and as if everything fitted."""
    shows_all = mock.patch("recollect.search.ranking.fit", return_value=Fit.WELL)
    ways: tuple[AbstractContextManager[object], ...] = (nullcontext(), shows_all)
    found = []
    for way in ways:
        with way:
            found.append(memory.prepare_context(text, budget=budget))
    return found


def _retrieved(context: Context) -> int:
    return sum(part.tokens for part in context.parts if part.name in PARTS)


def _share(some: Sequence[Put], holds: Callable[[Put], bool]) -> str:
    return f"{100 * sum(map(holds, some)) / (len(some) or 1):.0f} %"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
