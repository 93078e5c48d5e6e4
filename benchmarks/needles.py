"""Needles: facts said once, long ago, in histories of any size. How many calls of tools to each, from a context?

python -m benchmarks.needles --sizes 10,400,3000,20000
python -m benchmarks.needles --sizes 1000000 --store memory.db     a store of so many messages that is there already

No model takes part. A script does what a model would: it reads the context (no call); it opens what the index names, or
searches with the question (one call); it opens what the search has found (two calls). The table also shows how the size
of a context and the time that it takes depend on the size of the history.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import recollect
from benchmarks.generator import write_openai
from benchmarks.queries import queries
from benchmarks.tables import table
from recollect.answer.tools import Toolbox
from recollect.memory import Memory

SIZES = (10, 400, 3_000, 20_000)
BUDGET = 10_000
_LONG_AGO = datetime(2022, 12, 5, 10, tzinfo=UTC)
_FEW = 200  # messages under which each needle has a history of its own
_OPENED = 10  # messages that are opened at once
_TIMED = 100  # contexts that are timed
_CODE = re.compile(r"\[([0-9A-Z]{8})\]")
_FOUND = re.compile(r"^\[([0-9A-Za-z]{8,})\]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Needle:
    """What was said once, what is asked much later, and words that only the answer holds."""

    said: str
    asked: str
    answer: str


NEEDLES = (
    Needle("The key to the boathouse hangs behind the third oar from the left.",
           "Where does the key to the boathouse hang?", "third oar"),
    Needle("Grandmother's plum cake needs 320 grams of flour, not 300 as the card says.",
           "How much flour goes into grandmother's plum cake?", "320 grams"),
    Needle("Our wifi at the cottage is called Seagull and the password is blue-lantern-88.",
           "What is the wifi password at the cottage?", "blue-lantern-88"),
    Needle("Doctor Okafor wants me to take the magnesium at night because of the cramps.",
           "When should I take the magnesium?", "at night"),
    Needle("We agreed with the landlord that the deposit is 1,850 euros and comes back in June.",
           "How high is the deposit that we agreed with the landlord?", "1,850"),
    Needle("My passport number ends with 7J and it runs out in October 2029.",
           "Until when is my passport valid?", "October 2029"),
    Needle("The plumber who fixed the boiler was Tomasz, 0171 555 0199, and he only works mornings.",
           "Who fixed our boiler, and what is his number?", "555 0199"),
    Needle("For the reading group in autumn I promised to present Stoner by John Williams.",
           "Which book did I promise to present to the reading group?", "Stoner"),
    Needle("The cat's vet appointment is with Dr Lindqvist, and Pixel is allergic to penicillin.",
           "What is Pixel allergic to?", "penicillin"),
    Needle("We decided to write the invoice service in Elixir since Priya knows it best.",
           "In which language did we decide to write the invoice service?", "Elixir"),
    Needle("The spare fuse for the caravan is under the passenger seat in a tobacco tin.",
           "Where did we put the spare fuse for the caravan?", "tobacco tin"),
    Needle("Aunt Rosalind's birthday is on the nineteenth of February, and she hates carnations.",
           "When is aunt Rosalind's birthday?", "nineteenth of February"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reached:
    """What became of a needle: calls that were needed (3: more than two), and the context that it began with."""

    calls: int
    tokens: int
    form: str


def main(arguments: list[str]) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.needles", description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--store", type=Path, help="one with so many messages; needles are put into it")
    parser.add_argument("--save", type=Path, metavar="FILE", help="the figures as JSON")
    options = parser.parse_args(arguments)
    rows = [measure(int(size), options.store) for size in options.sizes.split(",")]
    print(report(rows))
    if options.save:
        options.save.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


def measure(size: int, store: Path | None = None) -> dict[str, object]:
    """All needles at one size, and how long contexts take there."""
    reached: list[Reached] = []
    times: list[float] = []
    for memory, needles in _histories(size, store):
        with memory:
            reached += [reach(memory, needle) for needle in needles]
            times += _times(memory, max(3, _TIMED * len(needles) // len(NEEDLES)))
    tokens = [one.tokens for one in reached]
    percentiles = np.percentile(np.array(times) * 1000, (50, 95))
    return {
        "messages": size,
        "forms": sorted({one.form for one in reached}),
        "tokens": [min(tokens), max(tokens)],
        "calls": [sum(one.calls == calls for one in reached) for calls in range(4)],
        "timed": len(times),
        "p50_ms": float(percentiles[0]),
        "p95_ms": float(percentiles[1]),
    }


def reach(memory: Memory, needle: Needle) -> Reached:
    """How many calls it takes from the context of the question to its answer."""
    context = memory.prepare_context(needle.asked, budget=BUDGET)
    return Reached(_calls(memory.toolbox(read_only=True), context.text, needle), context.tokens, context.index_form)


def _calls(tools: Toolbox, text: str, needle: Needle) -> int:
    if needle.answer in text:
        return 0
    named = list(dict.fromkeys(_CODE.findall(text)))[-_OPENED:]  # the index stands at the end
    if named and needle.answer in tools.call("get_messages_by_ids", {"ids": named}).text:
        return 1
    found = tools.call("vector_search", {"query": needle.asked}).text
    if needle.answer in found:
        return 1
    ids = _FOUND.findall(found)[:_OPENED]
    return 2 if ids and needle.answer in tools.call("get_messages_by_ids", {"ids": ids}).text else 3


def _histories(size: int, store: Path | None) -> Iterator[tuple[Memory, Sequence[Needle]]]:
    """Memories of that size with needles in them; of a small size one for each needle."""
    if store is not None:
        memory = recollect.open(store, background=False)
        _hide(memory, NEEDLES)
        yield memory, NEEDLES
        return
    with TemporaryDirectory() as folder:
        groups = [(needle,) for needle in NEEDLES] if size < _FEW else [NEEDLES]
        for number, needles in enumerate(groups):
            export = Path(folder) / f"{number}.jsonl"
            write_openai(export, size - 2 * len(needles), seed=number + 1)
            memory = recollect.open(Path(folder) / "memory.db", namespace=f"n{number}", durable=False, background=False)
            memory.import_file(export)
            _hide(memory, needles)
            yield memory, needles


def _hide(memory: Memory, needles: Sequence[Needle]) -> None:
    """Says them, long before all the rest, each in a talk of its own; what is there already is not said again."""
    for number, needle in enumerate(needles):
        said = _LONG_AGO - timedelta(days=number)
        talk = f"needle-{NEEDLES.index(needle):02}"
        words = f"By the way, before I forget it again. {needle.said} Please keep that for me."
        memory.store_message(words, conversation_id=talk, timestamp=said, id=f"{talk}-1")
        memory.store_message("Noted.", "assistant", conversation_id=talk, timestamp=said, id=f"{talk}-2")


def _times(memory: Memory, most: int) -> list[float]:
    """Seconds of contexts for questions of all forms, in a process that has made some before."""
    texts = [query.text for query in queries(most + 10)]
    for text in texts[:10]:
        memory.prepare_context(text, budget=BUDGET)
    taken = []
    for text in texts[10:]:
        began = time.perf_counter()
        memory.prepare_context(text, budget=BUDGET)
        taken.append(time.perf_counter() - began)
    return taken


def report(rows: Sequence[dict[str, object]]) -> str:
    """A row a size."""
    head = ["messages", "form", "tokens", "in the context", "one call", "two calls", "more", "p50 / p95"]
    told = []
    for row in rows:
        tokens, calls = row["tokens"], row["calls"]
        assert isinstance(tokens, list)
        assert isinstance(calls, list)
        assert isinstance(row["forms"], list)
        span = f"{tokens[0]:,} to {tokens[1]:,}"
        speed = f"{row['p50_ms']:.0f} / {row['p95_ms']:.0f} ms"
        told.append([f"{row['messages']:,}", ", ".join(row["forms"]), span, *map(str, calls), speed])
    return table(head, told)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
