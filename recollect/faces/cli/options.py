"""Options that several commands have."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from recollect.errors import InvalidInput

SOURCE = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Only chatgpt, claude, claude-code, codex …", show_default=False),
]
SINCE = Annotated[
    str | None, typer.Option(metavar="WHEN", help='From 2025, 2025-03, "last week" …', show_default=False)
]
UNTIL = Annotated[str | None, typer.Option(metavar="WHEN", help="Up to and including then.", show_default=False)]


def moment(name: str, text: str | None, *, end: bool) -> datetime | None:
    """The time that an option means: the first moment of it, or with `end` the last. Raises InvalidInput."""
    from recollect.record import utc_now
    from recollect.search.relative import parse_moment

    if text is None:
        return None
    found = parse_moment(text, utc_now().date(), end=end)
    if found is None:
        raise InvalidInput(f"--{name}: {text!r} is not a time.", hint='Use 2025-03-14, 2025-03 or "last week".')
    return found


def period(since: str | None, until: str | None) -> tuple[datetime | None, datetime | None]:
    """The times that --since and --until mean. Raises InvalidInput, also where the first is after the second."""
    first, last = moment("since", since, end=False), moment("until", until, end=True)
    if first and last and first >= last:
        raise InvalidInput(f"--since {since} is after --until {until}.", hint="Exchange them.")
    return first, last
