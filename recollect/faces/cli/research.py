"""`recollect research`: a report on a question that takes several searches, with its sources, saved in the memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.faces.cli.names import short
from recollect.faces.cli.options import BEFORE, NO_BACKGROUND, SINCE, SOURCE, UNTIL, period
from recollect.faces.cli.output import harmless
from recollect.faces.cli.parser import Command, Option, Words, one_of, whole
from recollect.faces.cli.session import Session
from recollect.faces.cli.times import day, number

if TYPE_CHECKING:
    from recollect.faces.cli.output import Output
    from recollect.memory import Memory
    from recollect.research.report import Event, Report

_MODES = ("auto", "instant", "quality")
_ROUNDS, _CALLS, _TOKENS, _SECONDS = 2, 6, 40_000, 180
_LEAST_TOKENS, _MOST_ROUNDS = 6_000, 5


def research(
    session: Session,
    question: list[str],
    source: list[str],
    since: str | None = None,
    until: str | None = None,
    before: str | None = None,
    in_: str | None = None,
    model: str | None = None,
    mode: str = "auto",
    rounds: int = _ROUNDS,
    calls: int = _CALLS,
    tokens: int = _TOKENS,
    seconds: int = _SECONDS,
    resume: bool = False,
    list_: bool = False,
    no_background: bool = False,
) -> int:
    """Write a report on a question from your conversations, with headings and sources.

    The question is taken apart into searches; what is missing is looked for again; the report is saved as a document
    of the memory, which `recollect show` opens, `recollect search` finds and `recollect forget` removes. Steps are told
    on standard error. The model is the one of --model, else of the setting `model`, else one that a key in the
    environment pays for; your question and what is found for it go to that model. Without a model the report quotes
    your conversations, and nothing leaves this machine. Interrupted research is saved: --resume continues the last one,
    or with an ID that one. `-` alone reads the question from standard input. Exit code 1: your conversations do not
    say.
    """
    if list_:
        return _list(session)
    if resume and any((source, since, until, before, in_)):
        raise InvalidInput("--resume goes on with the filters that the research was begun with.")
    period(since, until, before)  # what is wrong with them is told in the words of the options
    if no_background:
        session.without_background()
    asked = _words(question, resume=resume)
    spec, origin = session.answering_model(model)
    memory, out = session.existing_memory(), session.out
    if spec and not session.json and origin.endswith("_API_KEY"):
        out.note(out.dim(f"{spec} answers, paid by {origin}. RECOLLECT_MODEL=none asks no model."))
    options: dict[str, Any] = {
        "source": source,
        "since": since,
        "until": until,
        "before": before,
        "conversation": in_,
        "mode": mode,
        "rounds": rounds,
        "calls": calls,
        "tokens": tokens,
        "seconds": float(seconds),
    }
    if resume:
        options = {"resume": asked or True}
        asked = ""
    report = _made(session, memory, asked, options)
    session.state.remember_answer(report.citations)
    return 0 if report.known else 1


def _made(session: Session, memory: Memory, asked: str, options: dict[str, Any]) -> Report:
    try:
        if not session.json:
            return _told(session.out, memory.research_stream(asked, **options))
        report = memory.research(asked, **options)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(session.out.hint("What was learned is saved: recollect research --resume")) from None
    session.out.document(report.to_json())
    return report


def _told(out: Output, events: Iterator[Event]) -> Report:
    """Tells the steps, prints the report as it comes, and what it took."""
    from recollect.ask.answer import Step
    from recollect.chat.events import Again, Words
    from recollect.research.report import Report

    said = False
    for event in events:
        match event:
            case Step():
                out.note(out.dim(harmless(f"{event.name}: {event.detail}")))
            case Words(text):
                out.piece(harmless(text))
                said = True
            case Again(why):
                out.note(f"\n{harmless(why)} Asking again.")
                said = False
            case Report():
                report = event
    out.line() if said else out.line(harmless(report.text))
    out.note(out.dim(_summary(out, report)))
    for note in report.notes:
        out.note(note)
    return report


def _summary(out: Output, report: Report) -> str:
    """11 sources · openai:… · 2,140 + 96 tokens · $0.008 · 1.9 s · recollect show 4KZP12."""
    told = [number(len(report.citations), "source")]
    if report.model is None:
        told.append("quoted: no model wrote it")
    else:
        told += [report.model, f"{report.usage.input_tokens:,} + {report.usage.output_tokens:,} tokens"]
        told += [] if report.cost is None else [f"${report.cost:.3f}"]
    told.append(f"{report.took_ms / 1000:.1f} s" if report.took_ms >= 1000 else f"{report.took_ms:.0f} ms")
    told.append(out.hint(f"saved: recollect show {short(report.id)}"))
    return f" {out.symbols.dot} ".join(told)


def _list(session: Session) -> int:
    out, found = session.out, session.existing_memory().reports()
    if session.json:
        out.document({"reports": [one.to_json() for one in found]})
        return 0 if found else 1
    for one in found:
        told = number(one.sources, "source") if one.finished else out.hint("interrupted: recollect research --resume")
        told = told if one.finished else f"{told} {short(one.id)}"
        line = [short(one.id), day(one.created), harmless(one.title), told]
        out.line(f" {out.symbols.dot} ".join(line))
    if not found:
        out.note(out.hint('There are no reports. To write one: recollect research "compare …"'))
    return 0 if found else 1


def _words(question: list[str], *, resume: bool) -> str:
    words = sys.stdin.read() if question == ["-"] else " ".join(question)
    if not words.strip() and not resume:
        raise InvalidInput(
            "There is no question.", hint='Give one: recollect research "compare the old flat with the new one"'
        )
    return words.strip()


COMMAND = Command(
    research,
    (
        'recollect research "compare my database design decisions with my deployment strategy"',
        'recollect research "what did we learn about the heat pump?" --since 2025',
        "recollect research --resume",
        "recollect research --list",
    ),
    (
        SOURCE,
        SINCE,
        UNTIL,
        BEFORE,
        Option(("--in",), "Only this conversation.", "TITLE|ID", name="in_"),
        Option(("--model",), "The model that plans and writes: anthropic:…, openai:…, none.", "SPEC"),
        Option(
            ("--mode",),
            "auto, instant or quality: how the memory is searched.",
            "MODE",
            default="auto",
            read=one_of(*_MODES),
            values=_MODES,
        ),
        Option(
            ("--rounds",),
            "How often it looks: 1 looks once, 2 again for what is missing.",
            "N",
            default=_ROUNDS,
            read=whole(1, _MOST_ROUNDS),
        ),
        Option(("--calls",), "Calls of the model at most.", "N", default=_CALLS, read=whole(1)),
        Option(("--tokens",), "Tokens of the model at most.", "N", default=_TOKENS, read=whole(_LEAST_TOKENS)),
        Option(("--seconds",), "After that nothing new is begun but the report.", "N", default=_SECONDS, read=whole(1)),
        Option(("--resume",), "Continue what was interrupted.", default=False),
        Option(("--list",), "List the reports, and what was interrupted.", name="list_", default=False),
        NO_BACKGROUND,
    ),
    Words("QUESTION|ID|-", "question", several=True, dashes=True),
)
