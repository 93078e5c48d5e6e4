"""One measurement in a process of its own, so that its memory and start are its own: prints one JSON object.

python -m benchmarks.worker import STORE NAMESPACE EXPORT
python -m benchmarks.worker append|search|quality|context|fresh|vectors STORE NAMESPACE COUNT
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

import recollect
from benchmarks.machine import own_memory, peak_memory
from benchmarks.queries import queries
from benchmarks.wording import TOPICS, Writer, topic
from recollect import Memory
from recollect.engines import open_store
from recollect.memory import Handle
from recollect.models.embedding import TokenVectors
from recollect.models.embedding.base import Vectors
from recollect.models.embedding.static import StaticEmbedder

_CONVERSATIONS = 20  # that live messages go to
_WARMING = 20  # searches before the clock counts


def import_export(memory: Memory, export: Path) -> dict[str, float]:
    """Messages and seconds of an import."""
    began = time.perf_counter()
    marks = [(0.0, 0)]
    report = memory.import_file(export, progress=lambda p: marks.append((time.perf_counter() - began, p.messages)))
    seconds = time.perf_counter() - began
    first, last = _rate(marks, 0.0, 0.1), _rate(marks, 0.9, 1.0)
    return {
        "messages": report.stored.messages,
        "new": report.written.messages,
        "seconds": seconds,
        "first_tenth": first,
        "last_tenth": last,
    }


def _rate(marks: list[tuple[float, int]], start: float, end: float) -> float:
    """Messages a second between two shares of an import."""
    whole = marks[-1][1] or 1
    inside = [(seconds, done) for seconds, done in marks if start * whole <= done <= end * whole]
    if len(inside) < 2:
        return 0.0
    return (inside[-1][1] - inside[0][1]) / max(inside[-1][0] - inside[0][0], 1e-9)


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


def search(memory: Memory, count: int, mode: str = "instant") -> dict[str, object]:
    """Milliseconds of a search in a process that has searched before, in all and by form; of the first one, too."""
    asked = queries(count + _WARMING)
    began = time.perf_counter()
    memory.search(asked[0].text, mode=mode)
    first = time.perf_counter() - began
    for query in asked[1:_WARMING]:
        memory.search(query.text, mode=mode)
    taken: dict[str, list[float]] = defaultdict(list)
    for query in asked[_WARMING:]:
        began = time.perf_counter()
        memory.search(query.text, mode=mode)
        taken[query.form].append(time.perf_counter() - began)
    forms = {form: percentiles(seconds) for form, seconds in taken.items()}
    every = percentiles([second for seconds in taken.values() for second in seconds])
    return {"first_ms": first * 1000, **every, "forms": forms, "own_bytes": own_memory()}


def contexts(memory: Memory, count: int) -> dict[str, float]:
    """Milliseconds until a context is prepared: every other one in one of the conversations, the newest first."""
    asked = queries(count + _WARMING)
    known = [row.conversation.id for row in memory.conversations(limit=_CONVERSATIONS)]
    taken = []
    for number, query in enumerate(asked):
        within = known[number // 2 % len(known)] if number % 2 else None
        began = time.perf_counter()
        memory.prepare_context(query.text, within)
        taken.append(time.perf_counter() - began)
    return percentiles(taken[_WARMING:])


def fresh(memory: Memory, count: int) -> dict[str, float]:
    """Milliseconds of a search after somebody else has appended a message, and of the same one after nothing."""
    asked = queries(count + _WARMING)
    for query in asked[:_WARMING]:
        memory.search(query.text)
    after, again = [], []
    with recollect.open(memory.location, namespace=memory.namespace) as other:
        for number, query in enumerate(asked[_WARMING:]):
            other.store_message(f"A message that was not there before, number {number}.", conversation_id="live-fresh")
            for taken in (after, again):
                began = time.perf_counter()
                memory.search(query.text)
                taken.append(time.perf_counter() - began)
    slower = [a - b for a, b in zip(after, again, strict=True)]
    return {
        "after_append_ms": float(np.median(after)) * 1000,
        "again_ms": float(np.median(again)) * 1000,
        "slower_p50_ms": float(np.median(slower)) * 1000,
        "slower_p95_ms": float(np.percentile(slower, 95)) * 1000,
    }


def vectors(memory: Memory, count: int) -> dict[str, float]:
    """Made-up quality vectors for so many messages: real ones would take an hour for 100,000."""
    with Memory(Handle(open_store(memory.location), StaticEmbedder(), memory.namespace, quality=MadeUp)) as own:
        made = own.upkeep.embed(limit=count)
    return {"made": made}


class MadeUp:
    """Vectors as MiniLM's in size, in no time: the pieces are real, the directions follow from them."""

    name, dimensions = "made-up", 384

    def embed_with_tokens(self, texts: Sequence[str], *, max_tokens: int) -> tuple[Vectors, list[TokenVectors]]:
        """A unit row a text, and token vectors of its word pieces."""
        tokens = [self._tokens(text, max_tokens) for text in texts]
        rows = np.stack([_direction(own.ids, 384) for own in tokens])
        return rows, tokens

    def _tokens(self, text: str, most: int) -> TokenVectors:
        ids = np.array([crc32(word.encode()) % 30_000 for word in text.lower().split()[:most]] or [0], np.uint16)
        return TokenVectors(ids, np.rint(_DIRECTIONS[ids.astype(np.int64) % len(_DIRECTIONS)] * 127).astype(np.int8))


_DIRECTIONS = np.random.default_rng(1).normal(size=(4096, 128)).astype(np.float32)
_DIRECTIONS /= np.linalg.norm(_DIRECTIONS, axis=1, keepdims=True)


def _direction(ids: NDArray[np.uint16], size: int) -> Vectors:
    row = np.tile(_DIRECTIONS[ids.astype(np.int64) % len(_DIRECTIONS)].sum(axis=0), size // 128)
    return np.asarray(row / max(float(np.linalg.norm(row)), 1e-9), np.float32)


def percentiles(seconds: list[float]) -> dict[str, float]:
    """p50, p95 and p99 in milliseconds, and how many were measured."""
    values = np.percentile(np.array(seconds) * 1000, (50, 95, 99))
    measured = {f"p{p}_ms": float(v) for p, v in zip((50, 95, 99), values, strict=True)}
    return {"count": len(seconds), **measured, "max_ms": max(seconds) * 1000}


def main(arguments: list[str]) -> int:
    what, store, namespace, detail = arguments
    with recollect.open(store, namespace=namespace) as memory:
        if what == "import":
            measured: dict[str, object] = {**import_export(memory, Path(detail))}
        elif what == "append":
            measured = {**append(memory, int(detail))}
        elif what == "context":
            measured = {**contexts(memory, int(detail))}
        elif what == "fresh":
            measured = {**fresh(memory, int(detail))}
        elif what == "vectors":
            measured = {**vectors(memory, int(detail))}
        else:
            measured = search(memory, int(detail), mode="quality" if what == "quality" else "instant")
    print(json.dumps(measured | {"peak_bytes": peak_memory()}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
