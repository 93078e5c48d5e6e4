"""Months, quarters and years as the timeline names them: "2024-01", "2024-Q1", "2024"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime

from recollect.errors import InvalidInput

_MONTH, _QUARTER, _YEAR = re.compile(r"(\d{4})-(\d\d)"), re.compile(r"(\d{4})-Q([1-4])"), re.compile(r"(\d{4})")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A run of whole months. `place` counts months since the year 0, `length` is 1, 3 or 12.

    >>> str(Span.of("2024-Q2")), Span.of("2024-Q2").label, Span.of("2024-01").before.label
    ('2024-Q2', 'April to June 2024', 'December 2023')
    """

    place: int
    length: int = 1

    @classmethod
    def of(cls, name: str) -> Span:
        """Raises InvalidInput for what is none."""
        if (found := _MONTH.fullmatch(name)) and 1 <= int(found[2]) <= 12 and int(found[1]):
            return cls(int(found[1]) * 12 + int(found[2]) - 1)
        if (found := _QUARTER.fullmatch(name)) and int(found[1]):
            return cls(int(found[1]) * 12 + 3 * int(found[2]) - 3, 3)
        if (found := _YEAR.fullmatch(name)) and int(found[1]):
            return cls(int(found[1]) * 12, 12)
        raise InvalidInput(f"{name!r} is no month, quarter or year.", hint="Use 2024-01, 2024-Q1 or 2024.")

    @classmethod
    def around(cls, day: date, length: int = 1) -> Span:
        """The month, quarter or year of a day."""
        place = day.year * 12 + day.month - 1
        return cls(place - place % length, length)

    def __str__(self) -> str:
        year, month = divmod(self.place, 12)
        return {1: f"{year:04}-{month + 1:02}", 3: f"{year:04}-Q{month // 3 + 1}"}.get(self.length, f"{year:04}")

    @property
    def label(self) -> str:
        """As in "January 2024", "January to March 2024", "2024"."""
        first, last = self.first, Span(self.place + self.length - 1).first
        if self.length == 12:
            return f"{first.year}"
        return f"{first:%B %Y}" if self.length == 1 else f"{first:%B} to {last:%B %Y}"

    @property
    def first(self) -> date:
        """Its first day."""
        return date(self.place // 12, self.place % 12 + 1, 1)

    @property
    def since(self) -> datetime:
        """When it begins."""
        return datetime(self.first.year, self.first.month, 1, tzinfo=UTC)

    @property
    def after(self) -> Span:
        """The one that follows, as long."""
        return Span(self.place + self.length, self.length)

    @property
    def before(self) -> Span:
        """The one before, as long."""
        return Span(self.place - self.length, self.length)

    @property
    def period(self) -> str:
        """As `Knowledge.days` takes it."""
        return f"{Span(self.place)} to {Span(self.place + self.length - 1)}"
