"""What each mode costs, on the sample archive: time to prepare, bytes on disk, time of a search.

python -m benchmarks.cost
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.convert import write_openai
from benchmarks.datasets import own_set
from benchmarks.engines import SQLite
from benchmarks.tables import table
from recollect.engines import open_store
from recollect.memory import Handle, Memory
from recollect.models.embedding.encoder import MiniLM
from recollect.models.embedding.static import StaticEmbedder

_WARMING = 20  # searches before the clock counts


@dataclass(frozen=True, slots=True)
class Cost:
    """What a mode takes: messages a second to prepare, bytes a message, milliseconds a search."""

    mode: str
    rate: float
    bytes_a_message: float
    p50_ms: float
    p95_ms: float

    def to_json(self) -> dict[str, object]:
        """As in the results file."""
        figures = {name: round(getattr(self, name), 1) for name in ("rate", "bytes_a_message", "p50_ms", "p95_ms")}
        return {"mode": self.mode, **figures}


def measure() -> list[Cost]:
    """Both modes; the second one's preparation and bytes come on top of the first one's."""
    (history,) = own_set().histories
    engine, count = SQLite(), len(history.messages)
    questions = [question.text for question in history.questions]
    with TemporaryDirectory(prefix="recollect-bench-") as made:
        folder = Path(made)
        write_openai(history.sessions, folder / "export.jsonl")
        with Memory(Handle(open_store(engine.place(folder)), StaticEmbedder(), quality=MiniLM)) as memory:
            imported, size = _seconds(lambda: memory.import_file(folder / "export.jsonl")), engine.bytes_on_disk(folder)
            instant = Cost("instant", count / imported, size / count, *_search_times(memory, questions, "instant"))
            embedded, more = _seconds(memory.upkeep.embed), engine.bytes_on_disk(folder) - size
            quality = Cost("quality", count / embedded, more / count, *_search_times(memory, questions, "quality"))
    return [instant, quality]


def cost_table(costs: list[Cost]) -> str:
    """A row a mode."""
    rows = [
        [c.mode, f"{c.rate:,.0f}", f"{c.bytes_a_message / 1024:.1f} KiB", f"{c.p50_ms:.0f} / {c.p95_ms:.0f} ms"]
        for c in costs
    ]
    return table(["mode", "prepared, messages/s", "on disk a message", "search, p50 / p95"], rows)


def _search_times(memory: Memory, questions: list[str], mode: str) -> tuple[float, float]:
    for text in questions[:_WARMING]:
        memory.search(text, mode=mode)
    taken = [1000 * _seconds(partial(memory.search, text, mode=mode)) for text in questions]
    p50, p95 = np.percentile(taken, (50, 95))
    return float(p50), float(p95)


def _seconds(what: Callable[[], object]) -> float:
    began = time.perf_counter()
    what()
    return time.perf_counter() - began


if __name__ == "__main__":
    print(cost_table(measure()))
    sys.exit(0)
