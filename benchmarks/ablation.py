"""What each part of the search is worth: every question asked with it switched off, and with one part alone.

python -m benchmarks.ablation --sets sample,beam-dev [--mode quality] [--most 200]

H@5 of messages, a row a part, a column a set and an intent; beside the rows of parts that are off the difference to the
whole, with its bounds. A part that is off adds nothing to the score; which candidates there are stays the same.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import recollect.search.ranking as ranking
from benchmarks.asking import first_of, message_ids
from benchmarks.datasets import DataSet, Question, sets_named
from benchmarks.intervals import mean_of_groups
from benchmarks.prepared import Prepared, cache_folder
from benchmarks.tables import table
from recollect.answer.intents import Intent, read_intent
from recollect.search.scoring import TERMS

SETS = "sample,beam-dev,lifebench-en-dev,locomo-dev,qmsum-dev"
_FIRST = 5

#: The parts, by the terms of the score that they are.
PARTS: Mapping[str, tuple[str, ...]] = {
    "words": ("words", "session words", "words alone", "all words", "as typed"),
    "meaning": ("meaning", "session meaning", "answers"),
    "session": ("session words", "session meaning"),
    "who": ("speaker", "present", "asker"),
    "when": ("date", "moment", "order"),
    "titles": ("title",),
    "kind of answer": ("answer type", "question", "request"),
    "late interaction": ("late", "late around"),
}
#: What is also tried by itself.
ALONE = ("words", "meaning")


@dataclass(frozen=True, slots=True)
class Hit:
    """A question, and whether an answering message is among the first."""

    intent: Intent
    is_right: bool


@contextmanager
def only(terms: frozenset[str]) -> Iterator[None]:
    """Scores are made of these terms alone, for as long as the `with` lasts."""
    before = ranking.INSTANT, ranking.QUALITY
    ranking.INSTANT, ranking.QUALITY = ({n: w for n, w in weights.items() if n in terms} for weights in before)
    try:
        yield
    finally:
        ranking.INSTANT, ranking.QUALITY = before


def variants(mode: str) -> dict[str, frozenset[str]]:
    """The terms of each variant by its name, the whole first."""
    every = frozenset(term.name for term in TERMS)
    parts = {name: frozenset(of) for name, of in PARTS.items() if mode == "quality" or name != "late interaction"}
    without = {f"without {name}": every - of for name, of in parts.items()}
    return {"all of it": every, **without, **{f"{name} alone": frozenset(PARTS[name]) for name in ALONE}}


def asked(data: DataSet, mode: str, most: int, names: Sequence[str]) -> dict[str, list[Hit]]:
    """A set's questions, `most` of them by chance, in each variant. Raises what the product raises."""
    chosen = {question.text for question in _some([q for h in data.histories for q in h.questions], most)}
    prepared, terms, found = Prepared(data, cache_folder()), variants(mode), dict[str, list[Hit]]()
    if mode == "quality":
        prepared.make_quality()
    for history in data.histories:
        with prepared.memory(history) as memory:
            for name in names:
                with only(terms[name]):
                    for question in history.questions:
                        if question.text in chosen:
                            rank = first_of(message_ids(memory, question.text, mode), question.evidence)
                            hit = Hit(read_intent(question.text), 0 < rank <= _FIRST)
                            found.setdefault(name, []).append(hit)
    return found


def _some(items: list[Question], most: int) -> list[Question]:
    return random.Random(1).sample(items, most) if len(items) > most else items


def report(sets: Mapping[str, Mapping[str, Sequence[Hit]]], names: Sequence[str]) -> str:
    """A table of sets, and one of intents over all sets."""
    by_set = table(
        ["H@5", *sets, "mean", "difference"],
        [[name, *(_share(found[name]) for found in sets.values()), *_against(sets, name)] for name in names],
    )
    intents = [i for i in Intent if any(hit.intent is i for found in sets.values() for hit in found[names[0]])]
    head = ["H@5", *(f"{i.value} ({_count(sets, names[0], i)})" for i in intents)]
    rows = [[name, *(_share(_of(sets, name, intent)) for intent in intents)] for name in names]
    return f"{by_set}\n\n{table(head, rows)}"


def _of(sets: Mapping[str, Mapping[str, Sequence[Hit]]], name: str, intent: Intent) -> list[Hit]:
    return [hit for found in sets.values() for hit in found[name] if hit.intent is intent]


def _count(sets: Mapping[str, Mapping[str, Sequence[Hit]]], name: str, intent: Intent) -> int:
    return len(_of(sets, name, intent))


def _share(hits: Sequence[Hit]) -> str:
    return f"{100 * sum(hit.is_right for hit in hits) / len(hits):.1f}" if hits else ""


def _against(sets: Mapping[str, Mapping[str, Sequence[Hit]]], name: str) -> tuple[str, str]:
    """The mean of the sets, and its difference to the whole."""
    whole = next(iter(variants("quality")))
    mean = mean_of_groups([[100.0 * hit.is_right for hit in found[name]] for found in sets.values()])
    gained = mean_of_groups(
        [
            [100.0 * (one.is_right - other.is_right) for one, other in zip(found[name], found[whole], strict=True)]
            for found in sets.values()
        ]
    )
    difference = "" if name == whole else f"{gained.mean:+.1f} [{gained.low:.1f}, {gained.high:.1f}]"
    return f"{mean.mean:.1f}", difference


def main(arguments: list[str]) -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(prog="benchmarks.ablation", description="Switches parts of the search off.")
    parser.add_argument("--sets", default=SETS, help=f"with commas between them; {SETS} unless told")
    parser.add_argument("--mode", choices=("instant", "quality"), default="instant")
    parser.add_argument("--most", type=int, default=200, metavar="N", help="questions of each set")
    options = parser.parse_args(arguments)
    sets, notes = sets_named([name.strip() for name in options.sets.split(",") if name.strip()])
    for line in notes:
        print(line, file=sys.stderr)
    names = list(variants(options.mode))
    found: dict[str, dict[str, list[Hit]]] = {}
    for data in sets:
        found[data.name] = asked(data, options.mode, options.most, names)
        print(f"{data.name}: {len(found[data.name][names[0]])} questions", file=sys.stderr, flush=True)
    print(report(found, names))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
