"""`recollect brief`: what a coding agent is told at the start of a session in a folder."""

from __future__ import annotations

from pathlib import Path

from recollect.faces.cli.parser import Arguments, Command, Option, whole
from recollect.faces.cli.terminal.output import harmless
from recollect.faces.cli.terminal.session import Invocation

_TOKENS, _LEAST = 1_500, 200


def brief(session: Invocation, folder: str | None = None, budget: int = _TOKENS) -> int:
    """Print what matters for work in a folder, for a coding agent.

    How the last session in FOLDER (without it: this one) ended, what was left open, what is known from the sessions
    there, and a line about each one before, within a budget of tokens. Sessions belong to a folder where they ran in
    it, in its repository, or below. `recollect hooks install` has Claude Code read it at the start of each session.
    """
    memory = session.existing_memory()
    made = memory.brief(Path(folder).expanduser() if folder else Path.cwd(), budget)
    if session.json:
        session.out.document(made.to_json())
    elif made.text:
        session.out.line(harmless(made.text))
        named = f"{len(made.conversations):,} session{'s' * (len(made.conversations) != 1)}"
        session.out.note(f"{made.tokens:,} of {made.budget:,} tokens, {named}")
    else:
        session.out.note(f"No session in {made.name} is in the memory yet.")
        session.out.note(session.out.hint("To import what is on this machine: recollect import --found"))
    return 0 if made.text else 1


COMMAND = Command(
    brief,
    ("recollect brief", "recollect brief ~/work/shop --budget 800"),
    (
        Option(
            ("--budget",),
            "Tokens that it may have at most.",
            "N",
            default=_TOKENS,
            read=whole(_LEAST),
        ),
    ),
    Arguments("FOLDER", "folder"),
)
