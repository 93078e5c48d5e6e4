"""`recollect remember`: saves a message of your own, to be found like any other."""

from __future__ import annotations

import sys
from typing import cast

from recollect.faces.cli.parser import Command, Option, Words
from recollect.faces.cli.terminal.options import NO_BACKGROUND
from recollect.faces.cli.terminal.session import Session
from recollect.record import RoleName


def remember(
    session: Session,
    text: list[str],
    title: str = "",
    role: str = "user",
    in_: str | None = None,
    no_background: bool = False,
) -> int:
    """Save a text as a message.

    `-` reads it from standard input.
    """
    from recollect.faces.present.names import short

    if no_background:
        session.without_background()
    words = sys.stdin.read() if text == ["-"] else " ".join(text)
    memory = session.memory()
    conversation = memory.resolve(in_)[0].conversation.id if in_ else None
    message = memory.store_message(words, cast("RoleName", role), conversation_id=conversation, title=title)
    if session.json:
        session.out.document({"id": message.id, "conversation_id": message.conversation_id})
    else:
        session.out.line(session.out.hint(f"Remembered: recollect show {short(message.id)}"))
    return 0


COMMAND = Command(
    remember,
    ("recollect remember The spare key is with Ana", 'pbpaste | recollect remember - --title "Notes on tides"'),
    (
        Option(("--title",), "The title of the new conversation.", "TEXT", default=""),
        Option(("--role",), "Who said it: user or assistant.", "ROLE", default="user", values=("user", "assistant")),
        Option(("--in",), "Add it to this conversation instead of a new one.", "TITLE|ID", name="in_"),
        NO_BACKGROUND,
    ),
    Words("TEXT|-", "text", required=True, several=True, dashes=True),
)
