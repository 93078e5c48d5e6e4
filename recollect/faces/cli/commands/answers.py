"""`recollect ask` and `research`: answers and reports with their sources."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.answer.research import NO_QUESTION as NOTHING_TO_RESEARCH
from recollect.errors import InvalidInput
from recollect.faces.cli.commands.search import print_empty_hint
from recollect.faces.cli.invocation import Invocation
from recollect.faces.cli.output import Output, harmless
from recollect.faces.cli.parser import (
    FILTERS,
    IN,
    MODE,
    MODEL,
    NO_BACKGROUND,
    Arguments,
    Command,
    Option,
    one_of,
    period,
    whole,
    words_of,
)
from recollect.faces.present.names import day, number, short, source_label, titled
from recollect.record import utc_now

if TYPE_CHECKING:
    from recollect.answer.evidence import Citation
    from recollect.answer.results import AskAnswer, AskEvent, Report, ReportEvent, SavedReport
    from recollect.memory import Memory
    from recollect.search.query.request import Mode


T = TypeVar("T")


def print_destination(run: Invocation, spec: str, what: str = "this question") -> None:
    """Says what is sent where, before it is; where nobody chose a model and a key was found, how to choose one."""
    import os

    from recollect.models.language.choose import destination, suggested

    out = run.out
    if run.json:
        return
    if spec:
        out.note(out.dim(f"Sending {what} and the messages found to {destination(spec)}. To stay local: --model none"))
        return
    found, variable = suggested(os.environ)
    if found and not run.chose_model:
        out.note(out.dim(f"{variable} is not used unasked. To have a model answer: recollect config model {found}"))


def print_stream(
    out: Output, events: Generator[object, None, None], other: Callable[[object], T | None]
) -> tuple[T, bool]:
    """Prints words as they come. `other` is given every other event, and makes the end of one; returns that, and
    whether its words were shown. The events are closed, so that what is under way lets go while the memory is open.
    """
    from recollect.answer.results import Again, AnswerWords

    said, end = False, None
    try:
        with closing(events):
            for event in events:
                match event:
                    case AnswerWords(text):
                        out.piece(harmless(text))
                        said = True
                    case Again(why, asks):
                        if said:
                            out.line()
                        out.note(f"{harmless(why)}{' Asking again.' if asks else ''}")
                        said = False
                    case _:
                        end = other(event) or end
    except BaseException:
        if said:
            out.line()
        raise
    assert end is not None
    return end, said


def summary(out: Output, made: AskAnswer | Report, sources: str, unmodelled: str, hint: str) -> str:
    """3 sources · claude-… · 2,140 + 96 tokens · $0.008 · 1.9 s · recollect show 1."""
    shown = [sources]
    if made.model is None:
        shown.append(unmodelled)
    else:
        shown += [made.model, f"{made.usage.input_tokens:,} + {made.usage.output_tokens:,} tokens"]
        shown += [] if made.cost is None else [f"${made.cost:.3f}"]
    shown.append(f"{made.took_ms / 1000:.1f} s" if made.took_ms >= 1000 else f"{made.took_ms:.0f} ms")
    shown += [out.hint(hint)] if hint else []
    return out.dotted(*shown)


_INTENTS = ("retrieval", "qa", "decision", "code-lookup", "synthesis")
_QUOTED = 60  # characters of a quotation beside its source


def ask(
    run: Invocation,
    question: list[str],
    source: list[str],
    since: str | None = None,
    until: str | None = None,
    before: str | None = None,
    in_: str | None = None,
    intent: str | None = None,
    model: str | None = None,
    mode: Mode = "auto",
) -> int:
    """Answer a question from your conversations, with the messages that prove it.

    The numbers in the answer stand for messages: `recollect show 2` opens the one that is cited as [2]. The question
    may hold the filters of `recollect search`; `-` alone reads it from standard input. The model is the one of
    --model, else of the setting `model`; your question and the messages found go to it, and an API key in the
    environment is not used unasked. Without a model the answer is an extract, in the words of your conversations, and
    nothing leaves this machine. Exit code 1: your conversations do not say.
    """
    from recollect.answer.ask import NO_QUESTION

    asked = words_of(question, NO_QUESTION)
    period(since, until, before)  # what is wrong with them is told in the words of the options
    spec = run.answering_model(model)
    memory, out = run.existing_memory(), run.out
    print_destination(run, spec)
    from recollect.search.query.request import Filters

    filters = Filters.of(source=source, since=since, until=until, before=before, conversation=in_, mode=mode)
    if run.json:
        answer = memory.ask(asked, intent=intent, **filters.given)
        out.document(answer)
    else:
        answer = _told(run, memory.ask_stream(asked, intent=intent, **filters.given))
    run.state.remember_answer(answer.citations)
    return 0 if answer.known else 1


def _told(run: Invocation, events: Generator[AskEvent, None, None]) -> AskAnswer:
    """Prints the answer as it comes, and what it rests on."""
    from recollect.answer.results import AskAnswer

    out = run.out
    answer, said = print_stream(out, events, lambda event: event if isinstance(event, AskAnswer) else None)
    if not said and not answer.known and print_empty_hint(run):
        return answer
    out.line() if said else out.line(harmless(answer.text))
    for citation in answer.citations:
        out.line(out.dim(f"  {_source(out, citation)}"))
    sources = number(len(answer.citations), "source")
    hint = "recollect show 1" if answer.citations else ""
    out.line(out.dim(summary(out, answer, sources, "extract, no model used", hint)))
    for note in answer.notes:
        out.note(note)
    return answer


def _source(out: Output, citation: Citation) -> str:
    """[1] Queue incident · Claude · 6 May 2025 · 4KZP  "second time …"."""
    message, conversation = citation.message, citation.conversation
    if conversation is None:
        named = [harmless(citation.cited)]
    else:
        named = [harmless(titled(conversation.title)), source_label(conversation.source), day(message.timestamp)]
    quote = " ".join(harmless(citation.quote).split())
    if len(quote) > _QUOTED:
        quote = f"{quote[:_QUOTED].rsplit(' ', 1)[0]} …"
    return f'[{citation.number}] {out.dotted(*named, short(message.id))}  "{quote}"'


ASK = Command(
    ask,
    (
        'recollect ask "why did I choose Next.js?"',
        'recollect ask "what did we pay for the bike?" --since 2025',
        'recollect ask "show me the code for the rate limiter" --json',
    ),
    (
        *FILTERS,
        IN,
        Option(
            ("--intent",),
            "Force the kind of answer: qa, decision, code-lookup, synthesis, retrieval.",
            "KIND",
            read=one_of(*_INTENTS),
            values=_INTENTS,
        ),
        MODEL,
        MODE,
    ),
    Arguments("QUESTION|-", "question", required=True, several=True, dashes=True),
)


_LEAST_TOKENS, _MOST_ROUNDS = 6_000, 5


def research(
    run: Invocation,
    question: list[str],
    source: list[str],
    since: str | None = None,
    until: str | None = None,
    before: str | None = None,
    in_: str | None = None,
    model: str | None = None,
    mode: Mode = "auto",
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
        return _list(run)
    from recollect.search.query.request import Filters

    filters = Filters.of(source=source, since=since, until=until, before=before, conversation=in_, mode=mode)
    if resume and filters.given:
        raise InvalidInput("--resume uses the filters the research was started with.")
    period(since, until, before)  # what is wrong with them is told in the words of the options
    if no_background:
        run.without_background()
    asked = words_of(question, None if resume else NOTHING_TO_RESEARCH)
    spec = run.answering_model(model)
    memory = run.existing_memory()
    print_destination(run, spec)
    options: dict[str, Any] = {"rounds": rounds, "calls": calls, "tokens": tokens, "seconds": seconds}
    if resume:
        options["resume"], asked = asked or True, ""
    else:
        options |= filters.given
    report = _made(run, memory, asked, options)
    run.state.remember_answer(report.citations)
    return 0 if report.known else 1


def _made(run: Invocation, memory: Memory, asked: str, options: dict[str, Any]) -> Report:
    began = utc_now()
    try:
        if not run.json:
            return _told_research(run, memory.research_stream(asked, **options))
        report = memory.research(asked, **options)
    except KeyboardInterrupt:
        # Before its plan is made, there is nothing to resume.
        if "resume" not in options and not any(one.created >= began and not one.finished for one in memory.reports()):
            raise
        raise KeyboardInterrupt(run.out.hint("What was learned is saved: recollect research --resume")) from None
    run.out.document(report)
    return report


def _told_research(run: Invocation, events: Generator[ReportEvent, None, None]) -> Report:
    """Tells the steps, prints the report as it comes, and what it took."""
    from recollect.answer.results import Report, Step

    out = run.out

    def tell(event: object) -> Report | None:
        if isinstance(event, Step):
            out.note(out.dim(harmless(f"{event.name}: {event.detail}")))
        return event if isinstance(event, Report) else None

    report, said = print_stream(out, events, tell)
    if not said and not report.known and print_empty_hint(run):
        return report
    out.line() if said else out.line(harmless(report.text))
    hint = f"saved: recollect show {short(report.id)}" if report.known else ""
    sources = number(len(report.citations), "source")
    out.note(out.dim(summary(out, report, sources, "extract, no model used", hint)))
    for note in report.notes:
        out.note(note)
    return report


def _list(run: Invocation) -> int:
    out, found = run.out, run.existing_memory().reports()
    if run.in_json(lambda: {"reports": found}):
        return 0 if found else 1
    for one in found:
        line = [short(one.id), day(one.created), harmless(one.title), _state(out, one)]
        out.line(out.dotted(*line))
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


RESEARCH = Command(
    research,
    (
        'recollect research "compare my database design with my deployment"',
        'recollect research "what did we learn about the heat pump?" --since 2025',
        "recollect research --resume",
        "recollect research --list",
    ),
    (
        *FILTERS,
        IN,
        Option(("--model",), "The model that plans and writes: anthropic:…, openai:…, none.", "SPEC"),
        MODE,
        Option(
            ("--rounds",),
            "Search rounds; 2 searches again for gaps. 2 unless given.",
            "N",
            read=whole(1, _MOST_ROUNDS),
        ),
        Option(("--calls",), "Calls of the model at most; 6 unless given.", "N", read=whole(1)),
        Option(("--tokens",), "Tokens of the model at most; 40,000 unless given.", "N", read=whole(_LEAST_TOKENS)),
        Option(("--seconds",), "After this long, start nothing but the report; 180 unless given.", "N", read=whole(1)),
        Option(("--resume",), "Continue what was interrupted.", default=False),
        Option(("--list",), "List the reports, and what was interrupted.", name="list_", default=False),
        NO_BACKGROUND,
    ),
    Arguments("QUESTION|ID|-", "question", several=True, dashes=True),
)
