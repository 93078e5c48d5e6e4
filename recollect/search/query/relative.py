"""Times said from today: "yesterday", "two weeks ago", "last spring"; and the times of --since and --until."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import UTC, date, datetime, time
from functools import cache

from recollect.search.query import reckoning
from recollect.search.query.dates import MONTH, DateSpan, exact_dates, month_number, one_day, whole_month
from recollect.search.query.relative_languages import only_span, spans_named

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SEASON_BEGINS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # the month, in the north
_NUMBER_WORDS = "one two three four five six seven eight nine ten eleven twelve"
_COUNTS = {word: number for number, word in enumerate(_NUMBER_WORDS.split(), 1)}
_COUNTS |= {"a": 1, "an": 1, "a couple of": 2, "couple of": 2}
_UNIT = r"(day|week|month|year)"
_COUNT = rf"({'|'.join(sorted(_COUNTS, key=len, reverse=True))}|\d{{1,4}})"
_NO_MORE = r"\b(?!\s+(?:of|before)\b)"  # "the last week of the trip" is not last week


def relative_dates(text: str, today: date) -> tuple[DateSpan, ...]:
    """The times that a text names by their distance from today; only those that are sure ("recently" is none).

    In English and, from tables, in German, French, Spanish and Chinese (relative_languages.py). Weeks begin on Monday,
    seasons are those of the northern half of the world.

    >>> relative_dates("the plumber I called two days ago", date(2025, 3, 14))[0].start
    datetime.date(2025, 3, 12)
    """
    return tuple(span for _, _, span in _named(text, today))


def without_relative(text: str, today: date, years: Collection[int]) -> str:
    """The text without such words where there is something to be found in those times: they say when, not what.

    Where nothing was said in the years that they mean, they may be words of what is sought.

    >>> without_relative("what did I say last week about bread", date(2025, 3, 14), [2024, 2025])
    'what did I say about bread'
    """
    rest = len(text)
    for start, end, span in reversed(_named(text, today)):
        if span.start.year in years or span.end.year in years:
            text = f"{text[:start].rstrip()} {text[min(end, rest) :].lstrip()}".strip()
            rest = start
    return text


def _named(text: str, today: date) -> list[tuple[int, int, DateSpan]]:
    """Where each phrase begins and ends, and what it means, in the order of the text."""
    found: list[tuple[int, int, DateSpan]] = []
    lowered = text.lower()
    for pattern, read in _phrases() if any(part in lowered for part in _IN_EVERY_PHRASE) else ():
        for match in pattern.finditer(text):
            with suppress(ValueError, OverflowError):  # before the year 1
                found.append((*match.span(), read(match, today)))
    found += spans_named(text, today)
    return sorted(found, key=lambda place: place[0])


def with_year(text: str, today: date) -> str:
    """The text with the number of the year where it names a month of it: "in March last year", "May of this year".

    >>> with_year("the storm of March last year", date(2025, 5, 2))
    'the storm of March 2024'
    """
    if "year" not in text.lower():
        return text
    return re.sub(_OF_A_YEAR, lambda match: f"{match[1]} {today.year - (match[3].lower() == 'last')}", text)


def parse_moment(text: str, today: date, *, end: bool) -> datetime | None:
    """The moment that a text names, in UTC, or None for a text that names none.

    Understands "2025", "2025-03", "2025-03-14", ISO dates with a time, "March 2024", "3 May", "last week",
    "3 days ago". Of a span it is the beginning, or with `end` the moment after it: between them lies all of it.
    A date without a year is the last one that has begun. A time without a zone is UTC.
    """
    text = " ".join(text.split())
    with suppress(ValueError, OverflowError):
        span = _only_span(text, today)
        if span is None:
            moment = datetime.fromisoformat(text)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        return datetime.combine(span.end + reckoning.DAY if end else span.start, time(), UTC)
    return None


def _only_span(text: str, today: date) -> DateSpan | None:
    """The span of a text that is nothing but a span. Raises ValueError or OverflowError for impossible ones."""
    with suppress(ValueError):
        return one_day(date.fromisoformat(text))
    if month := re.fullmatch(r"(\d{4})-(\d{1,2})", text):
        return whole_month(int(month[1]), int(month[2]))
    for pattern, read in _phrases():
        if match := pattern.fullmatch(text):
            return read(match, today)
    if span := only_span(text, today):
        return span
    spans = exact_dates(text, years=(today.year, today.year - 1))
    return next((span for span in spans if span.start <= today), spans[0] if spans else None)


# --- what each phrase says -------------------------------------------------------------------------------------------
def _ago(match: re.Match[str], today: date) -> DateSpan:
    return reckoning.ago(today, _count(match[1]), match[2].lower())


def _past(match: re.Match[str], today: date) -> DateSpan:
    return reckoning.past(today, _count(match[1] or "one"), match[2].lower())


def _last_unit(match: re.Match[str], today: date) -> DateSpan:
    return reckoning.last_unit(today, match[1].lower())


def _this_unit(match: re.Match[str], today: date) -> DateSpan:
    return reckoning.this_unit(today, match[1].lower())


def _last_weekday(match: re.Match[str], today: date) -> DateSpan:
    return reckoning.last_weekday(today, _WEEKDAYS.index(match[1].lower()))


def _last_season(match: re.Match[str], today: date) -> DateSpan:
    """The latest that is over."""
    season = match[1].lower()
    return next(s for back in range(3) if (s := _season(today.year - back, season)).end < today)


def _last_month_named(match: re.Match[str], today: date) -> DateSpan:
    """The latest that is over."""
    month = month_number(match[1])
    return next(m for back in range(2) if (m := whole_month(today.year - back, month)).end < today)


def _this_month_named(match: re.Match[str], today: date) -> DateSpan:
    return whole_month(today.year, month_number(match[1]))


def _this_season(match: re.Match[str], today: date) -> DateSpan:
    """The latest that has begun, or else this year's."""
    season = match[1].lower()
    recent = next(s for back in range(3) if (s := _season(today.year - back, season)).start <= today)
    return recent if recent.end.year == today.year else _season(today.year, season)


_Reader = Callable[[re.Match[str], date], DateSpan]


_SEASON, _WEEKDAY = f"({'|'.join(_SEASON_BEGINS)})", f"({'|'.join(_WEEKDAYS)})"

_OF_A_YEAR = rf"(?i)\b({MONTH})(?: of)? (last|this) year\b"

#: What each phrase has something of.
_IN_EVERY_PHRASE = ("yesterday", "today", "tonight", "this", "ago", "last", "past")
_PHRASES: tuple[tuple[str, _Reader], ...] = (
    (r"(?:the )?day before yesterday\b", lambda _, today: reckoning.days_ago(today, 2)),
    (r"(?<!day before )(?:yesterday|last night)\b", lambda _, today: reckoning.days_ago(today, 1)),
    (r"(?:today|tonight|this (?:morning|afternoon|evening))\b", lambda _, today: one_day(today)),
    (rf"{_COUNT} {_UNIT}s? ago\b", _ago),
    (rf"(?:last|past) {_COUNT} {_UNIT}s{_NO_MORE}", _past),
    (rf"past ()(week|month|year){_NO_MORE}", _past),
    (rf"last (week|month|year){_NO_MORE}", _last_unit),
    (rf"this (week|month|year){_NO_MORE}", _this_unit),
    (rf"last weekend{_NO_MORE}", lambda _, today: reckoning.last_weekend(today)),
    (rf"last {_WEEKDAY}{_NO_MORE}", _last_weekday),
    (rf"last {_SEASON}{_NO_MORE}", _last_season),
    (rf"this {_SEASON}{_NO_MORE}", _this_season),
    (rf"last {MONTH}(?!\w)", _last_month_named),
    (rf"this (?!(?-i:may)){MONTH}(?!\w)", _this_month_named),
)


@cache
def _phrases() -> tuple[tuple[re.Pattern[str], _Reader], ...]:
    """Compiled by the first text that may hold one."""
    return tuple((re.compile(rf"\b{phrase}", re.IGNORECASE | re.ASCII), read) for phrase, read in _PHRASES)


def _count(word: str) -> int:
    return int(word) if word.isdigit() else _COUNTS[word.lower()]


def _season(year: int, season: str) -> DateSpan:
    """The season that begins in the year; winter ends in the next."""
    first = _SEASON_BEGINS[season]
    last = whole_month(year + first // 12, (first + 1) % 12 + 1)
    return DateSpan(date(year, first, 1), last.end)
