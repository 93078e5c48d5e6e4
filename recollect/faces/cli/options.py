"""Options that several commands have."""

from __future__ import annotations

from datetime import datetime

from recollect.faces.cli.parser import Option

SOURCE = Option(("--source",), "Only this source: chatgpt, claude, codex …", "NAME", several=True, values="sources")
SINCE = Option(("--since", "--after"), 'From then on: 2025, 2025-03, "last week" …', "WHEN")
UNTIL = Option(("--until",), "Up to then, that day or month included.", "WHEN")
BEFORE = Option(("--before",), "Up to then, that day or month left out.", "WHEN")

NO_BACKGROUND = Option(("--no-background",), "Leave no process behind that works on what is new.", default=False)


def period(since: str | None, until: str | None, before: str | None) -> tuple[datetime | None, datetime | None]:
    """The times that --since, --until and --before mean. Raises InvalidInput, also where nothing lies between them."""
    if since is None and until is None and before is None:
        return None, None
    from recollect.record import utc_now
    from recollect.search.query.times import read_period

    return read_period(since, until, before, utc_now(), prefix="--")
