"""`recollect list`: the conversations, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.faces.cli.parser import Arguments, Command, Option, whole
from recollect.faces.cli.terminal.options import BEFORE, SINCE, SOURCE, UNTIL, period
from recollect.faces.cli.terminal.session import Invocation

if TYPE_CHECKING:
    from recollect.memory import ConversationRow

_LIMIT = 50


def list_(
    session: Invocation,
    text: list[str] | None = None,
    source: list[str] | None = None,
    since: str | None = None,
    until: str | None = None,
    before: str | None = None,
    title: str | None = None,
    limit: int = _LIMIT,
) -> int:
    """List the conversations, newest first.

    The six characters at the left are the end of the id: `recollect show` takes them. TEXT restricts the list to titles
    that contain it.
    """
    first, last = period(since, until, before)
    memory = session.existing_memory()
    rows = memory.conversations(
        source=source or (),
        title=title or " ".join(text or ()),
        since=first,
        until=last,
        limit=limit + 1,
    )
    more = len(rows) > limit
    if session.json:
        session.out.document({"conversations": [_as_json(row) for row in rows[:limit]], "more": more})
    else:
        _print(session, rows[:limit], more=more)
    return 0 if rows else 1


def _print(session: Invocation, rows: list[ConversationRow], *, more: bool) -> None:
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.cli.terminal.wrapping import padded, shortened
    from recollect.faces.present.names import short, source_label, titled
    from recollect.faces.present.times import day

    out = session.out
    if not rows:
        out.line("No conversations match.")
    for row in rows:
        c = row.conversation
        facts = f"{day(c.updated or c.created):>11}  {padded(source_label(c.source), 11)}  {row.messages:>5,}  "
        room = None if out.width is None else out.width - len(facts) - len(short(c.id)) - 2
        out.line(f"{short(c.id)}  {out.dim(facts)}{shortened(harmless(titled(c.title)), room)}")
    if more:
        out.note(f"There are more: add -n {2 * len(rows)}, or narrow it down with --since or a word of the title.")


def _as_json(row: ConversationRow) -> dict[str, Any]:
    from recollect.record import iso

    c = row.conversation
    return {
        "id": c.id,
        "source_id": c.source_id,
        "title": c.title,
        "source": c.source,
        "created": iso(c.created),
        "updated": iso(c.updated),
        "messages": row.messages,
    }


COMMAND = Command(
    list_,
    ("recollect list --source claude --since 2025", "recollect list bread -n 5"),
    (
        SOURCE,
        SINCE,
        UNTIL,
        BEFORE,
        Option(("--title",), "The same as TEXT.", "TEXT"),
        Option(("--limit", "-n"), "How many are listed.", "N", default=_LIMIT, read=whole(1)),
    ),
    Arguments("TEXT", "text", several=True),
)
