"""A million messages on SQLite: import, search, contexts, append and cold start, each in a process of its own.

python -m benchmarks.million [MESSAGES] [--export FILE] [--out DIR]      (half an hour and 8 GB on disk)
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.engines import SQLite
from benchmarks.generator import write_openai
from benchmarks.machine import machine
from benchmarks.report import RESULTS, machine_line
from benchmarks.speed import cold_search, worker

_SEARCHES, _APPENDS, _FRESH = 280, 520, 60
_QUALITY = 100_000
_MIB = 1 << 20


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    began = time.monotonic()

    def say(line: str) -> None:
        print(f"[{time.monotonic() - began:5.0f} s] {line}", file=sys.stderr, flush=True)

    where = machine()
    say(machine_line(where))
    with TemporaryDirectory(prefix="recollect-million-") as scratch:
        whole = measure(options.messages, Path(scratch) / "all", say, options.export)
        quality = measure_quality(min(_QUALITY, options.messages), Path(scratch) / "quality", say)
    report = markdown(whole, quality) + f"\n{machine_line(where)}\n"
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "million.md").write_text(report, encoding="utf-8")
    results = {"machine": where, "million": whole, "quality": quality}
    (options.out / "million.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(report)
    return 0


def measure(messages: int, folder: Path, say: Any, made: Path | None = None) -> dict[str, Any]:
    """Everything at this size. `made` is what `benchmarks.generator` has written for so many messages, if it has."""
    store, export = _prepared(messages, folder, say, made)
    say("importing")
    imported = worker("import", store, export)
    if imported["messages"] < messages:
        raise RuntimeError(f"Of {messages:,} messages {imported['messages']:,} are in.")
    say(f"{json.dumps(imported)}; searching")  # as it comes: the whole may be stopped before its end
    searched = worker("search", store, _SEARCHES)
    say(f"{json.dumps(searched)}; preparing contexts")
    context = worker("context", store, _SEARCHES)
    say(f"{json.dumps(context)}; searching beside another process that appends")
    fresh = worker("fresh", store, _FRESH)
    say(f"{json.dumps(fresh)}; starting cold")
    cold = cold_search(store, folder)
    say(f"{cold:.2f} s; appending")
    appended = worker("append", store, _APPENDS)
    say(json.dumps(appended))
    return {
        "messages": messages,
        "import": {**imported, "rate": messages / imported["seconds"]},
        "search": searched,
        "context": context,
        "fresh": fresh,
        "cold_seconds": cold,
        "append": appended,
        "database_bytes": _bytes(folder, "memory.db", "memory.db-wal"),
        "index_bytes": sum(f.stat().st_size for f in folder.glob("memory.db-index/**/*") if f.is_file()),
    }


def measure_quality(messages: int, folder: Path, say: Any) -> dict[str, Any]:
    """The quality mode, with made-up vectors: what it costs, not how good it is."""
    store, export = _prepared(messages, folder, say)
    worker("import", store, export)
    say(f"quality vectors for {messages:,} messages")
    made = worker("vectors", store, messages)
    return {"messages": messages, "made": made["made"], "search": worker("quality", store, _SEARCHES)}


def markdown(whole: dict[str, Any], quality: dict[str, Any]) -> str:
    """The table for the README."""
    search, context, fresh = whole["search"], whole["context"], whole["fresh"]
    append, imported = whole["append"], whole["import"]
    rows = [
        ("import, messages a second", f"{imported['rate']:,.0f}"),
        ("of the first and the last tenth", f"{imported['first_tenth']:,.0f}, {imported['last_tenth']:,.0f}"),
        ("import, most memory", f"{imported['peak_bytes'] / _MIB:,.0f} MiB"),
        ("a warm search, p50 / p95", f"{search['p50_ms']:.0f} / {search['p95_ms']:.0f} ms"),
        ("a context of 10,000 tokens, p50 / p95", f"{context['p50_ms']:.0f} / {context['p95_ms']:.0f} ms"),
        ("the first search after another process has appended, slower by", f"{fresh['slower_p50_ms']:.0f} ms"),
        ("a searching process, memory of its own", f"{search['own_bytes'] / _MIB:,.0f} MiB"),
        ("a live message, p50 / p95 / slowest",
         f"{append['p50_ms']:.1f} / {append['p95_ms']:.1f} / {append['max_ms']:.0f} ms"),
        ("`recollect search` from a shell", f"{whole['cold_seconds']:.2f} s"),
        ("database, and mapped index beside it",
         f"{whole['database_bytes'] / _MIB:,.0f} MiB, {whole['index_bytes'] / _MIB:,.0f} MiB"),
        (f"quality mode at {quality['messages']:,}, p50 / p95",
         f"{quality['search']['p50_ms']:.0f} / {quality['search']['p95_ms']:.0f} ms"),
    ]  # fmt: skip
    lines = [f"| SQLite, {whole['messages']:,} messages | |", "| --- | ---: |"]
    return "\n".join([*lines, *(f"| {name} | {value} |" for name, value in rows)]) + "\n"


def _prepared(messages: int, folder: Path, say: Any, made: Path | None = None) -> tuple[tuple[str, str], Path]:
    folder.mkdir(parents=True)
    if made is not None:
        return (SQLite().place(folder), "default"), made
    export = folder / "export.jsonl"
    say(f"generating {messages:,} messages")
    write_openai(export, messages)
    return (SQLite().place(folder), "default"), export


def _bytes(folder: Path, *names: str) -> int:
    return sum((folder / name).stat().st_size for name in names if (folder / name).exists())


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.million", description="Measures a million messages.")
    parser.add_argument("messages", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--export", type=Path, help="made before: python -m benchmarks.generator 1000000 FILE")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
