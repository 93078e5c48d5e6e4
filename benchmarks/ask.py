"""How good answers are without a model: what they cite, what they say, and how long they take.

python -m benchmarks.ask --sets sample,locomo-dev --show 5

A citation is right where it is a message that answers. The first five hits of a search for the same question stand
beside them: citations must be right at least as often. Key words are those of the answer that a set gives, without
those of the question, and without answers that are a letter; how many of them the text holds is what is told.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks import intents
from benchmarks.datasets import DataSet, Question, sets_named
from benchmarks.generator import write_openai
from benchmarks.intervals import Interval, mean_of_groups, mean_with_bounds
from benchmarks.prepared import Prepared, cache_folder
from benchmarks.queries import queries
from benchmarks.tables import table
from recollect.answer.intents import Intent
from recollect.answer.results import AskAnswer
from recollect.memory import Memory
from recollect.memory.opening import open as open_memory
from recollect.text.terms import terms

SETS = "sample,beam-dev,lifebench-en-dev,lifebench-zh-dev,locomo-dev,qmsum-dev"
_FIRST = 5  # hits of a search, and at most so many citations
_TIMED = 60  # questions to the large archive
_MOST_WORDS = 120


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its answer, and what the first hits of a search for it held."""

    question: Question
    answer: AskAnswer
    found: tuple[str, ...]  # the source's ids of the messages that a search finds, best first
    milliseconds: float

    @property
    def cited(self) -> list[str]:
        """The source's ids of the messages that are cited."""
        return [citation.message.source_id or "" for citation in self.answer.citations]

    def hit(self, first: int = _FIRST) -> float:
        """1 where an answering message is among the first hits."""
        return float(not self.question.evidence.isdisjoint(self.found[:first]))

    def right(self, first: int = _FIRST) -> float:
        """1 where one is among the first citations."""
        return float(not self.question.evidence.isdisjoint(self.cited[:first]))

    @property
    def told(self) -> float | None:
        """The share of the answer's key words that the text holds; None where no answer is known."""
        said = self.question.answer
        wanted = set(terms(said)) - set(terms(self.question.text)) if len(said) > 1 else set()
        return len(wanted & set(terms(self.answer.text))) / len(wanted) if wanted else None


def asked(data: DataSet, mode: str) -> Iterator[Asked]:
    """Every question of a set, each history in its own namespace. Raises what the product raises."""
    prepared = Prepared(data, cache_folder())
    if mode == "quality":
        prepared.make_quality()
    for history in data.histories:
        with prepared.memory(history) as memory:
            for question in history.questions:
                hits = memory.search(question.text, group_by="message", limit=_FIRST, mode=mode)
                began = time.perf_counter()
                answer = memory.ask(question.text, mode=mode)
                taken = (time.perf_counter() - began) * 1000
                found = tuple(hit.messages[0].message.source_id or "" for hit in hits)
                yield Asked(question, answer, found, taken)


def report(sets: Mapping[str, Sequence[Asked]]) -> str:
    """A row a set, and one for each intent over all sets."""
    columns = ["questions", "search H@5", "citations hold", "difference", "search H@1", "first citation holds"]
    head = ["set", *columns, "key words", "of", "words", "p50 / p95"]
    parts = [table(head, [_row(name, rows) for name, rows in sets.items()] + [_means(sets)])]
    every = [one for rows in sets.values() for one in rows]
    by_intent = {intent: [one for one in every if one.answer.intent is intent] for intent in Intent}
    parts.append(table(["intent", *head[1:]], [_row(i.value, rows) for i, rows in by_intent.items() if rows]))
    return "\n\n".join(parts)


def _row(name: str, rows: Sequence[Asked]) -> list[str]:
    gained = mean_with_bounds([100 * (one.right() - one.hit()) for one in rows])
    told = [share for one in rows if (share := one.told) is not None]
    words = [len(one.answer.text.split()) for one in rows if one.answer.intent is not Intent.CODE_LOOKUP]
    slow = np.percentile([one.milliseconds for one in rows], (50, 95))
    return [
        name,
        str(len(rows)),
        _bounded(mean_with_bounds([100 * one.hit() for one in rows])),
        _bounded(mean_with_bounds([100 * one.right() for one in rows])),
        f"{gained.mean:+.1f} [{gained.low:.1f}, {gained.high:.1f}]",
        f"{100 * np.mean([one.hit(1) for one in rows]):.1f}",
        f"{100 * np.mean([one.right(1) for one in rows]):.1f}",
        _bounded(mean_with_bounds([100 * share for share in told])) if told else "",
        str(len(told)) if told else "",
        f"{np.mean(words):.0f}" if words else "",
        f"{slow[0]:.0f} / {slow[1]:.0f} ms",
    ]


def _means(sets: Mapping[str, Sequence[Asked]]) -> list[str]:
    hits = mean_of_groups([[100 * one.hit() for one in rows] for rows in sets.values()])
    right = mean_of_groups([[100 * one.right() for one in rows] for rows in sets.values()])
    gained = mean_of_groups([[100 * (one.right() - one.hit()) for one in rows] for rows in sets.values()])
    told = mean_of_groups([[100 * one.told for one in rows if one.told is not None] for rows in sets.values()])
    difference = f"{gained.mean:+.1f} [{gained.low:.1f}, {gained.high:.1f}]"
    return ["mean of sets", "", _bounded(hits), _bounded(right), difference, "", "", _bounded(told), "", "", ""]


def _bounded(value: Interval) -> str:
    return f"{value.mean:.1f} [{value.low:.0f}-{value.high:.0f}]"


def latency(messages: int) -> str:
    """How long an extract takes beside so many messages."""
    with TemporaryDirectory(prefix="recollect-bench-") as scratch:
        export = Path(scratch) / "export.jsonl"
        write_openai(export, messages)
        with open_memory(Path(scratch) / "memory.db", background=False) as memory:
            memory.import_file(export)
            taken = sorted(_seconds(memory, query.text) * 1000 for query in queries(_TIMED))
    p50, p95 = np.percentile(taken, (50, 95))
    return f"{messages:,} messages: p50 {p50:.0f} ms, p95 {p95:.0f} ms, slowest {taken[-1]:.0f} ms ({_TIMED} questions)"


def _seconds(memory: Memory, question: str) -> float:
    began = time.perf_counter()
    memory.ask(question)
    return time.perf_counter() - began


def shown(rows: Sequence[Asked], count: int, seed: int) -> Iterator[str]:
    """Some answers, to be read."""
    for one in random.Random(seed).sample(list(rows), min(count, len(rows))):
        yield f"\n## {one.question.text}\n({one.answer.intent.value}, answer: {one.question.answer or 'not given'}; "
        yield f"search H@5 {one.hit():.0f}, citations {one.right():.0f})\n{one.answer.text}"


def main(arguments: list[str]) -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(prog="benchmarks.ask", description="Measures answers without a model.")
    parser.add_argument("--sets", default=SETS, help=f"with commas between them; {SETS} unless told")
    parser.add_argument("--mode", choices=("instant", "quality"), default="instant")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="so many answers of each set, to be read")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--large", type=int, default=0, metavar="N", help="the latency beside so many messages, too")
    options = parser.parse_args(arguments)
    sets, notes = sets_named([name.strip() for name in options.sets.split(",") if name.strip()])
    for line in notes:
        print(line, file=sys.stderr)
    answered: dict[str, list[Asked]] = {}
    for data in sets:
        answered[data.name] = list(asked(data, options.mode))
        print(f"{data.name}: {_counted(answered[data.name])}", file=sys.stderr, flush=True)
    print(report(answered))
    print(f"\nIntents, read by rules:\n\n{intents.report(intents.read_all())}")
    if options.large:
        print(f"\n{latency(options.large)}")
    for rows in answered.values():
        print("\n".join(shown(rows, options.show, options.seed)))
    return 0


def _counted(rows: Sequence[Asked]) -> str:
    """How many there are of each intent, and how many are longer than they should be."""
    kinds = Counter(one.answer.intent for one in rows)
    long = sum(
        len(one.answer.text.split()) > 1.1 * _MOST_WORDS for one in rows if one.answer.intent is not Intent.CODE_LOOKUP
    )
    told = ", ".join(f"{intent.value} {count}" for intent, count in kinds.most_common())
    return f"{len(rows)} questions ({told}), {long} answers too long"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
