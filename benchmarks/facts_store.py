"""What storing a fact costs, with few facts and with many: `python -m benchmarks.facts_store [FACTS ...]`.

The facts share common words, as facts do, and every tenth of those that are timed is like one of the first that were
stored. What is printed: processor time (which other programs do not change), the median and the 95th percentile of the
time of `store_fact`, and how many of these were linked to the old fact that they are like.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median, quantiles

from recollect.compat.hierarchical import HierarchicalMemory

SIZES = (100, 10_000, 100_000)
TIMED = 300
_OLD = 50  # facts that are stored first, to be found again

_SUBJECTS = ("sensor", "server", "customer", "project", "garden", "engine", "library", "hospital", "bridge", "harbour")
_VERBS = ("reports", "needs", "has", "uses", "keeps", "costs", "moves", "shows")
_THINGS = ("temperature", "pressure", "budget", "schedule", "colour", "weight", "owner", "address", "status", "history")
_PLACES = ("north", "south", "east", "west", "upper", "lower", "old", "new")


def facts(random: Random) -> Iterator[tuple[str, str]]:
    """Contents and concepts without end: of fifty words, and a number."""
    while True:
        subject, thing = random.choice(_SUBJECTS), random.choice(_THINGS)
        verb, place = random.choice(_VERBS), random.choice(_PLACES)
        number = random.randint(1, 99_999)
        yield (
            f"The {place} {subject} {number} {verb} the {thing} of value {random.randint(1, 99)}",
            f"{subject} {thing}",
        )


def old_fact(number: int) -> tuple[str, str]:
    """One of those that are looked for later."""
    return f"Winzer{number} planted Riesling on terrace {number} above Kaub", f"Winzer{number} terrace"


def fill(memory: HierarchicalMemory, size: int, given: Iterator[tuple[str, str]]) -> None:
    """Brings a memory to a number of facts, without storing them one by one."""
    have = memory.execute_aggregation("count_total")["count"]
    for at in range(have, size, 1000):
        nodes = []
        for number in range(at, min(at + 1000, size)):
            content, concept = next(given)
            nodes.append(
                {"type": "SemanticMemory", "node_id": f"filled-{number}", "content": content, "concept": concept}
            )
        memory.import_graph({"nodes": nodes})
    memory.maintain()


def timed(memory: HierarchicalMemory, given: Iterator[tuple[str, str]]) -> tuple[list[float], float, int]:
    """Seconds of each `store_fact`, processor seconds of one, and how many old facts were linked."""
    times, busy, linked = [], 0.0, 0
    for number in range(TIMED):
        is_like = number % 10 == 0
        content, concept = old_fact(number % _OLD) if is_like else next(given)
        content += " again" if is_like else ""
        begun, worked = time.perf_counter(), time.process_time()
        memory.store_fact(content, concept)
        times.append(time.perf_counter() - begun)
        busy += time.process_time() - worked
        if is_like:
            found = memory.retrieve_subgraph(f"Winzer{number % _OLD}")
            linked += any(edge.relationship == "SIMILAR_TO" for edge in found.edges)
    return times, busy / TIMED, linked


def main() -> None:
    """Measures and prints."""
    sizes = [int(size) for size in sys.argv[1:]] or list(SIZES)
    given = facts(Random(17))
    print(
        f"{'facts':>9} {'CPU ms':>8} {'p50 ms':>8} {'p95 ms':>8} {'CPU, p50 to the first':>22} {'old ones linked':>16}"
    )
    with tempfile.TemporaryDirectory() as folder, HierarchicalMemory("bench", Path(folder)) as memory:
        for number in range(_OLD):
            memory.store_fact(*old_fact(number))
        first: tuple[float, float] | None = None
        for size in sizes:
            fill(memory, size, given)
            timed(memory, given)  # what is loaded once is loaded now
            times, busy, linked = timed(memory, given)
            middle = median(times)
            first = first or (busy, middle)
            ratios = f"{busy / first[0]:.2f}, {middle / first[1]:.2f}"
            p95 = 1000 * quantiles(times, n=20)[-1]
            print(
                f"{size:>9,} {1000 * busy:>8.2f} {1000 * middle:>8.2f} {p95:>8.2f} {ratios:>22}"
                f" {linked:>10} of {TIMED // 10}",
                flush=True,
            )


if __name__ == "__main__":
    main()
