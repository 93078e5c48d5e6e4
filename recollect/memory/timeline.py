"""When things were spoken of: messages by day, topics by month, and what each day of a time held."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from recollect.record import Conversation, Kind, Message, NodeId
from recollect.store import View, Where

if TYPE_CHECKING:
    from recollect.derive.topics.reading import Topic

_EPOCH = date(1970, 1, 1)
_UNDATED = -1
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class TopicMonth:
    """How much of a topic began in a month ("2024-01")."""

    month: str
    messages: int
    conversations: int


@dataclass(frozen=True, slots=True)
class Band:
    """A topic over time: the months in which something of it began, in order."""

    topic: Topic
    months: tuple[TopicMonth, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """All that was said, by time. `days` counts messages by UTC day, in order; `undated` are those without a time.
    `bands` are the largest topics.
    """

    days: tuple[tuple[date, int], ...]
    undated: int
    bands: tuple[Band, ...]


@dataclass(frozen=True, slots=True)
class DayRow:
    """What was said of a conversation on a day; `first` is the earliest message of it."""

    conversation: Conversation
    first: NodeId
    messages: int


@dataclass(frozen=True, slots=True)
class Day:
    """The conversations of a UTC day, in the order in which they were begun that day."""

    day: date
    rows: tuple[DayRow, ...]

    @property
    def messages(self) -> int:
        """How many were said that day."""
        return sum(row.messages for row in self.rows)


def timeline(view: View, topics: int) -> Timeline:
    """How much was said on each day, and the largest topics by month."""
    from recollect.derive.topics import reading

    counted = view.vocabulary().days()
    found = reading.topics(view, topics)
    months = reading.begun_by_month(view, found)
    return Timeline(
        tuple((_EPOCH + timedelta(days=day), count) for day, count in sorted(counted.items()) if day != _UNDATED),
        counted.get(_UNDATED, 0),
        tuple(Band(topic, tuple(TopicMonth(*month) for month in months[topic.id])) for topic in found),
    )


def days(view: View, since: int | None, until: int | None) -> list[Day]:
    """The days of a time on which something was said, the newest first, each with its conversations."""
    counts: dict[date, Counter[NodeId]] = {}
    firsts: dict[tuple[date, NodeId], tuple[datetime, Message]] = {}
    for message, moment in _said(view, since, until):
        day = moment.astimezone(UTC).date()
        counts.setdefault(day, Counter())[message.conversation_id] += 1
        firsts[day, message.conversation_id] = (moment, message)  # the newest come first: the last is the earliest
    ids = sorted({i for of_day in counts.values() for i in of_day})
    known = {one.id: one for one in view.get(Conversation, ids)}
    rows = {
        day: [DayRow(known[i], firsts[day, i][1].id, count) for i, count in of_day.items() if i in known]
        for day, of_day in counts.items()
    }
    begun = {message.id: moment for moment, message in firsts.values()}
    return [Day(day, tuple(sorted(rows[day], key=lambda row: begun[row.first]))) for day in sorted(rows, reverse=True)]


def _said(view: View, since: int | None, until: int | None) -> Iterator[tuple[Message, datetime]]:
    """What was said in a time, the newest first."""
    where = Where(since=since, until=until, kinds=(Kind.SAID.value,), deleted=False, order="newest")
    after: str | None = None
    while True:
        page = view.find(Message, where, after=after, limit=_PAGE)
        yield from ((one, one.timestamp) for one in page.items if one.timestamp is not None and not one.erased)
        after = page.next
        if after is None:
            return
