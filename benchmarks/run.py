"""Measures and writes latest.json, latest.md and plot.svg.

python -m benchmarks.run [quality|speed|soak|all] [--sets NAMES] [--store neo4j] [--out DIR] [--quick]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import comparison, cost, soak, speed, typed
from benchmarks.datasets import ALL_NAMES, PUBLIC, sets_named
from benchmarks.engines import Engine, engines
from benchmarks.machine import machine
from benchmarks.plot import svg
from benchmarks.report import RESULTS, machine_line, markdown


@dataclass(frozen=True, slots=True)
class Quality:
    """All that is measured of quality: tables to be printed, and what they show."""

    results: list[comparison.Result] = field(default_factory=list)
    costs: list[cost.Cost] = field(default_factory=list)
    sections: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    began = time.monotonic()

    def say(line: str) -> None:
        print(f"[{time.monotonic() - began:5.0f} s] {line}", file=sys.stderr, flush=True)

    where = machine()
    say(machine_line(where))
    with engines(options.store) as measured:
        quality = _quality(measured, options, say) if options.what in ("quality", "all") else Quality()
        sizes = speed.QUICK_SIZES if options.quick else speed.SIZES
        speeds = speed.measure(sizes, measured, say) if options.what in ("speed", "all") else []
    if options.what in ("soak", "all"):
        say("one conversation, turn after turn")
        points = soak.measure(soak.TURNS // 20 if options.quick else soak.TURNS, say)
        quality.sections["One conversation, turn after turn"] = soak.report(points)
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "soak.svg").write_text(soak.picture(points), encoding="utf-8")

    report = markdown(where, quality.results, speeds, quality.notes, quality.sections)
    everything = {
        "machine": where,
        "notes": quality.notes,
        "quality": [result.to_json() for result in quality.results],
        "cost": [costs.to_json() for costs in quality.costs],
        "speed": [measured.to_json() for measured in speeds],
    }
    _write(options.out, report, json.dumps(everything, indent=1), svg(quality.results, speeds))
    print(report)
    print(f"Written to {options.out}: latest.json, latest.md, plot.svg", file=sys.stderr)
    return 0


def _quality(measured: list[Engine], options: argparse.Namespace, say: comparison.Say) -> Quality:
    sets, notes = sets_named(options.sets, options.data)
    for line in notes:
        say(line)
    if options.quick:
        sets = [data.head(histories=1, questions=40) for data in sets]
        notes = [*notes, "A quick run: the first history of each set, 40 questions at most."]
    results = comparison.measure(sets, measured, say, together=options.together, quality=not options.instant)
    say("typed searches, cost")
    modes = ("instant",) if options.instant else ("instant", "quality")
    sections = {f"Typed searches, {mode} mode": typed.report(typed.outcomes(mode)) for mode in modes}
    costs = cost.measure() if not options.instant else []
    if costs:
        sections["Cost, on the sample"] = cost.cost_table(costs)
    return Quality(results, costs, sections, notes)


def _write(folder: Path, report: str, results: str, picture: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "latest.md").write_text(report, encoding="utf-8")
    (folder / "latest.json").write_text(results + "\n", encoding="utf-8")
    (folder / "plot.svg").write_text(picture, encoding="utf-8")


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.run", description="Measures quality and speed.")
    parser.add_argument("what", nargs="?", choices=("quality", "speed", "soak", "all"), default="all")
    parser.add_argument("--sets", type=lambda text: text.split(","), default=ALL_NAMES, help=", ".join(ALL_NAMES))
    parser.add_argument("--data", type=Path, default=PUBLIC, help="the folder with the public sets")
    parser.add_argument("--instant", action="store_true", help="without the quality mode and systems with MiniLM")
    parser.add_argument("--together", action="store_true", help="each set as one archive, too")
    parser.add_argument("--store", choices=("sqlite", "neo4j"), default="sqlite", help="neo4j: that one as well")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go")
    parser.add_argument("--quick", action="store_true", help="a look in some minutes, not the figures")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
