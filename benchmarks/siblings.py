"""How long an append takes beside many regenerated answers: `python -m benchmarks.siblings [--store ADDRESS]`.

One question gets the given numbers of answers, in batches; then single ones are timed, durable each: another answer to
it, and a message that goes on from the newest. Prints the median and the 95th percentile in milliseconds.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import recollect
from recollect.record import new_id

_TIMED = 100
_BATCH = 100


def main() -> None:
    """Measures each number of siblings, one after the other, in one conversation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", help="a server or a file; a temporary file without it")
    parser.add_argument("--siblings", type=int, nargs="+", default=[100, 1_000, 5_000])
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(chosen.store or Path(folder) / "memory.db", chosen.siblings)


def measure(place: str | Path, numbers: Sequence[int]) -> None:
    """Prints a line for each number."""
    with recollect.open(place, namespace=f"siblings-{new_id().lower()}", background=False) as memory:
        question = memory.store_message("Which bread keeps longest?", conversation_id=new_id())
        there = 0
        for number in sorted(numbers):
            while there < number:
                size = min(_BATCH, number - there)
                memory.store_messages(
                    [
                        {"content": f"Rye does, answer {there + at}.", "role": "assistant", "parent_id": question.id}
                        for at in range(size)
                    ],
                    conversation_id=question.conversation_id,
                )
                there += size
            again, further = [], []
            for at in range(_TIMED):
                began = time.perf_counter()
                memory.store_message(
                    f"Or spelt, {number} {at}.", "assistant",
                    conversation_id=question.conversation_id, parent_id=question.id,
                )  # fmt: skip
                middle = time.perf_counter()
                memory.store_message(f"And why, {number} {at}?", conversation_id=question.conversation_id)
                further.append(time.perf_counter() - middle)
                again.append(middle - began)
            there += _TIMED
            print(f"{number:6,} answers: another {_told(again)}, what follows {_told(further)}", flush=True)


def _told(times: Sequence[float]) -> str:
    ms = sorted(one * 1000 for one in times)
    return f"{statistics.median(ms):.1f} ms (95 %: {ms[int(len(ms) * 0.95)]:.1f})"


if __name__ == "__main__":
    main()
