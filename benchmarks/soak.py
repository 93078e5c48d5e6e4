"""What costs more the longer it goes on: a conversation that never ends, and a process that serves ever more people.

python -m benchmarks.soak [TURNS] [--out DIR]      (20,000 turns; most of an hour)
python -m benchmarks.soak --namespaces 10000       (some minutes)

A turn is what an application does: the context for what the user says, the user's message, the answer; and now and
then the worker's turn. Wall-clock and processor time, the size of the context, and the memory of the process.
Of namespaces each is written to once; then a handle is opened beside the first one, and searched.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

import recollect
from benchmarks.generator import talks
from benchmarks.machine import machine, own_memory
from benchmarks.plot import Series, chart
from benchmarks.report import RESULTS, machine_line
from benchmarks.tables import table
from recollect.memory import Memory

TURNS = 20_000

_POINTS = 20
_WORKED = 20  # turns, after which the worker has its turn
_MIB = 1 << 20
_CONVERSATION = "soak"
_LAST, _ROLES = 100, ("user", "assistant")  # searches that are counted

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Point:
    """What turns cost up to a length of the conversation. Times are milliseconds: median and 95th percentile; of the
    context also the median of processor time. `worker` is that of a message.
    """

    turns: int
    append: tuple[float, float]
    context: tuple[float, float]
    context_cpu: float
    worker: float
    tokens: tuple[int, int]  # median, most
    form: str
    memory: int  # bytes


def measure(turns: int, say: Say) -> list[Point]:
    """So many turns in one conversation."""
    with (
        TemporaryDirectory(prefix="recollect-soak-") as folder,
        recollect.open(Path(folder) / "memory.db", background=False) as memory,
    ):
        return list(_points(memory, turns, say))


def _points(memory: Memory, turns: int, say: Say) -> Iterator[Point]:
    spoken, done = _spoken(), 0
    for number in range(1, _POINTS + 1):
        until = turns * number // _POINTS
        appends: list[float] = []
        contexts: list[float] = []
        processor: list[float] = []
        sizes: list[int] = []
        worked, form = 0.0, ""
        for turn in range(done + 1, until + 1):
            asked, answered = next(spoken)
            began, cpu = time.perf_counter(), time.process_time()
            context = memory.prepare_context(asked, _CONVERSATION if turn > 1 else None)
            contexts.append(1000 * (time.perf_counter() - began))
            processor.append(1000 * (time.process_time() - cpu))
            sizes.append(context.tokens)
            form = context.index_form
            for role, text in (("user", asked), ("assistant", answered)):
                began = time.perf_counter()
                memory.store_message(text, role, conversation_id=_CONVERSATION)
                appends.append(1000 * (time.perf_counter() - began))
            if turn % _WORKED == 0:
                cpu = time.process_time()
                memory.upkeep.consolidate()
                memory.upkeep.maintain()
                worked += 1000 * (time.process_time() - cpu)
        point = Point(
            turns=until,
            append=_median_and_95(appends),
            context=_median_and_95(contexts),
            context_cpu=_median_and_95(processor)[0],
            worker=worked / (2 * max(1, until - done)),
            tokens=(round(_median_and_95(sizes)[0]), max(sizes)),
            form=form,
            memory=own_memory(),
        )
        done = until
        say(
            f"{until:,} turns: context {point.context[0]:.0f} ms, {point.context[1]:.0f} at p95, {point.tokens[0]:,} "
            f"tokens; append {point.append[0]:.1f} ms; {point.memory / _MIB:.0f} MiB"
        )
        yield point


@dataclass(frozen=True, slots=True)
class Served:
    """What a handle and a search cost in the last of so many namespaces, in milliseconds: median, 95th percentile, and
    the median of processor time.
    """

    namespaces: int
    search: tuple[float, float]
    cpu: float
    memory: int  # bytes


def measure_namespaces(most: int) -> Iterator[Served]:
    """At 10 namespaces, at 100, and so on. Two exchanges are said in each."""
    spoken = _spoken()
    wanted = [point for point in (10, 100, 1_000, 10_000, 100_000) if point < most] + [most]
    with (
        TemporaryDirectory(prefix="recollect-soak-") as folder,
        recollect.open(Path(folder) / "memory.db", durable=False, background=False) as memory,
    ):
        searches: list[float] = []
        processor: list[float] = []
        for number in range(1, most + 1):
            asked, _ = exchange = next(spoken)
            said = [text for pair in (exchange, next(spoken)) for text in pair]
            drafts = [{"content": text, "role": role} for text, role in zip(said, 2 * _ROLES, strict=True)]
            memory.beside(f"people/{number}").store_messages(drafts)
            began, cpu = time.perf_counter(), time.process_time()
            memory.beside(f"people/{number}").search(asked)
            searches.append(1000 * (time.perf_counter() - began))
            processor.append(1000 * (time.process_time() - cpu))
            searches, processor = searches[-_LAST:], processor[-_LAST:]
            if number in wanted:
                yield Served(number, _median_and_95(searches), _median_and_95(processor)[0], own_memory())


def _spoken() -> Iterator[tuple[str, str]]:
    """Questions and answers of generated conversations, one after the other."""
    for seed in count(1):
        for talk in talks(10_000, seed=seed):
            said = [message for message in talk.messages if message.tool is None and message.content.strip()]
            asked = [message.content for message in said if message.role == "user"]
            answered = [message.content for message in said if message.role == "assistant"]
            yield from zip(asked, answered, strict=False)


def _median_and_95(values: Sequence[float]) -> tuple[float, float]:
    if len(values) < 2:
        return values[0], values[0]
    cuts = quantiles(values, n=20, method="inclusive")
    return cuts[9], cuts[18]


def report(points: Sequence[Point]) -> str:
    """The table."""
    head = [
        "turns",
        "context p50 / p95",
        "processor",
        "tokens p50 / most",
        "form",
        "append p50 / p95",
        "worker",
        "memory",
    ]
    rows = [
        [
            f"{p.turns:,}",
            f"{p.context[0]:.0f} / {p.context[1]:.0f} ms",
            f"{p.context_cpu:.0f} ms",
            f"{p.tokens[0]:,} / {p.tokens[1]:,}",
            p.form,
            f"{p.append[0]:.1f} / {p.append[1]:.1f} ms",
            f"{p.worker:.1f} ms",
            f"{p.memory / _MIB:.0f} MiB",
        ]
        for p in points
    ]
    return table(head, rows)


def picture(points: Sequence[Point]) -> str:
    """The same, drawn."""
    turns = [p.turns for p in points]
    times = [
        Series("context, p95", [p.context[1] for p in points]),
        Series("context, p50", [p.context[0] for p in points]),
        Series("append, p50", [p.append[0] for p in points]),
        Series("worker, a message", [p.worker for p in points]),
    ]
    sizes = [Series("most", [p.tokens[1] for p in points]), Series("median", [p.tokens[0] for p in points])]
    return chart(
        ("One conversation, milliseconds by turns", turns, times),
        ("Tokens of the context by turns", turns, sizes),
        ("Memory of the process, MiB by turns", turns, [Series("memory", [p.memory / _MIB for p in points])]),
    )


def main(arguments: list[str]) -> int:
    """Prints the table, and draws it."""
    parser = argparse.ArgumentParser(prog="benchmarks.soak", description="What costs more the longer it goes on.")
    parser.add_argument("turns", nargs="?", type=int, default=TURNS)
    parser.add_argument("--namespaces", type=int, help="instead of turns: so many people, each with a memory")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the picture goes")
    options = parser.parse_args(arguments)
    if options.namespaces:
        rows = [
            [
                f"{p.namespaces:,}",
                f"{p.search[0]:.1f} / {p.search[1]:.1f} ms",
                f"{p.cpu:.1f} ms",
                f"{p.memory / _MIB:.0f} MiB",
            ]
            for p in measure_namespaces(options.namespaces)
        ]
        print(table(["namespaces", "beside() and search, p50 / p95", "processor", "memory"], rows))
        print(machine_line(machine()))
        return 0
    began = time.monotonic()
    points = measure(options.turns, lambda line: print(f"[{time.monotonic() - began:5.0f} s] {line}", file=sys.stderr))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "soak.svg").write_text(picture(points), encoding="utf-8")
    print(report(points), machine_line(machine()), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
