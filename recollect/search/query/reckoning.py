"""Days counted back from one: two weeks ago, the last month, the past year."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

from recollect.search.query.dates import DateSpan, one_day, whole_month, whole_year

DAY = timedelta(days=1)

# How far what is said to be so long ago may lie from the very day, to either side.
_VAGUENESS = {"day": 0, "week": 3, "month": 15, "year": 182}


def days_ago(today: date, count: int) -> DateSpan:
    """A single day: yesterday, the day before."""
    return one_day(today - count * DAY)


def ago(today: date, count: int, unit: str) -> DateSpan:
    """About so many days, weeks, months or years before, never later than the day itself."""
    middle, margin = back(today, count, unit), timedelta(days=_VAGUENESS[unit])
    return DateSpan(middle - margin, min(middle + margin, today))


def past(today: date, count: int, unit: str) -> DateSpan:
    """From so many days, weeks, months or years before to the day itself."""
    return DateSpan(back(today, count, unit), today)


def last_unit(today: date, unit: str) -> DateSpan:
    """The week, month or year before the one of the day; weeks begin on Monday."""
    before = beginning(today, unit) - DAY
    return DateSpan(beginning(before, unit), before)


def this_unit(today: date, unit: str) -> DateSpan:
    """The week, month or year that the day lies in, as far as it has come."""
    return DateSpan(beginning(today, unit), today)


def last_weekday(today: date, weekday: int) -> DateSpan:
    """The latest such day before the day itself; Monday is 0."""
    return days_ago(today, (today.weekday() - weekday) % 7 or 7)


def last_weekend(today: date) -> DateSpan:
    """Saturday and Sunday of the week before."""
    sunday = beginning(today, "week") - DAY
    return DateSpan(sunday - DAY, sunday)


def back(day: date, count: int, unit: str) -> date:
    """The day so many days, weeks, months or years before; the last of the month where there is no such day."""
    if unit in ("day", "week"):
        return day - count * (7 if unit == "week" else 1) * DAY
    months = day.year * 12 + day.month - 1 - count * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def beginning(day: date, unit: str) -> date:
    """The first day of the week, month or year that the day lies in."""
    if unit == "week":
        return day - day.weekday() * DAY
    return (whole_month(day.year, day.month) if unit == "month" else whole_year(day.year)).start
