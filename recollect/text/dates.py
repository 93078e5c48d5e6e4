"""The calendar: the dates that a text names, as ranges of days, and days counted back from one."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from recollect.text.words import word_lists

_EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A range of days, the first and the last one included."""

    start: date
    end: date

    @property
    def days(self) -> tuple[int, int]:
        """The same in days since 1970."""
        return self.start.toordinal() - _EPOCH, self.end.toordinal() - _EPOCH


_CALENDAR = word_lists("calendar")
MONTHS, SHORT_MONTHS, WEEKDAYS, SEASONS = (_CALENDAR[key] for key in ("months", "short months", "weekdays", "seasons"))
_NUMBER_OF_MONTH = {name[:3]: number for number, name in enumerate(MONTHS, 1)}
#: The month that each season begins with, in the north.
_SEASON_BEGINS = dict(zip(SEASONS, (3, 6, 9, 9, 12), strict=True))

#: The same for use in patterns. A month by its English name is a group.
ANY_MONTH, ANY_WEEKDAY, ANY_SEASON = "|".join(MONTHS), "|".join(WEEKDAYS), "|".join(SEASONS)
MONTH = rf"({'|'.join(MONTHS + tuple(name for name in SHORT_MONTHS if name != 'may'))})\.?"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"


#: What each form has something of.
_IN_EVERY_FORM = re.compile(rf"\d|{'|'.join(_NUMBER_OF_MONTH)}", re.IGNORECASE)
# "2025年2月14日", "2월 14일", "2月": Chinese, Japanese and Korean dates, with or without a year.
_YEAR_SIGN, _MONTH_SIGN, _DAY_SIGN = "[年년]", "[月월]", "[日号號일]"
_ITS_YEAR = rf"(?:(\d{{4}})\s*{_YEAR_SIGN}\s*)?(?<!\d)"
_CJK_DAY = rf"{_ITS_YEAR}(\d{{1,2}})\s*{_MONTH_SIGN}\s*(\d{{1,2}})\s*{_DAY_SIGN}"
_CJK_MONTH = rf"{_ITS_YEAR}(\d{{1,2}})\s*{_MONTH_SIGN}"
_CJK_YEAR = rf"(?<!\d)((?:19|20)\d\d)\s*{_YEAR_SIGN}"

_ISO_DAY = r"\b(20\d\d)-(\d\d)-(\d\d)\b"
_DAY_MONTH = rf"\b{_DAY}(?: of)? {MONTH},?(?: (\d{{4}}))?\b"
_MONTH_DAY = rf"\b{MONTH} {_DAY}\b(?:,? (\d{{4}}))?"
_MONTH_YEAR = rf"\b{MONTH},? (?:of )?(\d{{4}})\b"
_MONTH_ALONE = rf"\b(?:in|during|since|by|of|early|late|mid) (?:early |late |mid-?)?{MONTH}\b"
_YEAR = r"\b(?:in|during|since|of|year) ((?:19|20)\d\d)\b"


def named_dates(text: str, years: Sequence[int] = ()) -> tuple[DateSpan, ...]:
    """The days, months and years that a text names; a date without a year once for each of `years`.

    Form by form, each in order of the text; what is no date of the calendar (31 June) is left out.

    >>> [str(span.start) for span in named_dates("from 3 May to 2024-06-01", years=[2023, 2024])]
    ['2024-06-01', '2023-05-03', '2024-05-03']
    """
    spans: list[DateSpan] = []
    if not _IN_EVERY_FORM.search(text):
        return ()
    for pattern, read, then_gone in _forms():
        for match in pattern.finditer(text):
            spans += read(match, years)
        if then_gone:
            text = pattern.sub(" ", text)
    return tuple(spans)


_Reader = Callable[[re.Match[str], Sequence[int]], Iterator[DateSpan]]


def _iso_day(match: re.Match[str], years: Sequence[int]) -> Iterator[DateSpan]:
    return _spans([int(match[1])], int(match[2]), int(match[3]))


def _day_month(match: re.Match[str], years: Sequence[int]) -> Iterator[DateSpan]:
    return _spans([int(match[3])] if match[3] else years, month_number(match[2]), int(match[1]))


def _month_day(match: re.Match[str], years: Sequence[int]) -> Iterator[DateSpan]:
    return _spans([int(match[3])] if match[3] else years, month_number(match[1]), int(match[2]))


def _month_year(match: re.Match[str], years: Sequence[int]) -> Iterator[DateSpan]:
    return _spans([int(match[2])], month_number(match[1]))


def _month_alone(match: re.Match[str], years: Sequence[int]) -> Iterator[DateSpan]:
    return _spans(years, month_number(match[1]))


def _cjk_day(match: re.Match[str], years: Sequence[int]) -> Iterator[DateSpan]:
    return _spans([int(match[1])] if match[1] else years, int(match[2]), int(match[3]))


def _cjk_month(match: re.Match[str], years: Sequence[int]) -> Iterator[DateSpan]:
    return _spans([int(match[1])] if match[1] else years, int(match[2]))


def _year(match: re.Match[str], years: Sequence[int]) -> Iterator[DateSpan]:
    yield whole_year(int(match[1]))


# The form, what it says, and whether its words are gone for the forms after it.
_FORMS: tuple[tuple[str, _Reader, bool], ...] = (
    (_CJK_DAY, _cjk_day, True),
    (_CJK_MONTH, _cjk_month, True),
    (_CJK_YEAR, _year, True),
    (_ISO_DAY, _iso_day, False),
    (_DAY_MONTH, _day_month, True),
    (_MONTH_DAY, _month_day, True),
    (_MONTH_YEAR, _month_year, True),
    (_MONTH_ALONE, _month_alone, True),
    (_YEAR, _year, False),
)


@cache
def _forms() -> tuple[tuple[re.Pattern[str], _Reader, bool], ...]:
    """Compiled by the first text that may name a date."""
    return tuple((re.compile(form, re.IGNORECASE), read, then_gone) for form, read, then_gone in _FORMS)


def exact_dates(text: str, years: Sequence[int] = ()) -> tuple[DateSpan, ...]:
    """The same of a text that is nothing but a day, a month or a year; no spans for any other text.

    >>> [str(span.end) for span in exact_dates("February 2024")]
    ['2024-02-29']
    """
    for phrase in (text, f"in {text}"):
        for pattern, read, _ in _forms():
            if match := pattern.fullmatch(phrase):
                return tuple(read(match, years))
    return ()


def without_dates(text: str) -> str:
    """The text without the days, months and years that it names.

    >>> without_dates("dinner with Ana on 3 May 2023")
    'dinner with Ana on  '
    """
    for pattern, _, _ in _forms():
        text = pattern.sub(" ", text)
    return text


def month_number(name: str) -> int:
    """1 to 12, of a match of MONTH."""
    return _NUMBER_OF_MONTH[name[:3].casefold()]


def _spans(years: Sequence[int], month: int, day: int | None = None) -> Iterator[DateSpan]:
    for year in years:
        with suppress(ValueError):  # no such day
            yield whole_month(year, month) if day is None else one_day(date(year, month, day))


def one_day(day: date) -> DateSpan:
    """A single day."""
    return DateSpan(day, day)


def whole_month(year: int, month: int) -> DateSpan:
    """All days of a month. Raises ValueError where there is no such month."""
    after = date(year + month // 12, month % 12 + 1, 1)
    return DateSpan(date(year, month, 1), after - timedelta(days=1))


def whole_year(year: int) -> DateSpan:
    """All days of a year. Raises ValueError beyond the years 1 to 9999."""
    return DateSpan(date(year, 1, 1), date(year, 12, 31))


# --- days counted back from one: two weeks ago, the last month, the past year ---------------------------------------

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


def season(year: int, name: str) -> DateSpan:
    """The season that begins in the year; winter ends in the next."""
    first = _SEASON_BEGINS[name]
    return DateSpan(date(year, first, 1), whole_month(year + first // 12, (first + 1) % 12 + 1).end)


def next_weekday(today: date, weekday: int) -> DateSpan:
    """The first such day after the day itself; Monday is 0."""
    return days_ago(today, -((weekday - today.weekday()) % 7 or 7))
