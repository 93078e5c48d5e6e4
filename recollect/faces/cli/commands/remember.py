"""`recollect remember`: saves a message of your own, to be found like any other, or a rule for every answer."""

from __future__ import annotations

import sys
from typing import cast

from recollect.faces.cli.parser import Command, Option, Words, WrongUsage
from recollect.faces.cli.terminal.options import NO_BACKGROUND
from recollect.faces.cli.terminal.session import Session
from recollect.record import RoleName


def remember(
    session: Session,
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
    from recollect.faces.present.names import short

    if no_background:
        session.without_background()
    words = sys.stdin.read() if text == ["-"] else " ".join(text)
    memory = session.memory()
    if always:
        if title or in_ or role != "user":
            raise WrongUsage("A rule is in no conversation: leave out --title, --role and --in.")
        rule = memory.knowledge.add_rule(words)
        if session.json:
            session.out.document({"id": rule.id})
        else:
            change = f"recollect facts edit {short(rule.id)} --to TEXT, recollect facts forget {short(rule.id)}"
            session.out.line(session.out.hint(f"Every answer follows it from now on. To change it: {change}"))
        return 0
    conversation = memory.resolve(in_)[0].conversation.id if in_ else None
    message = memory.store_message(words, cast("RoleName", role), conversation_id=conversation, title=title)
    if session.json:
        session.out.document({"id": message.id, "conversation_id": message.conversation_id})
    else:
        session.out.line(session.out.hint(f"Remembered: recollect show {short(message.id)}"))
    return 0


COMMAND = Command(
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
    Words("TEXT|-", "text", required=True, several=True, dashes=True),
)
