"""When something holds from, or until, where it is told: "in May", "since 2015", "last Friday", "this weekend", as of
the day it was said.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta

from recollect.search.query.dates import DateSpan, named_dates, whole_month
from recollect.search.query.relative import relative_dates

_SINCE_YEAR = re.compile(r"\bsince ((?:19|20)\d\d)\b")
_TIME_WORDS = re.compile(
    r"\b(?:\d|yesterday|today|last|ago|since|in|on|this|january|february|march|april|may|june|july|august|september|"
    r"october|november|december)",
    re.IGNORECASE,
)


def told_since(text: str, said_at: datetime | None) -> datetime | None:
    """The beginning of the one time that a text names, if it lies before what was said; None where it is not sure."""
    if said_at is None or not _TIME_WORDS.search(text):
        return None
    if match := _SINCE_YEAR.search(text):
        return _moment(date(int(match[1]), 1, 1))
    today = said_at.date()
    spans = _spans(text, today)
    past = [span for span in spans if span.start <= today]
    starts = {span.start for span in past}
    if len(starts) == 1:
        return _moment(past[0].start)
    return None


def told_until(text: str, said_at: datetime | None) -> datetime | None:
    """The end of the day, week, month, season or year that is named and not over yet; None where it is not sure."""
    if said_at is None:
        return None
    today = said_at.date()
    ends = {span.end for span in named_dates(text, (today.year, today.year + 1)) if span.end >= today}
    with suppress(OverflowError, ValueError):  # beyond the calendar
        ends |= {_ahead(match, today) for match in _AHEAD.finditer(text)}
    if not ends:
        return None
    return _moment(min(ends)) + timedelta(days=1)


_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # the month that it begins with
_COUNTS = {"two": 2, "three": 3, "four": 4}
#: The times to come that plans name (WHEN in predicate.py) and that are no dates.
_AHEAD = re.compile(
    r"\b(?:(?P<near>tonight|today|tomorrow)"
    rf"|(?P<which>this|next) (?:coming )?(?P<unit>weekend|week|month|year|{'|'.join(_SEASONS)})"
    r"|in (?P<count>two|three|four|\d{1,3}) (?P<many>days|weeks|months)"
    rf"|(?P<next>next )?(?P<weekday>{'|'.join(_WEEKDAYS)}))\b",
    re.IGNORECASE | re.ASCII,
)


def _ahead(match: re.Match[str], today: date) -> date:
    """The last day of a time to come. Raises ValueError or OverflowError beyond the calendar."""
    said = {name: (value or "").lower() for name, value in match.groupdict().items()}
    later = said["which"] == "next"
    if said["near"]:
        return today + timedelta(days=said["near"] == "tomorrow")
    if said["weekday"]:
        return today + timedelta(days=(_WEEKDAYS.index(said["weekday"]) - today.weekday()) % 7 or 7)
    if said["many"]:
        count = _COUNTS.get(said["count"]) or int(said["count"])
        days = {"days": 1, "weeks": 7, "months": 31}[said["many"]]
        return today + timedelta(days=count * days)
    if said["unit"] in ("week", "weekend"):
        return today + timedelta(days=6 - today.weekday() + 7 * later)
    if said["unit"] == "month":
        month = today.month + later
        return whole_month(today.year + (month - 1) // 12, (month - 1) % 12 + 1).end
    if said["unit"] == "year":
        return date(today.year + later, 12, 31)
    return _season_ahead(_SEASONS[said["unit"]], today, later)


def _season_ahead(first: int, today: date, later: bool) -> date:
    """The last day of the season that is not over yet, or of the next to begin."""
    for year in range(today.year - 1, today.year + 3):
        begins, last = date(year, first, 1), whole_month(year + first // 12, (first + 1) % 12 + 1).end
        if (begins > today) if later else (last >= today):
            return last
    raise ValueError("no such season")


def _spans(text: str, today: date) -> list[DateSpan]:
    relative = list(relative_dates(text, today))
    if relative:
        return relative
    this_year = [span for span in named_dates(text, (today.year,)) if span.start <= today]
    return this_year or list(named_dates(text, (today.year - 1,)))


def _moment(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
