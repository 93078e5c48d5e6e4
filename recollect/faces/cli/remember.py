"""`recollect remember`: one message of one's own, kept and found from then on."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from recollect.faces.cli.command import command
from recollect.faces.cli.session import Session

TEXT = Annotated[list[str], typer.Argument(metavar="TEXT|-", hidden=True)]
TITLE = Annotated[
    str, typer.Option(metavar="TEXT", help="The title of the conversation it begins.", show_default=False)
]
ROLE = Annotated[str, typer.Option(metavar="ROLE", help="Who said it: user or assistant.")]
CONVERSATION = Annotated[
    str | None,
    typer.Option("--in", metavar="TITLE|ID", help="Add it to this conversation, not a new one.", show_default=False),
]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    command(
        app,
        "remember",
        ("recollect remember The spare key is with Ana", 'pbpaste | recollect remember - --title "Notes on tides"'),
    )(remember)


def remember(session: Session, text: TEXT, title: TITLE = "", role: ROLE = "user", in_: CONVERSATION = None) -> int:
    """Keep a text as a message.

    `-` reads it from standard input.
    """
    from recollect.faces.cli.names import short

    words = sys.stdin.read() if text == ["-"] else " ".join(text)
    memory = session.memory()
    conversation = memory.resolve(in_)[0].conversation.id if in_ else None
    message = memory.store_message(words, role, conversation_id=conversation, title=title)
    if session.json:
        session.out.document({"id": message.id, "conversation_id": message.conversation_id})
    else:
        session.out.line(session.out.hint(f"Remembered: recollect show {short(message.id)}"))
    return 0
