"""`recollect research`: a report on a question that takes several searches, with its sources, saved in the memory."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from recollect.answer.research import NO_QUESTION
from recollect.errors import InvalidInput
from recollect.faces.cli.parser import Arguments, Command, Option, whole
from recollect.faces.cli.terminal.options import BEFORE, NO_BACKGROUND, SINCE, SOURCE, UNTIL, period
from recollect.faces.cli.terminal.output import harmless
from recollect.faces.cli.terminal.session import Invocation
from recollect.faces.cli.views.answering import IN, MODE, summary, tell_destination, told, words_of
from recollect.faces.cli.views.waiting import told_empty
from recollect.faces.present.names import short
from recollect.faces.present.times import day, number

if TYPE_CHECKING:
    from recollect.answer.research.report import Event, Report, SavedReport
    from recollect.faces.cli.terminal.output import Output
    from recollect.memory import Memory

_LEAST_TOKENS, _MOST_ROUNDS = 6_000, 5


def research(
    session: Invocation,
    question: list[str],
    source: list[str],
    since: str | None = None,
    until: str | None = None,
    before: str | None = None,
    in_: str | None = None,
    model: str | None = None,
    mode: str = "auto",
    rounds: int | None = None,
    calls: int | None = None,
    tokens: int | None = None,
    seconds: int | None = None,
    resume: bool = False,
    list_: bool = False,
    no_background: bool = False,
) -> int:
    """Write a report on a question from your conversations, with headings and sources.

    The question is taken apart into searches; what is missing is looked for again; the report is saved as a document
    of the memory, which `recollect show` opens, `recollect search` finds and `recollect forget` removes. Steps are told
    on standard error. The model is the one of --model, else of the setting `model`; your question and the
    messages found go to it, and an API key in the environment is not used unasked. Without a model the report quotes
    your conversations, and nothing leaves this machine. Interrupted research is saved: --resume continues the last one,
    or with an ID that one, with its question and filters, and with its limits unless you give others. `-` alone reads
    the question from standard input. A report that found nothing is not saved; then your conversations do not say, and
    the exit code is 1.
    """
    if list_:
        return _list(session)
    if resume and (any((source, since, until, before, in_)) or mode != "auto"):
        raise InvalidInput("--resume goes on with the filters that the research was begun with.")
    period(since, until, before)  # what is wrong with them is told in the words of the options
    if no_background:
        session.without_background()
    asked = words_of(question, None if resume else NO_QUESTION)
    spec = session.answering_model(model)
    memory = session.existing_memory()
    tell_destination(session, spec)
    options: dict[str, Any] = {"rounds": rounds, "calls": calls, "tokens": tokens, "seconds": seconds}
    if resume:
        options["resume"], asked = asked or True, ""
    else:
        options |= {"source": source, "since": since, "until": until, "before": before, "conversation": in_}
        options["mode"] = mode
    report = _made(session, memory, asked, options)
    session.state.remember_answer(report.citations)
    return 0 if report.known else 1


def _made(session: Invocation, memory: Memory, asked: str, options: dict[str, Any]) -> Report:
    from recollect.record import utc_now

    began = utc_now()
    try:
        if not session.json:
            return _told(session, memory.research_stream(asked, **options))
        report = memory.research(asked, **options)
    except KeyboardInterrupt:
        # Before its plan is made, there is nothing to resume.
        if "resume" not in options and not any(one.created >= began and not one.finished for one in memory.reports()):
            raise
        raise KeyboardInterrupt(session.out.hint("What was learned is saved: recollect research --resume")) from None
    session.out.document(report.to_json())
    return report


def _told(session: Invocation, events: Generator[Event, None, None]) -> Report:
    """Tells the steps, prints the report as it comes, and what it took."""
    from recollect.answer.ask.answer import Step
    from recollect.answer.research.report import Report

    out = session.out

    def tell(event: object) -> Report | None:
        if isinstance(event, Step):
            out.note(out.dim(harmless(f"{event.name}: {event.detail}")))
        return event if isinstance(event, Report) else None

    report, said = told(out, events, tell)
    if not said and not report.known and told_empty(session):
        return report
    out.line() if said else out.line(harmless(report.text))
    hint = f"saved: recollect show {short(report.id)}" if report.known else ""
    sources = number(len(report.citations), "source")
    out.note(out.dim(summary(out, report, sources, "quoted: no model wrote it", hint)))
    for note in report.notes:
        out.note(note)
    return report


def _list(session: Invocation) -> int:
    out, found = session.out, session.existing_memory().reports()
    if session.json:
        out.document({"reports": [one.to_json() for one in found]})
        return 0 if found else 1
    for one in found:
        line = [short(one.id), day(one.created), harmless(one.title), _state(out, one)]
        out.line(f" {out.symbols.dot} ".join(line))
    if not found:
        out.note(out.hint('There are no reports. To write one: recollect research "compare …"'))
    return 0 if found else 1


def _state(out: Output, one: SavedReport) -> str:
    """How much it cites, or how far it is."""
    if one.finished:
        return number(one.sources, "source")
    if one.under_way:
        return "under way"
    return out.hint(f"interrupted: recollect research --resume {short(one.id)}")


COMMAND = Command(
    research,
    (
        'recollect research "compare my database design with my deployment"',
        'recollect research "what did we learn about the heat pump?" --since 2025',
        "recollect research --resume",
        "recollect research --list",
    ),
    (
        SOURCE,
        SINCE,
        UNTIL,
        BEFORE,
        IN,
        Option(("--model",), "The model that plans and writes: anthropic:…, openai:…, none.", "SPEC"),
        MODE,
        Option(
            ("--rounds",),
            "How often it looks: 1 looks once, 2 again for what is missing. 2 unless given.",
            "N",
            read=whole(1, _MOST_ROUNDS),
        ),
        Option(("--calls",), "Calls of the model at most; 6 unless given.", "N", read=whole(1)),
        Option(("--tokens",), "Tokens of the model at most; 40,000 unless given.", "N", read=whole(_LEAST_TOKENS)),
        Option(("--seconds",), "After that nothing new is begun but the report; 180 unless given.", "N", read=whole(1)),
        Option(("--resume",), "Continue what was interrupted.", default=False),
        Option(("--list",), "List the reports, and what was interrupted.", name="list_", default=False),
        NO_BACKGROUND,
    ),
    Arguments("QUESTION|ID|-", "question", several=True, dashes=True),
)
