"""Times in which nothing was said: where the memory begins or ends, and the nearest days on which something was."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from recollect.record import from_microseconds
from recollect.text.dates import DateSpan, named_dates, without_dates
from recollect.text.relative import without_relative
from recollect.text.terms import terms


@dataclass(frozen=True, slots=True)
class NothingFrom:
    """Times in which nothing was said, in days of UTC. `first` and `last` are the days with which the memory begins and
    ends, `closest` those before and after on which something was said; `today` is the day on which it was asked.
    """

    spans: tuple[DateSpan, ...]
    first: date
    last: date
    closest: tuple[date, ...]
    today: date

    def is_all_of(self, question: str) -> bool:
        """Whether a question asks for hardly more than these times: for at most one word besides."""
        years = {day.year for span in self.spans for day in (span.start, span.end)}
        return len(set(terms(without_dates(without_relative(question, self.today, years))))) <= 1

    def is_named_in(self, text: str) -> bool:
        """Whether a text speaks of one of these times by its date; of a day also without its year."""
        years = sorted({span.start.year for span in self.spans if span.start == span.end})
        named = named_dates(text, years)
        return any(span.start <= one.end and one.start <= span.end for span in self.spans for one in named)

    def __str__(self) -> str:
        """As in "Nothing from 18 March 2021; your memory begins in June 2023. Closest: 2 June 2023."."""
        told = " or ".join(_named(span) for span in self.spans)
        if all(span.end < self.first for span in self.spans):
            told += f"; your memory begins in {self.first:%B %Y}"
        elif all(span.start > self.last for span in self.spans):
            told += f"; your memory ends in {self.last:%B %Y}"
        return f"Nothing from {told}. Closest: {' and '.join(_day(day) for day in self.closest)}."


def nothing_from(days: Collection[date], spans: Sequence[DateSpan], today: date) -> NothingFrom | None:
    """What to say where nothing was said in any of these times; None where something was, where one of them has not
    begun, and of an empty memory. `days` are those on which something was.
    """
    if not days or not spans or any(span.start > today for span in spans):
        return None
    if any(span.start <= day <= span.end for span in spans for day in days):
        return None
    before = max((day for day in days if day < spans[-1].start), default=None)
    after = min((day for day in days if day > spans[-1].end), default=None)
    return NothingFrom(
        tuple(spans), min(days), max(days), tuple(day for day in (before, after) if day is not None), today
    )


def between(since: int, until: int) -> DateSpan:
    """The days of a time from one moment to before another, in microseconds."""
    first, last = from_microseconds(since), from_microseconds(until - 1)
    assert first is not None
    assert last is not None
    return DateSpan(first.date(), max(first, last).date())


def _day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def _named(span: DateSpan) -> str:
    """A day, a whole month or year, or the days from one to another."""
    if span.start == span.end:
        return _day(span.start)
    if (span.start, span.end) == (date(span.start.year, 1, 1), date(span.start.year, 12, 31)):
        return str(span.start.year)
    if span.start.day == 1 and (span.end + timedelta(days=1)).day == 1 and span.start.month == span.end.month:
        return f"{span.start:%B %Y}"
    begin = f"{span.start.day}" if (span.start.year, span.start.month) == (span.end.year, span.end.month) else ""
    return f"{begin or _day(span.start)} to {_day(span.end)}"
