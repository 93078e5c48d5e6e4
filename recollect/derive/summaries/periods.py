"""Days, weeks and months as periods: which ones a moment lies in, and when they end. All in UTC."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from recollect.record import NodeId, stable_id
from recollect.store import Task

#: The kind of the tasks; they are due when the period has ended.
PERIOD_TASK = "period"

DAY, WEEK, MONTH = "day", "week", "month"


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """A day, the week from a Monday on, or the month from its first day on."""

    kind: str
    first: date

    @property
    def name(self) -> str:
        """As in "day 2025-03-01", "week 2025-W09", "month 2025-03"."""
        if self.kind == WEEK:
            year, week, _ = self.first.isocalendar()
            return f"week {year}-W{week:02}"
        return f"{self.kind} {self.first:%Y-%m-%d}" if self.kind == DAY else f"month {self.first:%Y-%m}"

    @property
    def node_id(self) -> NodeId:
        """The id of its summary."""
        return stable_id("summary", "period", self.kind, self.first.isoformat())

    @property
    def start(self) -> datetime:
        """Its first moment."""
        return datetime.combine(self.first, time(), UTC)

    @property
    def end(self) -> datetime:
        """The first moment after it."""
        if self.kind == MONTH:
            return (self.start + timedelta(days=31)).replace(day=1)
        return self.start + timedelta(days=7 if self.kind == WEEK else 1)

    def days(self) -> list[Period]:
        """The days in it."""
        return [Period(DAY, self.first + timedelta(days=n)) for n in range((self.end - self.start).days)]

    def around(self) -> list[Period]:
        """The week and the month that a day lies in."""
        return [
            Period(WEEK, self.first - timedelta(days=self.first.weekday())),
            Period(MONTH, self.first.replace(day=1)),
        ]

    def task(self) -> Task:
        """The task to summarise it when it has ended. It has no subject: erasing the summary would take it away."""
        payload = f"{self.kind} {self.first.isoformat()}".encode()
        return Task(id=stable_id("task", self.node_id), kind=PERIOD_TASK, payload=payload, due=self.end)

    @classmethod
    def of(cls, task: Task) -> Period:
        """The period of a task."""
        kind, first = task.payload.decode().split()
        return cls(kind, date.fromisoformat(first))


def days_of(moments: Iterable[datetime | None]) -> list[Period]:
    """The days of these moments, each once, in order."""
    return sorted({Period(DAY, moment.astimezone(UTC).date()) for moment in moments if moment is not None})
