"""One measurement in a process of its own, so that its memory and start are its own: prints one JSON object.

python -m benchmarks.worker import STORE NAMESPACE EXPORT | append STORE NAMESPACE COUNT | search STORE NAMESPACE COUNT
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from random import Random

import numpy as np

import recollect
from benchmarks.machine import peak_memory
from benchmarks.queries import queries
from benchmarks.wording import TOPICS, Writer, topic
from recollect import Memory

_CONVERSATIONS = 20  # that live messages go to
_WARMING = 20  # searches before the clock counts


def import_export(memory: Memory, export: Path) -> dict[str, float]:
    """Messages and seconds of an import."""
    began = time.perf_counter()
    report = memory.import_file(export)
    seconds = time.perf_counter() - began
    return {"messages": report.stored.messages, "new": report.written.messages, "seconds": seconds}


def append(memory: Memory, count: int) -> dict[str, float]:
    """Milliseconds of a live message, durable and found from then on."""
    chance = Random("append")
    taken = []
    for number in range(count):
        writer = Writer(topic(chance.randrange(TOPICS)), chance)
        text = " ".join(writer.sentence() for _ in range(chance.randint(1, 6)))
        role = "assistant" if number // _CONVERSATIONS % 2 else "user"
        began = time.perf_counter()
        memory.store_message(text, role, conversation_id=f"live-{number % _CONVERSATIONS}")
        taken.append(time.perf_counter() - began)
    return percentiles(taken[_CONVERSATIONS:])


def search(memory: Memory, count: int) -> dict[str, object]:
    """Milliseconds of a search in a process that has searched before, in all and by form; of the first one, too."""
    asked = queries(count + _WARMING)
    began = time.perf_counter()
    memory.search(asked[0].text)
    first = time.perf_counter() - began
    for query in asked[1:_WARMING]:
        memory.search(query.text)
    taken: dict[str, list[float]] = defaultdict(list)
    for query in asked[_WARMING:]:
        began = time.perf_counter()
        memory.search(query.text)
        taken[query.form].append(time.perf_counter() - began)
    forms = {form: percentiles(seconds) for form, seconds in taken.items()}
    every = percentiles([second for seconds in taken.values() for second in seconds])
    return {"first_ms": first * 1000, **every, "forms": forms}


def percentiles(seconds: list[float]) -> dict[str, float]:
    """p50, p95 and p99 in milliseconds, and how many were measured."""
    values = np.percentile(np.array(seconds) * 1000, (50, 95, 99))
    return {"count": len(seconds)} | {f"p{p}_ms": float(v) for p, v in zip((50, 95, 99), values, strict=True)}


def main(arguments: list[str]) -> int:
    what, store, namespace, detail = arguments
    with recollect.open(store, namespace=namespace) as memory:
        if what == "import":
            measured: dict[str, object] = {**import_export(memory, Path(detail))}
        elif what == "append":
            measured = {**append(memory, int(detail))}
        else:
            measured = search(memory, int(detail))
    print(json.dumps(measured | {"peak_bytes": peak_memory()}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
