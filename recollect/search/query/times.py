"""The times of since:, until: and before:, as people write them."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, datetime, timedelta

from recollect.errors import InvalidInput
from recollect.text.relative import parse_moment

#: A filter means the very day, where a question means that time or so.
_AGO = re.compile(r"\s*(\d{1,4})\s+(day|week|month|year)s?(?:\s+ago)?\s*", re.IGNORECASE)
_HINT = 'Use 2025, 2025-03, 2025-03-14, "last week" or "3 days ago".'


def read_moment(name: str, value: str | datetime | None, now: datetime, *, end: bool = False) -> datetime | None:
    """The moment that a value means: the beginning of the day, month or year it names, or with `end` its end.

    "6 months ago", or "6 months", is that day. `name` is what the option is called in an error. Raises InvalidInput.
    """
    if value is None or isinstance(value, datetime):
        return value
    if ago := _AGO.fullmatch(value):
        value = _day_ago(now.date(), int(ago[1]), ago[2].lower()) or value
    found = parse_moment(_dashed(value), now.date(), end=end)
    if found is None:
        raise InvalidInput(f"{name}: {value!r} is not a date.", hint=_HINT)
    return found


def _day_ago(today: date, count: int, unit: str) -> str | None:
    """The day so long before today, the last of its month where that is shorter; None before the calendar begins."""
    try:
        if unit in ("day", "week"):
            return (today - timedelta(days=count * (7 if unit == "week" else 1))).isoformat()
        year, month = divmod(today.year * 12 + today.month - 1 - count * (12 if unit == "year" else 1), 12)
        return date(year, month + 1, min(today.day, monthrange(year, month + 1)[1])).isoformat()
    except (ValueError, OverflowError):
        return None


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
