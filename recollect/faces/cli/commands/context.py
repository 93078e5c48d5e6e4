"""`recollect context`: what a model would be given for a text, what it was given, and what it never is again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from recollect.context.settings import LEAST_TOKENS
from recollect.errors import InvalidInput, NotFound
from recollect.faces.cli.parser import Command, Option, Words, whole
from recollect.faces.cli.terminal.output import harmless
from recollect.faces.cli.terminal.session import Session

if TYPE_CHECKING:
    from recollect.context import Context
    from recollect.faces.cli.terminal.output import Output
    from recollect.ingest.requested import Requested


def context(
    session: Session,
    text: list[str],
    in_: str | None = None,
    budget: int | None = None,
    last: bool = False,
    never: str | None = None,
) -> int:
    """Print what a model would be given to answer, and what it costs.

    It holds the newest messages, summaries, facts, what answers, and an index of the rest, within a budget of tokens:
    10000, or INDEX_MAX_TOKENS in the environment. `-` alone reads the text from standard input. The context goes to
    standard output, what it costs to standard error.

    --last shows what was really put into the last request of the proxy, of a wrapped client, a chat, an MCP client or a
    hook, and where each line comes from; --last 5 into the last five. --never ID keeps one of the messages and facts
    that stand there out of all contexts and searches from now on.
    """
    memory = session.existing_memory()
    if never is not None:
        return _never(session, never)
    if last:
        return _print_last(session, _many(text))
    conversation = memory.resolve(in_)[0].conversation.id if in_ else None
    made = memory.prepare_context(_words(text), conversation, budget)
    if session.json:
        session.out.document(made.to_json())
    else:
        session.out.line(harmless(made.text))
        _print_costs(session.out, made)
    return 0


def _print_last(session: Session, many: int) -> int:
    found = session.existing_memory().integration.requests(many)
    if session.json:
        session.out.document({"requests": [one.to_json() for one in found]})
    elif not found:
        session.out.line("Nothing was given yet to a chat, a client of the proxy or of MCP, or a coding agent.")
    else:
        for one in found:
            _print_request(session.out, one)
    return 0


def _print_request(out: Output, request: Requested) -> None:
    from recollect.faces.present.names import short

    asked = f'  "{harmless(request.text)}"' if request.text else ""
    out.line(f"{request.at:%Y-%m-%d %H:%M}  {request.by}  {request.tokens:,} tokens{asked}")
    for part in request.parts:
        out.line(f"  {part.name}  {part.tokens:,} tokens")
        for item in (request.items[own] for own in part.ids):
            kept = "" if item.is_used else "  (not used again)"
            out.line(f"    {out.dim(short(item.id))}  {item.kind}: {harmless(item.text)}{kept}")


def _never(session: Session, name: str) -> int:
    """Keeps a fact or a message out, as `facts forget` and `delete` do."""
    from recollect.faces.cli.terminal.layout import joined
    from recollect.faces.present.names import short

    memory = session.existing_memory()
    try:
        own = memory.knowledge.forget_fact(memory.knowledge.resolve_fact(name))
        kind, undo = "fact", f"recollect facts undo {short(own)}"
    except NotFound:
        message = memory.toolbox().get_message_by_id(name)
        memory.delete(message.id)
        own, kind, undo = message.id, "message", f"recollect restore {short(message.id)}"
    if session.json:
        session.out.document({"never": own, "kind": kind})
    else:
        done = f"This {kind} is in no context and no search from now on."
        session.out.line(joined(done, f"To undo: {session.out.hint(undo)}", session.out))
    return 0


def _many(text: list[str]) -> int:
    if not text:
        return 1
    if len(text) == 1 and text[0].isdecimal() and len(text[0]) < 5:
        return int(text[0])
    raise InvalidInput(
        "--last shows what was given, and takes no text.", hint="Say how many: recollect context --last 5"
    )


def _print_costs(out: Output, made: Context) -> None:
    for part in made.parts:
        named = f"  {len(part.ids):,} named" if part.ids else ""
        out.note(f"{part.name:<12}{part.tokens:>7,}{named}")
    out.note(f"{'in all':<12}{made.tokens:>7,} of {made.budget:,} tokens, {made.index_form}, {made.took:.0f} ms")
    if made.degraded:
        out.note(made.degraded)


def _words(text: list[str]) -> str:
    words = sys.stdin.read() if text == ["-"] else " ".join(text)
    if not words.strip():
        raise InvalidInput("There is no text.", hint='Give one: recollect context "What did we decide about the API?"')
    return words.strip()


COMMAND = Command(
    context,
    (
        'recollect context "What did we decide about the API?"',
        'recollect context "and in Europe?" --in "Quarterly report" --budget 4000',
        "pbpaste | recollect context - --json",
        "recollect context --last",
        "recollect context --never 7Q2KAB",
    ),
    (
        Option(("--in",), "The conversation that goes on, whose newest messages are included.", "TITLE|ID", name="in_"),
        Option(("--budget",), "Tokens that it may have at most; 10000 unless set.", "N", read=whole(LEAST_TOKENS)),
        Option(("--last",), "What the last request was given, or the last N: why it was in the prompt.", default=False),
        Option(("--never",), "Never use a message or a fact again.", "ID"),
    ),
    Words("TEXT", "text", several=True, dashes=True),
)
