"""The times of since:, until: and before:, as people write them."""

from __future__ import annotations

import re
from datetime import datetime

from recollect.errors import InvalidInput
from recollect.search.query.relative import parse_moment

_HINT = 'Use 2025, 2025-03, 2025-03-14, "last week" or "3 days ago".'


def read_moment(name: str, value: str | datetime | None, now: datetime, *, end: bool = False) -> datetime | None:
    """The moment that a value means: the beginning of the day, month or year it names, or with `end` its end.

    `name` is what the option is called in an error. Raises InvalidInput.
    """
    if value is None or isinstance(value, datetime):
        return value
    found = parse_moment(_dashed(value), now.date(), end=end)
    if found is None:
        raise InvalidInput(f"{name}: {value!r} is not a date.", hint=_HINT)
    return found


def read_period(
    since: str | datetime | None,
    until: str | datetime | None,
    before: str | datetime | None,
    now: datetime,
    *,
    prefix: str = "",
) -> tuple[datetime | None, datetime | None]:
    """From when, and until just before when. Raises InvalidInput, also where nothing can lie between."""
    first = read_moment(f"{prefix}since", since, now)
    ends = {
        f"{prefix}until {until}": read_moment(f"{prefix}until", until, now, end=True),
        f"{prefix}before {before}": read_moment(f"{prefix}before", before, now),
    }
    given = [(moment, told) for told, moment in ends.items() if moment is not None]
    last, told = min(given, default=(None, ""))
    if first is not None and last is not None and first >= last:
        raise InvalidInput(f"Nothing can be since {since} and {told.removeprefix(prefix)}.", hint="Swap the dates.")
    return first, last


def _dashed(text: str) -> str:
    """2024/03 and 2024/3/1 as 2024-03 and 2024-03-01."""
    match = re.fullmatch(r"\s*(\d{4})/(\d{1,2})(?:/(\d{1,2}))?\s*", text)
    return "-".join(part.zfill(2) for part in match.groups() if part) if match else text
