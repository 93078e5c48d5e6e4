"""`recollect import` and `remember`: what is stored, and the report of an import."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from recollect.errors import ImportProblem, InvalidInput
from recollect.faces.cli.commands.background import print_backlog
from recollect.faces.cli.invocation import SAVED, Invocation, on_interrupt, progress, reading, shell_quoted
from recollect.faces.cli.output import Output, cell_len, harmless
from recollect.faces.cli.parser import NO_BACKGROUND, Arguments, Command, Option, WrongUsage, words_of
from recollect.faces.present.names import day, number, short, span
from recollect.faces.present.status import index_state, is_complete, is_missing, pause_words, quality_state
from recollect.faces.present.views import as_json
from recollect.record import RoleName, utc_now

if TYPE_CHECKING:
    from recollect.importers.base import Problem
    from recollect.importers.found import FoundSource
    from recollect.ingest.documents.importing import DocumentReport
    from recollect.ingest.importing import ImportReport
    from recollect.store import Counts, IndexInfo


def import_(
    run: Invocation,
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
        run.without_background()
    if documents:
        if found or format is not None or not paths:
            raise InvalidInput("--documents takes paths alone.", hint="As in: recollect import --documents notes/")

        return import_documents(run, paths, all_problems=problems, again=again)
    if describe is not None:
        return _describe(run, Path(describe).expanduser())
    if found:
        if paths:
            raise InvalidInput("--found cannot be combined with paths.", hint="Leave out one of them.")
        if words := pause_words():
            raise ImportProblem(f"Nothing was imported. {words}", hint="To go on: recollect resume")
        return _import(run, _found_paths(run), format, problems, again=again, found=True)
    if paths:
        if "" in map(str.strip, paths):
            raise InvalidInput("A path is empty.", hint="Is a variable not set? Name a file or folder.")
        return _import(run, paths, format, problems, again=again)
    return _last_problems(run) if problems else _what_is_found(run)


def _import(
    run: Invocation,
    paths: Sequence[str],
    format_name: str | None,
    all_problems: bool,
    *,
    again: bool,
    found: bool = False,
) -> int:
    from recollect.faces.present.results import import_document

    report = _run(run, paths, format_name, again=again, found=found)
    run.state.remember_import(utc_now(), report.problems)
    if run.json and not report.nothing:
        run.out.document(import_document(report, run.memory().upkeep.stats()))
    elif not run.json:
        memory, background = run.memory(), run.leaves_worker
        counts, index = memory.upkeep.stats(), memory.upkeep.index()
        print_report(report, counts, index, run.out, all_problems=all_problems, background=background)
        if not report.nothing:
            _tell_what_it_will_cost(run)
            run.out.line(run.out.hint(f'Next: recollect search "{run.out.symbols.more}"'))
    if report.nothing:
        reasons = "; ".join(f"{p.place}: {p.reason}" for p in report.problems[:3])
        raise ImportProblem(
            "Nothing was imported" + (f": {reasons}." if reasons else "."),
            hint="recollect import --problems lists why.",
        )
    named = {str(Path(path).expanduser()) for path in paths}
    return 1 if any(problem.lost and problem.place in named for problem in report.problems) else 0


def _tell_what_it_will_cost(run: Invocation) -> None:
    """Where a language model is set for what follows in the background."""
    if run.settings.background_model and run.leaves_worker:
        print_backlog(run, run.memory(), [run.memory().namespace])


def _run(run: Invocation, paths: Sequence[str], format_name: str | None, *, again: bool, found: bool) -> ImportReport:
    from recollect.watching.exclusions import KeepingOut

    wanted = KeepingOut.own(run.settings.leave_out) if found else None
    with reading(run.out) as report:
        return run.memory().import_file(*paths, format=format_name, again=again, progress=report, wanted=wanted)


def _found_here() -> list[FoundSource]:
    from recollect.importers.found import found_on_this_machine

    return found_on_this_machine(Path.home(), os.environ)


def _found_paths(run: Invocation) -> list[str]:
    found = _found_here()
    if not found:
        raise ImportProblem(
            "Nothing to import was found on this machine.", hint="To import something else: recollect import PATH"
        )
    return [str(one.path) for one in found]


def _what_is_found(run: Invocation) -> int:

    out, found = run.out, _found_here()
    if run.json:
        out.document({"found": found})
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
        out.line(out.hint(f"Or one of it:      recollect import {shell_quoted(str(found[0].path))}"))
    return 0 if found else 1


def _last_problems(run: Invocation) -> int:
    from recollect.importers.base import Problem

    problems = [Problem(place, reason, lost) for place, reason, lost in run.state.problems()]
    if run.json:
        run.out.document({"problems": problems})
    elif problems:
        print_problems(problems, run.out, all_problems=True)
    else:
        run.out.line("The last import read everything.")
    return 0


def _describe(run: Invocation, path: Path) -> int:
    from recollect.importers.describe import describe

    lines = list(describe(path))
    if not run.in_json(lambda: {"shape": lines}):
        for line in lines:
            run.out.line(line)
    return 0


IMPORT = Command(
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
    Arguments("PATH", "paths", several=True),
)


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


_DOCUMENTS_SHOWN = 10  # names of files that are gone


def import_documents(run: Invocation, paths: Sequence[str], *, all_problems: bool, again: bool) -> int:
    """`recollect import --documents`. Raises ImportProblem where nothing can be read."""
    with on_interrupt(SAVED), progress(run.out, "Reading") as bar:
        report = run.memory().import_documents(
            *paths, again=again, progress=lambda p: bar(p.done, p.total, harmless(p.name))
        )
    run.state.remember_import(utc_now(), report.problems)
    if report.nothing:
        reasons = "; ".join(f"{p.place}: {p.reason}" for p in report.problems[:3])
        raise ImportProblem(
            "No document was imported" + (f": {reasons}." if reasons else "."),
            hint="Text, Markdown, HTML and PDF files are read. recollect import --problems lists why one was not.",
        )
    if not run.in_json(
        lambda: as_json(report) | {"written": {"new": report.new, "changed": report.changed, "same": report.unchanged}}
    ):
        _print_report(report, run.out, all_problems=all_problems)
    named = {Path(path).expanduser().name for path in paths if Path(path).expanduser().is_file()}
    return 1 if any(problem.lost and problem.place in named for problem in report.problems) else 0


def _print_report(report: DocumentReport, out: Output, *, all_problems: bool) -> None:

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
        names = ", ".join(harmless(name) for name in report.removed[:_DOCUMENTS_SHOWN])
        more = f" {out.symbols.more}" if len(report.removed) > _DOCUMENTS_SHOWN else ""
        out.line(f"  no longer files, still found: {names}{more} ({out.hint('recollect forget NAME')} removes one)")
    if others := report.notes.get("other files"):
        out.line(out.dim(f"  skipped: {number(others, 'other file')}"))
    print_problems(report.problems, out, all_problems=all_problems)
    out.line(out.hint(f'Next: recollect search "{out.symbols.more}"'))


def remember(
    run: Invocation,
    text: list[str],
    title: str = "",
    role: str = "user",
    in_: str | None = None,
    always: bool = False,
    no_background: bool = False,
) -> int:
    """Save a text as a message, or as a rule for every answer.

    `-` reads it from standard input. With --always it is a rule: it stands first in whatever a model is given, in every
    conversation. `recollect facts --rules` lists the rules.
    """
    if no_background:
        run.without_background()
    words, memory = words_of(text), run.memory()
    if always:
        if title or in_ or role != "user":
            raise WrongUsage("A rule is in no conversation: leave out --title, --role and --in.")
        rule = memory.knowledge.add_rule(words)
        if not run.in_json(lambda: {"id": rule.id}):
            change = f"recollect facts edit {short(rule.id)} --to TEXT, recollect facts forget {short(rule.id)}"
            run.out.line(run.out.hint(f"Every answer follows it from now on. To change it: {change}"))
        return 0
    conversation = memory.resolve(in_)[0].conversation.id if in_ else None
    message = memory.store_message(words, cast("RoleName", role), conversation_id=conversation, title=title)
    run.show(
        lambda: {"id": message.id, "conversation_id": message.conversation_id},
        run.out.hint(f"Remembered: recollect show {short(message.id)}"),
    )
    return 0


REMEMBER = Command(
    remember,
    (
        "recollect remember The spare key is with Ana",
        'pbpaste | recollect remember - --title "Notes on tides"',
        'recollect remember --always "answer in metric units"',
    ),
    (
        Option(("--title",), "The title of the new conversation.", "TEXT", default=""),
        Option(("--role",), "Who said it: user or assistant.", "ROLE", default="user", values=("user", "assistant")),
        Option(("--in",), "Add it to this conversation instead of a new one.", "TITLE|ID", name="in_"),
        Option(("--always",), "Keep it as a rule for every answer.", default=False),
        NO_BACKGROUND,
    ),
    Arguments("TEXT|-", "text", required=True, several=True, dashes=True),
)
