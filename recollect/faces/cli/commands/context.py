"""`recollect context`: what a model would be given for a text, and what each part of it costs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from recollect.context.settings import LEAST_TOKENS
from recollect.errors import InvalidInput
from recollect.faces.cli.parser import Command, Option, Words, whole
from recollect.faces.cli.terminal.output import harmless
from recollect.faces.cli.terminal.session import Session

if TYPE_CHECKING:
    from recollect.context import Context
    from recollect.faces.cli.terminal.output import Output


def context(session: Session, text: list[str], in_: str | None = None, budget: int | None = None) -> int:
    """Print what a model would be given to answer, and what it costs.

    It holds the newest messages, summaries, facts, what answers, and an index of the rest, within a budget of tokens:
    10000, or INDEX_MAX_TOKENS in the environment. `-` alone reads the text from standard input. The context goes to
    standard output, what it costs to standard error.
    """
    memory = session.existing_memory()
    conversation = memory.resolve(in_)[0].conversation.id if in_ else None
    made = memory.prepare_context(_words(text), conversation, budget)
    if session.json:
        session.out.document(made.to_json())
    else:
        session.out.line(harmless(made.text))
        _print_costs(session.out, made)
    return 0


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
    ),
    (
        Option(("--in",), "The conversation that goes on, whose newest messages are included.", "TITLE|ID", name="in_"),
        Option(("--budget",), "Tokens that it may have at most; 10000 unless set.", "N", read=whole(LEAST_TOKENS)),
    ),
    Words("TEXT", "text", required=True, several=True, dashes=True),
)
