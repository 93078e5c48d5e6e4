"""What facts and summaries would gain as candidates: messages that they lead to, raised by a weight, and the hits then.

python -m benchmarks.derived --sets locomo-dev,beam-dev

The product shows what was derived beside its results and ranks no message by it; this command says why.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.datasets import DataSet, sets_named
from benchmarks.intervals import mean_with_bounds
from benchmarks.prepared import Prepared, cache_folder
from benchmarks.tables import table

WEIGHTS = (0.5, 1.0, 2.0, 4.0)
_DEPTH = 50  # messages that may be raised into the first five
_FIRST = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: what was derived for it, whether that leads to its evidence, and whether this is among the first."""

    facts: int
    summaries: int
    leads: bool
    hits: tuple[bool, ...]  # without, and with each weight


def main(arguments: list[str]) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.derived", description=__doc__)
    parser.add_argument("--sets", default="locomo-dev,beam-dev,lifebench-en-dev,qmsum-dev,sample")
    sets, notes = sets_named([name.strip() for name in parser.parse_args(arguments).sets.split(",")])
    for line in notes:
        print(line, file=sys.stderr)
    rows = [_row(data.name, list(_asked(data))) for data in sets]
    columns = ["set", "questions", "with a fact", "with a summary", "leads to evidence", "H@5"]
    print(table([*columns, *(f"weight {weight:g}" for weight in WEIGHTS)], rows))
    return 0


def _asked(data: DataSet) -> Iterator[Asked]:
    prepared = Prepared(data, cache_folder() / "derived")
    for history in data.histories:
        with prepared.memory(history) as memory:
            memory.upkeep.consolidate()
            for question in history.questions:
                found = memory.search(question.text, group_by="message", limit=_DEPTH, mode="instant")
                led = {m.source_id: hit.score for hit in reversed(found.derived) for m in hit.messages}
                scored = [(hit.messages[0].message.source_id or "", hit.score) for hit in found]
                hits = []
                for weight in (0.0, *WEIGHTS):
                    ranked = sorted(scored, key=lambda pair: -(pair[1] + weight * led.get(pair[0], 0)))
                    hits.append(any(source_id in question.evidence for source_id, _ in ranked[:_FIRST]))
                yield Asked(
                    facts=sum(hit.kind == "fact" for hit in found.derived),
                    summaries=sum(hit.kind == "summary" for hit in found.derived),
                    leads=any(source_id in question.evidence for source_id in led),
                    hits=tuple(hits),
                )


def _row(name: str, asked: list[Asked]) -> list[str]:
    without = [100.0 * one.hits[0] for one in asked]
    gains = []
    for place in range(1, len(WEIGHTS) + 1):
        gain = mean_with_bounds([100.0 * (one.hits[place] - one.hits[0]) for one in asked])
        gains.append(f"{gain.mean:+.1f} [{gain.low:.1f}, {gain.high:.1f}]")
    shares = [
        100 * sum(map(bool, column)) / len(asked)
        for column in zip(*((o.facts, o.summaries, o.leads) for o in asked), strict=True)
    ]
    return [name, str(len(asked)), *(f"{share:.0f} %" for share in shares), f"{sum(without) / len(asked):.1f}", *gains]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
