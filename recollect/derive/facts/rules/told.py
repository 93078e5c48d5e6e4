"""When something holds from, or until, where it is told: "in May", "since 2015", "last Friday", "this weekend", as of
the day it was said.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

from recollect.text.dates import ANY_MONTH, DateSpan, named_dates
from recollect.text.relative import coming_dates, relative_dates

_SINCE_YEAR = re.compile(r"\bsince ((?:19|20)\d\d)\b")
_TIME_WORDS = re.compile(rf"\b(?:\d|yesterday|today|last|ago|since|in|on|this|{ANY_MONTH})", re.IGNORECASE)


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
    ends.update(coming_dates(text, today))
    if not ends:
        return None
    return _moment(min(ends)) + timedelta(days=1)


def _spans(text: str, today: date) -> list[DateSpan]:
    relative = list(relative_dates(text, today))
    if relative:
        return relative
    this_year = [span for span in named_dates(text, (today.year,)) if span.start <= today]
    return this_year or list(named_dates(text, (today.year - 1,)))


def _moment(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
