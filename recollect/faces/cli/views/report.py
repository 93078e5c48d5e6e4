"""What an import says at its end: what is in, by kind, counted in the store; what is new; what was not read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from recollect.faces.cli.terminal.output import Output, harmless
from recollect.faces.present.indexed import index_state, is_complete, is_missing, quality_state
from recollect.faces.present.times import number, span
from recollect.importers.base import Problem
from recollect.ingest.importing import ImportReport
from recollect.record import utc_now
from recollect.store import Counts, IndexInfo

_SHOWN = 3
_KEPT = " kept"  # in a note: it is in, though it is not known what it is
_PLURAL = re.compile(r"\b(?:files|entries|lines|sessions|conversations|messages|blocks|parts)\b")
#: A note on lines of a session that say nothing, by their type.
_WORDLESS = re.compile(r"(?P<lines>.+ lines) of type (?P<type>\S+), without words( of their own)?")
_ONE = {"entries": "entry"}


def print_report(
    report: ImportReport,
    namespace: Counts,
    index: IndexInfo,
    out: Output,
    *,
    all_problems: bool,
    background: bool = False,
) -> None:
    """Prints the report, with the first problems or all; `namespace` is all that is in the namespace now, and `index`
    what search reads. `background` says that a worker makes the rest.
    """
    dot, stored, written = f" {out.symbols.dot} ", report.stored, report.written
    for source in report.sources:
        out.line(dot.join([f"{source.label}", number(source.files, "file"), Path(source.container).name]))
    if report.nothing:
        print_problems(report.problems, out, all_problems=all_problems)
        return
    when = span(stored.first, stored.last, utc_now(), out.symbols.dash)
    counted = ", ".join(_counted(report)) + (dot + when if when else "")
    if report.nothing_new:
        before = f" Stored before: {counted}" if stored.conversations else ""
        out.line(f"{out.bold('Nothing new.')}{before}")
    else:
        out.line(out.bold("Imported ") + counted)
    out.line(f"  {written.new:,} new{dot}{written.changed:,} changed{dot}{written.same:,} unchanged")
    out.line(f"  {dot.join(_findable(namespace, index, out, background=background))}")
    if report.forgotten:
        left_out = f"{number(report.forgotten, 'conversation')} that you forgot"
        them = "it" if report.forgotten == 1 else "them"
        out.line(f"  left out: {left_out} ({out.hint('recollect import --again PATH')} brings {them} back)")
    if report.apart:
        kept = number(report.apart, "conversation")
        out.line(out.dim(f"  kept apart: {kept} with the ID or the beginning of another conversation"))
    notes = {what: count for what, count in report.notes.items() if count}
    for words, some in (
        ("skipped", _in_brief({what: count for what, count in notes.items() if _KEPT not in what})),
        ("unknown", [_noted(what, count) for what, count in notes.items() if _KEPT in what]),
    ):
        if some:
            out.line(out.dim(f"  {words}: {', '.join(some)}"))
    print_problems(report.problems, out, all_problems=all_problems)


def _findable(namespace: Counts, index: IndexInfo, out: Output, *, background: bool) -> list[str]:
    """How far what is in can be searched, and what does the rest."""
    if is_missing(index, namespace.messages):
        state = index_state(index, namespace.messages)
        return [f"search index: {state}", f"search uses keywords alone ({out.hint('recollect reindex')})"]
    step = "being built in the background" if background else out.hint("recollect embed")
    return ["searchable now", quality_state(namespace) + ("" if is_complete(namespace) else f" ({step})")]


def print_problems(problems: Sequence[Problem], out: Output, *, all_problems: bool) -> None:
    """Prints what could not be read, or only in part: the first few, or all."""
    for words, some in (
        ("Not read", [p for p in problems if p.lost]),
        ("Partly read", [p for p in problems if not p.lost]),
    ):
        if not some:
            continue
        out.line(f"{words} ({len(some):,}):")
        shown = some if all_problems else some[:_SHOWN]
        for problem in shown:
            out.line(harmless(f"  {problem.place}   {problem.reason}"))
        if len(shown) < len(some):
            rest = f"{len(some) - len(shown):,} more"
            out.line(f"  {out.symbols.more} and {rest}: {out.hint('recollect import --problems')}")


def _in_brief(notes: Mapping[str, int]) -> list[str]:
    """The notes in words, lines without words counted together: "15 Codex lines without words (12 x, 3 y)"."""
    types: dict[str, list[tuple[int, str]]] = {}
    told = []
    for what, count in notes.items():
        if found := _WORDLESS.fullmatch(what):
            types.setdefault(found["lines"], []).append((count, found["type"]))
        else:
            told.append(_noted(what, count))
    for lines, counts in types.items():
        each = ", ".join(f"{count:,} {name}" for count, name in sorted(counts, key=lambda pair: (-pair[0], pair[1])))
        told.append(f"{_noted(lines, sum(count for count, _ in counts))} without words ({each})")
    return told


def _noted(what: str, count: int) -> str:
    """As in "2 other files", "1 entry without messages"."""
    if count == 1:
        what = _PLURAL.sub(lambda found: _ONE.get(found[0], found[0][:-1]), what, count=1)
    return f"{count:,} {what}"


def _counted(report: ImportReport) -> list[str]:
    """What is in, by kind, each as it was read back; kinds of which there is nothing are left out."""
    stored = report.stored
    branches, calls = stored.messages - stored.active, stored.tool_calls
    beside = [
        f"{branches:,} on other branches" if branches else "",
        number(calls, "tool call") if calls else "",
    ]
    messages = number(stored.messages, "message")
    if any(beside):
        messages += f" ({', '.join(part for part in beside if part)})"
    parts = [number(stored.conversations, "conversation"), messages]
    if stored.attachments:
        parts.append(f"{number(stored.attachments, 'attachment')} named")
    if report.documents:
        parts.append(number(report.documents, "document"))
    return parts
