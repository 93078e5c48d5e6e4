"""`recollect ask`: an answer from one's own conversations, with the messages that prove it."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from recollect.answer.ask import NO_QUESTION
from recollect.faces.cli.parser import Arguments, Command, Option, one_of
from recollect.faces.cli.terminal.options import BEFORE, SINCE, SOURCE, UNTIL, period
from recollect.faces.cli.terminal.output import harmless
from recollect.faces.cli.terminal.session import Invocation
from recollect.faces.cli.views.answering import IN, MODE, summary, tell_destination, told, words_of
from recollect.faces.cli.views.waiting import told_empty
from recollect.faces.present.names import short, source_label, titled
from recollect.faces.present.times import day, number

if TYPE_CHECKING:
    from recollect.answer.ask.answer import Answer, Event
    from recollect.answer.evidence import Citation
    from recollect.faces.cli.terminal.output import Output
    from recollect.search.query.request import Mode

_INTENTS = ("retrieval", "qa", "decision", "code-lookup", "synthesis")
_QUOTED = 60  # characters of a quotation beside its source


def ask(
    session: Invocation,
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
    asked = words_of(question, NO_QUESTION)
    period(since, until, before)  # what is wrong with them is told in the words of the options
    spec = session.answering_model(model)
    memory, out = session.existing_memory(), session.out
    tell_destination(session, spec)
    filters: dict[str, Any] = {"source": source, "since": since, "until": until, "before": before, "conversation": in_}
    if session.json:
        answer = memory.ask(asked, intent=intent, mode=mode, **filters)
        out.document(answer.to_json())
    else:
        answer = _told(session, memory.ask_stream(asked, intent=intent, mode=mode, **filters))
    session.state.remember_answer(answer.citations)
    return 0 if answer.known else 1


def _told(session: Invocation, events: Generator[Event, None, None]) -> Answer:
    """Prints the answer as it comes, and what it rests on."""
    from recollect.answer.ask.answer import Answer

    out = session.out
    answer, said = told(out, events, lambda event: event if isinstance(event, Answer) else None)
    if not said and not answer.known and told_empty(session):
        return answer
    out.line() if said else out.line(harmless(answer.text))
    for citation in answer.citations:
        out.line(out.dim(f"  {_source(out, citation)}"))
    sources = number(len(answer.citations), "source")
    hint = "recollect show 1" if answer.citations else ""
    out.line(out.dim(summary(out, answer, sources, "an extract: no model was asked", hint)))
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
    return f'[{citation.number}] {f" {out.symbols.dot} ".join([*named, short(message.id)])}  "{quote}"'


COMMAND = Command(
    ask,
    (
        'recollect ask "why did I choose Next.js?"',
        'recollect ask "what did we pay for the bike?" --since 2025',
        'recollect ask "show me the code for the rate limiter" --json',
    ),
    (
        SOURCE,
        SINCE,
        UNTIL,
        BEFORE,
        IN,
        Option(
            ("--intent",),
            "The kind of answer, where the question does not tell it.",
            "KIND",
            read=one_of(*_INTENTS),
            values=_INTENTS,
        ),
        Option(("--model",), "The model that answers: anthropic:…, openai:…, none.", "SPEC"),
        MODE,
    ),
    Arguments("QUESTION|-", "question", required=True, several=True, dashes=True),
)
