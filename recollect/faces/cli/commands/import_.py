"""`recollect import`: reads exports, and reports what was imported."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import ImportProblem, InvalidInput
from recollect.faces.cli.parser import Command, Option, Words
from recollect.faces.cli.terminal.options import NO_BACKGROUND
from recollect.faces.cli.terminal.session import Session
from recollect.faces.present.pausing import pause_words

if TYPE_CHECKING:
    from recollect.importers.found import Found
    from recollect.ingest.importing import ImportReport


def import_(
    session: Session,
    paths: list[str] | None = None,
    format: str | None = None,
    problems: bool = False,
    describe: str | None = None,
    found: bool = False,
    documents: bool = False,
    again: bool = False,
    no_background: bool = False,
) -> int:
    """Import your history from ChatGPT, Claude, Claude Code, Codex …

    PATH is a file, a folder or a zip; the format is detected. Importing the same export again changes nothing, and a
    newer one adds what is new. If an import is interrupted, run it again. What you removed with `recollect forget`
    stays away unless you add --again. Without PATH it lists what it finds on this machine;
    --found imports that, without what you keep out (the setting leave_out, marked sessions, pauses).

    With --documents the files are text, Markdown, HTML or PDF, and searches find them beside your messages.

    Afterwards a process of low priority builds the quality mode, summaries and facts in the background, and ends.
    """
    if no_background:
        session.without_background()
    if documents:
        if found or format is not None or not paths:
            raise InvalidInput("--documents takes paths alone.", hint="As in: recollect import --documents notes/")
        from recollect.faces.cli.views.documents import import_documents

        return import_documents(session, paths, all_problems=problems, again=again)
    if describe is not None:
        return _describe(session, Path(describe).expanduser())
    if found:
        if paths:
            raise InvalidInput("--found cannot be combined with paths.", hint="Leave out one of them.")
        if words := pause_words():
            raise ImportProblem(f"Nothing was imported. {words}", hint="To go on: recollect resume")
        return _import(session, _found_paths(session), format, problems, again=again, found=True)
    if paths:
        if "" in map(str.strip, paths):
            raise InvalidInput("A path is empty.", hint="Is a variable not set? Name a file or folder.")
        return _import(session, paths, format, problems, again=again)
    return _last_problems(session) if problems else _what_is_found(session)


def _import(
    session: Session,
    paths: Sequence[str],
    format_name: str | None,
    all_problems: bool,
    *,
    again: bool,
    found: bool = False,
) -> int:
    from recollect.faces.cli.views.report import print_report
    from recollect.faces.present.imports import report_as_json
    from recollect.record import utc_now

    report = _run(session, paths, format_name, again=again, found=found)
    session.state.remember_import(utc_now(), report.problems)
    if session.json and not report.nothing:
        session.out.document(report_as_json(report, session.memory().upkeep.stats()))
    elif not session.json:
        memory, background = session.memory(), session.leaves_worker
        counts, index = memory.upkeep.stats(), memory.upkeep.index()
        print_report(report, counts, index, session.out, all_problems=all_problems, background=background)
        if not report.nothing:
            _tell_what_it_will_cost(session)
            session.out.line(session.out.hint(f'Next: recollect search "{session.out.symbols.more}"'))
    if report.nothing:
        reasons = "; ".join(f"{p.place}: {p.reason}" for p in report.problems[:3])
        raise ImportProblem(
            "Nothing was imported" + (f": {reasons}." if reasons else "."),
            hint="recollect import --problems lists why.",
        )
    named = {str(Path(path).expanduser()) for path in paths}
    return 1 if any(problem.lost and problem.place in named for problem in report.problems) else 0


def _tell_what_it_will_cost(session: Session) -> None:
    """Where a language model is set for what follows in the background."""
    if session.settings.background_model and session.leaves_worker:
        from recollect.faces.cli.views.backlog import tell_backlog

        tell_backlog(session, session.memory(), [session.memory().namespace])


def _run(session: Session, paths: Sequence[str], format_name: str | None, *, again: bool, found: bool) -> ImportReport:
    from recollect.faces.cli.terminal.progress import on_interrupt, progress
    from recollect.faces.present.times import number
    from recollect.ingest.importing import Progress
    from recollect.watching.keeping_out import KeepingOut

    with (
        on_interrupt("What was imported is saved; run it again to continue."),
        progress(session.out, "Reading") as report,
    ):

        def told(p: Progress) -> None:
            words = f"{number(p.conversations, 'conversation')}   {number(p.messages, 'message')}"
            report(p.read, p.total, words)

        wanted = KeepingOut.own(session.settings.leave_out) if found else None
        return session.memory().import_file(*paths, format=format_name, again=again, progress=told, wanted=wanted)


def _found_here() -> list[Found]:
    from recollect.importers.found import found_on_this_machine

    return found_on_this_machine(Path.home(), os.environ)


def _found_paths(session: Session) -> list[str]:
    found = _found_here()
    if not found:
        raise ImportProblem(
            "Nothing to import was found on this machine.", hint="To import something else: recollect import PATH"
        )
    return [str(one.path) for one in found]


def _what_is_found(session: Session) -> int:
    from recollect.faces.cli.terminal.typed import typed
    from recollect.faces.cli.terminal.wrapping import cell_len
    from recollect.faces.present.found import found_as_json
    from recollect.faces.present.times import day, number

    out, found = session.out, _found_here()
    if session.json:
        out.document({"found": [found_as_json(one) for one in found]})
    elif not found:
        out.line("Nothing to import was found: no Claude Code or Codex sessions, no export in the downloads.")
        out.line(out.hint("To import something else: recollect import PATH"))
    else:
        out.line(out.bold("Found on this machine:"))
        rows = [
            (f"  {one.label:<12} {number(one.files, 'file'):>12}   newest {day(one.newest):<12}", str(one.path))
            for one in found
        ]
        fits = out.width is None or all(cell_len(f"{facts}  {path}") <= out.width for facts, path in rows)
        for facts, path in rows:
            out.line(f"{facts}  {path}" if fits else f"{facts.rstrip()}\n    {path}")
        out.line(out.hint("Import all of it:  recollect import --found"))
        out.line(out.hint(f"Or one of it:      recollect import {typed(str(found[0].path))}"))
    return 0 if found else 1


def _last_problems(session: Session) -> int:
    from recollect.faces.cli.views.report import print_problems
    from recollect.importers.base import Problem

    problems = [Problem(place, reason, lost) for place, reason, lost in session.state.problems()]
    if session.json:
        session.out.document({"problems": [_problem_as_json(p) for p in problems]})
    elif problems:
        print_problems(problems, session.out, all_problems=True)
    else:
        session.out.line("The last import read everything.")
    return 0


def _describe(session: Session, path: Path) -> int:
    from recollect.importers.describe import describe

    lines = list(describe(path))
    if session.json:
        session.out.document({"shape": lines})
    else:
        for line in lines:
            session.out.line(line)
    return 0


def _problem_as_json(problem: Any) -> dict[str, Any]:
    return {"place": problem.place, "reason": problem.reason, "lost": problem.lost}


COMMAND = Command(
    import_,
    (
        "recollect import ~/Downloads/chatgpt-export.zip",
        "recollect import ~/.claude/projects exports/*.zip",
        "recollect import --documents ~/notes",
        "recollect import --describe unknown.zip",
    ),
    (
        Option(("--format",), "Read every file as this format, whatever it looks like.", "NAME", values="formats"),
        Option(("--problems",), "List everything that was not read; without PATH, of the last import.", default=False),
        Option(("--describe",), "Print the shape of an unknown export: no text, no title.", "PATH"),
        Option(("--documents",), "Import text, Markdown, HTML and PDF files, or folders of them.", default=False),
        Option(("--found",), "Import what is found on this machine.", default=False),
        Option(("--again",), "Also bring back what you forgot.", default=False),
        NO_BACKGROUND,
    ),
    Words("PATH", "paths", several=True),
)
