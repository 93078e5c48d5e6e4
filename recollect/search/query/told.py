"""The day that a message speaks of, read from the day it was said on: "on 12 May", "next Friday", "three weeks ago"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta

from recollect.text.dates import ANY_WEEKDAY, MONTH, WEEKDAYS, DateSpan, named_dates, next_weekday, one_day
from recollect.text.relative import relative_dates

_NEAR = 400  # days: what lies further from the day on which it was said is another time
_NTH = r"(\d{1,2})(?:st|nd|rd|th)?"
#: "17-26 August": several days of a month.
_RANGE = rf"(?i)\b{_NTH} ?(?:[-–]|to|until|till) ?{_NTH} (?:of )?({MONTH},?(?: \d{{4}})?)"
_COMING = (
    r"(?i)\b(?:(?P<tomorrow>tomorrow)|next (?P<unit>week|month)"
    rf"|(?:on|this|next) (?P<weekday>{ANY_WEEKDAY}))\b"
)


def told_days(sentence: str, said: date) -> tuple[date, date] | None:
    """The first and the last day that a sentence names, as said on a day; None where it names none, or far ones alone.

    >>> told_days("We are moving on 12 May.", date(2025, 4, 30))
    (datetime.date(2025, 5, 12), datetime.date(2025, 5, 12))
    >>> told_days("Ring road, 17-26 August, with my brother.", date(2024, 7, 2))[0]
    datetime.date(2024, 8, 17)
    """
    years = (said.year, said.year + 1, said.year - 1)
    spans = _ranges(sentence, years) or [
        *named_dates(sentence, years),
        *relative_dates(sentence, said),
        *_coming(sentence, said),
    ]
    near = [
        span for span in spans if abs((span.start - said).days) <= _NEAR and (span.end - span.start).days < _NEAR / 4
    ]
    if not near:
        return None
    nearest = min(near, key=lambda span: abs((span.start - said).days))
    return nearest.start, nearest.end


def _ranges(sentence: str, years: Sequence[int]) -> list[DateSpan]:
    found = []
    for match in re.finditer(_RANGE, sentence):
        begins = named_dates(f"{match[1]} {match[3]}", years)
        ends = named_dates(f"{match[2]} {match[3]}", years)
        found += [DateSpan(a.start, b.end) for a, b in zip(begins, ends, strict=False) if a.start <= b.end]
    return found


def _coming(sentence: str, said: date) -> list[DateSpan]:
    found = []
    for match in re.finditer(_COMING, sentence):
        if match["tomorrow"]:
            found.append(one_day(said + timedelta(days=1)))
        elif match["weekday"]:
            found.append(next_weekday(said, WEEKDAYS.index(match["weekday"].lower())))
        elif match["unit"].lower() == "week":
            monday = said + timedelta(days=7 - said.weekday())
            found.append(DateSpan(monday, monday + timedelta(days=6)))
        else:
            first = (said.replace(day=1) + timedelta(days=32)).replace(day=1)
            found.append(DateSpan(first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)))
    return found
