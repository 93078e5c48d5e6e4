"""`recollect list`: the conversations, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.faces.cli.command import command
from recollect.faces.cli.options import SINCE, SOURCE, UNTIL, period
from recollect.faces.cli.session import Session

if TYPE_CHECKING:
    from recollect.memory import ConversationRow

_LIMIT = 50

TITLE = Annotated[str | None, typer.Option(metavar="TEXT", help="With this in the title.", show_default=False)]
LIMIT = Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="Conversations listed.")]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    command(
        app,
        "list",
        ("recollect list --source claude --since 2025", 'recollect list --title "bread" --limit 5'),
    )(list_)


def list_(
    session: Session,
    source: SOURCE = None,
    since: SINCE = None,
    until: UNTIL = None,
    title: TITLE = None,
    limit: LIMIT = _LIMIT,
) -> int:
    """List the conversations, newest first.

    Each with the end of its id, which `recollect show` takes.
    """
    first, last = period(since, until)
    rows = session.existing_memory().conversations(
        source=[name.lower() for name in source or ()],
        title=title or "",
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


def _print(session: Session, rows: list[ConversationRow], *, more: bool) -> None:
    from recollect.faces.cli.layout import padded, shortened
    from recollect.faces.cli.names import short, source_label, titled
    from recollect.faces.cli.output import harmless
    from recollect.faces.cli.times import day

    out = session.out
    if not rows:
        out.line("No conversation matches.")
    for row in rows:
        c = row.conversation
        facts = f"{day(c.updated or c.created):>11}  {padded(source_label(c.source), 11)}  {row.messages:>5,}  "
        room = None if out.width is None else out.width - len(facts) - len(short(c.id)) - 2
        out.line(f"{short(c.id)}  {out.dim(facts)}{shortened(harmless(titled(c.title)), room)}")
    if more:
        out.note(f"There are more: --limit {2 * len(rows)}, --title, --since.")


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
