"""Measures and writes latest.json, latest.md and plot.svg.

python -m benchmarks.run [quality|speed|all] [--store neo4j] [--out DIR] [--quick]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from benchmarks import comparison, speed
from benchmarks.datasets import all_sets
from benchmarks.engines import Engine, engines
from benchmarks.machine import machine
from benchmarks.plot import svg
from benchmarks.report import machine_line, markdown

RESULTS = Path(__file__).resolve().parent / "results"


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    began = time.monotonic()

    def say(line: str) -> None:
        print(f"[{time.monotonic() - began:5.0f} s] {line}", file=sys.stderr, flush=True)

    where = machine()
    say(machine_line(where))
    with engines(options.store) as measured:
        qualities, notes = _quality(measured, options.quick, say) if options.what != "speed" else ([], [])
        sizes = speed.QUICK_SIZES if options.quick else speed.SIZES
        speeds = speed.measure(sizes, measured, say) if options.what != "quality" else []

    report = markdown(where, qualities, speeds, notes)
    everything = {
        "machine": where,
        "notes": notes,
        "quality": [result.to_json() for result in qualities],
        "speed": [measured.to_json() for measured in speeds],
    }
    _write(options.out, report, json.dumps(everything, indent=1), svg(qualities, speeds))
    print(report)
    print(f"Written to {options.out}: latest.json, latest.md, plot.svg", file=sys.stderr)
    return 0


def _quality(measured: list[Engine], quick: bool, say: comparison.Say) -> tuple[list[comparison.Result], list[str]]:
    sets, missing = all_sets()
    for line in missing:
        say(line)
    if quick:
        sets = [data.head(histories=1, questions=40) for data in sets]
        missing = [*missing, "A quick run: the first history of each set, 40 questions at most."]
    return comparison.measure(sets, measured, say), missing


def _write(folder: Path, report: str, results: str, picture: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "latest.md").write_text(report, encoding="utf-8")
    (folder / "latest.json").write_text(results + "\n", encoding="utf-8")
    (folder / "plot.svg").write_text(picture, encoding="utf-8")


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.run", description="Measures quality and speed.")
    parser.add_argument("what", nargs="?", choices=("quality", "speed", "all"), default="all")
    parser.add_argument("--store", choices=("sqlite", "neo4j"), default="sqlite", help="neo4j: that one as well")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go")
    parser.add_argument("--quick", action="store_true", help="a look in two minutes, not the figures")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
