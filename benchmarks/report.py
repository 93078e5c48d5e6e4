"""Results as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from benchmarks.comparison import APART, BASELINES, SYSTEMS, Result
from benchmarks.metrics import CUTS, DEPTH, Figures
from benchmarks.speed import Speed
from benchmarks.tables import table

_MIB = 1024 * 1024

#: Where results go unless told otherwise.
RESULTS = Path(__file__).resolve().parent / "results"


def markdown(
    machine: Mapping[str, str | int],
    quality: Sequence[Result],
    speed: Sequence[Speed],
    notes: Iterable[str],
    sections: Mapping[str, str],
) -> str:
    """The whole report. `sections` are further tables by their headings."""
    parts = ["# Benchmarks", machine_line(machine), *notes]
    if quality:
        parts += ["## Retrieval", summary(quality), _EXPLAINED, *quality_tables(quality), *verdicts(quality)]
    for heading, text in sections.items():
        parts += [f"## {heading}", text]
    if speed:
        parts.append("## Speed")
        for engine, group in groupby(sorted(speed, key=lambda s: s.engine, reverse=True), key=lambda s: s.engine):
            parts += [f"### {engine}", speed_table(list(group))]
    return "\n\n".join(parts) + "\n"


_EXPLAINED = (
    "Percent of questions with an answering message (conversation) among the first k; nDCG counts all of them by rank. "
    "Every system gets the same messages and the questions as they were asked; in brackets the 95 % bootstrap interval "
    "over questions. The time is that of one ranking of messages, in memory for all but the product. k1 and b of BM25 "
    "over our terms are tuned on these very sets (`python -m benchmarks.hybrid`), as the product is."
)


def machine_line(machine: Mapping[str, str | int]) -> str:
    """One line about the machine."""
    return ", ".join(f"{name} {value}" for name, value in machine.items())


def quality_tables(results: Sequence[Result]) -> list[str]:
    """A table for each set and arrangement."""
    tables = []
    for (data, arrangement), group in groupby(results, key=lambda result: (result.data, result.arrangement)):
        rows = list(group)
        shown = "" if arrangement == APART else f", {arrangement}"
        tables.append(f"### {data}{shown} ({rows[0].messages.questions} questions)")
        columns = [*_columns("messages"), *_columns("conversations"), "p50 / p95"]
        tables.append(table(["", *columns], map(_quality_row, rows)))
    return tables


def summary(results: Sequence[Result]) -> str:
    """Recall@5 of messages with its interval: a row a set, a column a system."""
    rows: dict[tuple[str, str], dict[str, Result]] = {}
    for result in results:
        rows.setdefault((result.data, result.arrangement), {})[result.system] = result
    systems = [system for system in SYSTEMS if any(system in row for row in rows.values())]
    cells = [
        [data if arrangement == APART else f"{data}, {arrangement}", *(_five(row.get(system)) for system in systems)]
        for (data, arrangement), row in rows.items()
    ]
    return table(["R@5 of messages", *systems], cells)


def _five(result: Result | None) -> str:
    return f"{result.at_five.mean:.1f} [{result.at_five.low:.0f}-{result.at_five.high:.0f}]" if result else ""


def verdicts(results: Sequence[Result]) -> list[str]:
    """For each set and mode whether it stands above every baseline of its run, by recall@5 of messages."""
    lines = []
    for (data, arrangement), group in groupby(results, key=lambda result: (result.data, result.arrangement)):
        at_five = {result.system: result.messages.recall[5] for result in group}
        best = max(at_five[system] for system in BASELINES if system in at_five)
        for mode in (system for system in SYSTEMS if system in at_five and system not in BASELINES):
            above = at_five[mode] - best
            lines.append(f"- {data}, {arrangement}: {mode} {above:+.1f} points to the best baseline (recall@5)")
    return ["\n".join(lines)]


def speed_table(measured: Sequence[Speed]) -> str:
    """A row a quantity, a column a size."""
    return table(["", *map(_size, measured)], (
        ["import, messages/s", *(f"{s.import_rate:,.0f}" for s in measured)],
        ["import again, messages/s", *(f"{s.reimport_rate:,.0f}" for s in measured)],
        ["import, peak memory", *(f"{s.import_peak_bytes / _MIB:,.0f} MiB" for s in measured)],
        ["append, p50 / p95", *(f"{s.append['p50_ms']:.1f} / {s.append['p95_ms']:.1f} ms" for s in measured)],
        ["search warm, p50 / p95 / p99", *(_latency(s.search) for s in measured)],
        ["first search of a process", *(f"{s.search['first_ms']:.0f} ms" for s in measured)],
        ["search, peak memory", *(f"{s.search_peak_bytes / _MIB:,.0f} MiB" for s in measured)],
        ["`recollect search`, cold", *(_cold(s.cold_seconds) for s in measured)],
        ["store on disk", *(f"{s.store_bytes / _MIB:,.0f} MiB" for s in measured)],
        ["export read", *(f"{s.export_bytes / _MIB:,.1f} MiB" for s in measured)],
    ))  # fmt: skip


def _size(speed: Speed) -> str:
    beside = f", beside {speed.beside:,} in other namespaces" if speed.beside else ""
    return f"{speed.messages:,} messages{beside}"


def _latency(search: Mapping[str, float]) -> str:
    return f"{search['p50_ms']:.0f} / {search['p95_ms']:.0f} / {search['p99_ms']:.0f} ms"


def _cold(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds:.2f} s"


def _columns(of: str) -> list[str]:
    names = [*(f"R@{k}" for k in CUTS), f"nDCG@{DEPTH}"]
    return [f"{of} {names[0]}", *names[1:]]


def _quality_row(result: Result) -> list[str]:
    told = [*_told(result.messages), *_told(result.sessions), f"{result.p50_ms:.0f} / {result.p95_ms:.0f} ms"]
    told[CUTS.index(5)] += f" [{result.at_five.low:.0f}-{result.at_five.high:.0f}]"
    return [result.system, *told]


def _told(figures: Figures) -> list[str]:
    return [f"{value:.1f}" for value in (*figures.recall.values(), figures.ndcg)]
