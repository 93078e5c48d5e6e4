"""Documents on the screen: what an import of them did, the ones that a search found, and one of them to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import ImportProblem
from recollect.faces.cli.terminal.layout import marked_lines
from recollect.faces.cli.terminal.output import Output, harmless
from recollect.faces.cli.terminal.session import Invocation
from recollect.faces.present.names import source_label
from recollect.faces.present.times import day, number
from recollect.record import Document, iso

if TYPE_CHECKING:
    from recollect.faces.present.state import LastDocument
    from recollect.ingest.documents.importing import DocumentReport

_INDENT = "     "
_NARROW = 24  # an excerpt gets no less
_WIDEST = 100  # longer lines of prose are hard to read
_AROUND = 20  # lines of a file before and after the place that was found
_SHOWN = 10  # names of files that are gone


def import_documents(session: Invocation, paths: Sequence[str], *, all_problems: bool, again: bool) -> int:
    """`recollect import --documents`. Raises ImportProblem where nothing can be read."""
    from recollect.faces.cli.terminal.progress import on_interrupt, progress
    from recollect.record import utc_now

    with (
        on_interrupt("What was imported is saved; run it again to continue."),
        progress(session.out, "Reading") as told,
    ):
        report = session.memory().import_documents(
            *paths, again=again, progress=lambda p: told(p.done, p.total, harmless(p.name))
        )
    session.state.remember_import(utc_now(), report.problems)
    if report.nothing:
        reasons = "; ".join(f"{p.place}: {p.reason}" for p in report.problems[:3])
        raise ImportProblem(
            "No document was imported" + (f": {reasons}." if reasons else "."),
            hint="Text, Markdown, HTML and PDF files are read. recollect import --problems lists why one was not.",
        )
    if session.json:
        session.out.document(_report_as_json(report))
    else:
        _print_report(report, session.out, all_problems=all_problems)
    named = {Path(path).expanduser().name for path in paths if Path(path).expanduser().is_file()}
    return 1 if any(problem.lost and problem.place in named for problem in report.problems) else 0


def _print_report(report: DocumentReport, out: Output, *, all_problems: bool) -> None:
    from recollect.faces.cli.views.report import print_problems

    dot = f" {out.symbols.dot} "
    if report.stored and not (report.new or report.changed or report.forgotten):
        out.line(f"{out.bold('Nothing new.')} Stored before: {number(report.stored, 'document')}")
    else:
        out.line(out.bold("Imported ") + number(report.stored, "document"))
    out.line(f"  {report.new:,} new{dot}{report.changed:,} changed{dot}{report.unchanged:,} unchanged")
    if report.forgotten:
        back = out.hint("recollect import --documents --again PATH")
        them = "it" if report.forgotten == 1 else "them"
        out.line(f"  left out: {number(report.forgotten, 'document')} that you forgot ({back} brings {them} back)")
    if report.removed:
        names = ", ".join(harmless(name) for name in report.removed[:_SHOWN])
        more = f" {out.symbols.more}" if len(report.removed) > _SHOWN else ""
        out.line(f"  no longer files, still found: {names}{more} ({out.hint('recollect forget NAME')} removes one)")
    if others := report.notes.get("other files"):
        out.line(out.dim(f"  skipped: {number(others, 'other file')}"))
    print_problems(report.problems, out, all_problems=all_problems)
    out.line(out.hint(f'Next: recollect search "{out.symbols.more}"'))


def _report_as_json(report: DocumentReport) -> dict[str, Any]:
    return {
        "stored": report.stored,
        "written": {"new": report.new, "changed": report.changed, "same": report.unchanged},
        "forgotten": report.forgotten,
        "removed": report.removed,
        "problems": [{"place": p.place, "reason": p.reason, "lost": p.lost} for p in report.problems],
        "notes": dict(report.notes),
    }


def document_lines(document: Document, found: LastDocument | None, out: Output, context: int | None) -> Iterator[str]:
    """A document to read: whole, or so many lines around the place that was found, its words marked."""
    from recollect.record.tree import place_in
    from recollect.search.results.snippet import marking, marks_in
    from recollect.text.terms import terms

    dot = f" {out.symbols.dot} "
    yield dot.join([out.bold(harmless(document.title)), source_label(document.source), day(document.created)])
    text, after = document.content, ""
    if found is not None:
        start, end = _lines_around(text, found.at, _AROUND if context is None else context)
        yield out.dim(str(place_in(document, found.at)))
        after = f"{out.symbols.more} ({len(text):,} characters: --full)" if end - start < len(text) else ""
        text = text[start:end]
    yield ""
    text = harmless(text.rstrip())
    said = " ".join(found.words) if found is not None else ""
    wanted, numbers = marking(said, terms(said))
    width = None if out.width is None else min(out.width, _WIDEST)
    for _, line in marked_lines(text, marks_in(text, wanted, numbers), width, out):
        yield line
    if after:
        yield out.dim(after)


def _lines_around(text: str, at: int, lines: int) -> tuple[int, int]:
    start, end = at, at
    for _ in range(lines + 1):
        start = text.rfind("\n", 0, max(start - 1, 0)) + 1 if start else 0
        end = text.find("\n", end + 1) if end >= 0 else -1
    return start, end if end >= 0 else len(text)


def document_as_json(document: Document, found: LastDocument | None) -> dict[str, Any]:
    """The document of `show --json`."""
    from recollect.record.tree import place_in

    place = place_in(document, found.at if found else 0)
    return {
        "document": {
            "id": document.id,
            "title": document.title,
            "source": document.source,
            "path": document.metadata.get("path"),
            "created": iso(document.created),
            "versions": len(document.versions),
        },
        "at": found.at if found else None,
        "page": place.page if found else None,
        "heading": place.heading if found else "",
        "line": place.line if found else None,
        "text": document.content,
    }
