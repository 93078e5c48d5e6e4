"""How often a prepared context alone holds the message that answers, beside the newest messages and top-k, in one run.

python -m benchmarks.context --sets locomo-dev,beam-dev --budgets 10000,4000,2000 [--questions 100]

Every system gets the same tokens for each question, its own overhead included. The others are given messages whole,
best first; one that does not fit is left out and the next one tried. They pay nothing for their ids, dates or headings.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.datasets import DataSet, History, Question, sets_named
from benchmarks.hybrid import Hybrid
from benchmarks.intervals import mean_with_bounds
from benchmarks.prepared import Prepared, cache_folder
from benchmarks.tables import table
from recollect.context.result import PER_MESSAGE, tokens_in, tokens_in_each
from recollect.memory import Memory
from recollect.models.embedding.static import StaticEmbedder

BUDGETS = (10_000, 4_000, 2_000)
CONTEXT, SHOWN, NAMED = "prepared context, whole", "or the passage found", "or a line"
NEWEST, VECTORS, HYBRID, SEARCH = "newest only", "top-k, vectors", "top-k, z(BM25) + z(vectors)", "top-k, our search"
SYSTEMS = (CONTEXT, SHOWN, NAMED, NEWEST, VECTORS, HYBRID, SEARCH)
_SETS = "sample,locomo-dev,beam-dev,lifebench-en-dev,qmsum-dev"
_RANKED = 400  # messages of our search: more than any budget holds

#: From a question to ids of messages, best first.
Ranking = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Held:
    """A question at a budget: which systems hold a message that answers, and what the context was like."""

    question: str
    budget: int
    held: Mapping[str, bool]
    tokens: int
    form: str
    milliseconds: float


def main(arguments: list[str]) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.context", description=__doc__)
    parser.add_argument("--sets", default=_SETS)
    parser.add_argument("--budgets", default=",".join(map(str, BUDGETS)))
    parser.add_argument("--questions", type=int, help="so many of each set, spread over it; all unless told")
    parser.add_argument("--raw", action="store_true", help="without summaries and facts")
    parser.add_argument("--save", type=Path, metavar="FILE", help="every question as JSON")
    options = parser.parse_args(arguments)
    sets, notes = sets_named([name.strip() for name in options.sets.split(",")])
    for line in notes:
        print(line, file=sys.stderr)
    budgets = [int(budget) for budget in options.budgets.split(",")]
    found: dict[str, list[Held]] = {}
    for data in sets:
        began = time.monotonic()
        found[data.name] = list(measure(data, budgets, options.questions, consolidated=not options.raw))
        print(f"{data.name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    print(report(found, budgets))
    if options.save:
        rows = {name: [asdict(one) for one in held] for name, held in found.items()}
        options.save.write_text(json.dumps(rows, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    return 0


def measure(data: DataSet, budgets: Sequence[int], most: int | None, *, consolidated: bool = True) -> Iterator[Held]:
    """Every question of a set at every budget."""
    prepared = Prepared(data, cache_folder() / ("context" if consolidated else "raw"))
    total = sum(len(history.questions) for history in data.histories)
    step = max(1, total // most) if most else 1
    number = 0
    for history in data.histories:
        questions = [q for place, q in enumerate(history.questions, number) if place % step == 0]
        number += len(history.questions)
        with prepared.memory(history) as memory:
            if consolidated:
                memory.upkeep.consolidate()
            systems = Systems(history, memory)
            for question in questions:
                for budget in budgets:
                    yield systems.held(question, budget)


class Systems:
    """All systems over one history."""

    def __init__(self, history: History, memory: Memory) -> None:
        self._memory, messages = memory, history.messages
        costs = tokens_in_each([message.line for message in messages])
        self._costs = {m.id: cost + PER_MESSAGE for m, cost in zip(messages, costs, strict=True)}
        newest = sorted(messages, key=lambda m: (m.time is not None, m.time), reverse=True)
        self._newest = [message.id for message in newest]
        self._rankings: dict[str, Ranking] = {
            NEWEST: lambda _: self._newest,
            VECTORS: _vectors(history),
            HYBRID: Hybrid(history, titles=False),
            SEARCH: self._searched,
        }
        self._ranked: dict[tuple[str, str], Sequence[str]] = {}

    def held(self, question: Question, budget: int) -> Held:
        """Which of them hold an answering message within the budget."""
        began = time.perf_counter()
        context = self._memory.prepare_context(question.text, budget=budget)
        taken = (time.perf_counter() - began) * 1000
        relevant = context.part("relevant")
        shown = set(relevant.ids) if relevant else set()
        held = {
            CONTEXT: bool(self._source_ids(context.whole_ids()) & question.evidence),
            SHOWN: bool(self._source_ids(shown | context.whole_ids()) & question.evidence),
            NAMED: bool(self._source_ids(context.named_ids()) & question.evidence),
        }
        for name, rank in self._rankings.items():
            key = (name, question.text)
            if key not in self._ranked:
                self._ranked[key] = rank(question.text)
            room = budget - PER_MESSAGE - tokens_in(question.text)
            held[name] = bool(self._fitting(self._ranked[key], room) & question.evidence)
        return Held(question.text, budget, held, context.tokens, context.index_form, taken)

    def _fitting(self, ranked: Sequence[str], room: int) -> set[str]:
        kept: set[str] = set()
        for message in ranked:
            if self._costs.get(message, room + 1) <= room:
                room -= self._costs[message]
                kept.add(message)
        return kept

    def _searched(self, question: str) -> list[str]:
        found = self._memory.search(question, group_by="message", limit=_RANKED)
        return [hit.messages[0].message.source_id or "" for hit in found]

    def _source_ids(self, ids: set[str]) -> set[str]:
        return {m.source_id for m in self._memory.messages(ids) if m.source_id}


def _vectors(history: History) -> Ranking:
    embedder, messages = StaticEmbedder(), history.messages
    rows = embedder.embed([message.line for message in messages])

    def rank(question: str) -> list[str]:
        likeness = rows @ embedder.embed([question])[0]
        return [messages[i].id for i in np.argsort(-likeness, kind="stable")]

    return rank


def report(found: Mapping[str, Sequence[Held]], budgets: Sequence[int]) -> str:
    """Shares by set and budget, with how far the context is from the best of the others."""
    rows = []
    for name, held in found.items():
        for budget in budgets:
            own = [one for one in held if one.budget == budget]
            shares = [f"{100 * np.mean([one.held[system] for one in own]):.1f}" for system in SYSTEMS]
            gain = mean_with_bounds([100.0 * (one.held[CONTEXT] - one.held[VECTORS]) for one in own])
            tokens = f"{max(one.tokens for one in own):,}"
            rows.append([name, f"{budget:,}", str(len(own)), *shares,
                         f"{gain.mean:+.1f} [{gain.low:.1f}, {gain.high:.1f}]", tokens])  # fmt: skip
    return table(["set", "budget", "questions", *SYSTEMS, "context against vectors", "most tokens"], rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
