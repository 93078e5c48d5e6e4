"""The timeline and topics: how much was said when, and about what."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from recollect.errors import InvalidInput
from recollect.faces.http.scope import Scoped
from recollect.faces.present.summaries import summary_sections
from recollect.faces.web.page import page

if TYPE_CHECKING:
    from recollect.derive.summaries.reading import Summary
    from recollect.memory import Memory
    from recollect.memory.knowledge import Band, Day, Timeline
    from recollect.record import Conversation, Message


_MONTH, _QUARTER, _SPANS_YEAR = re.compile(r"(\d{4})-(\d\d)"), re.compile(r"(\d{4})-Q([1-4])"), re.compile(r"(\d{4})")


@dataclass(frozen=True, slots=True, order=True)
class CalendarSpan:
    """A run of whole months. `place` counts months since the year 0, `length` is 1, 3 or 12.

    >>> str(CalendarSpan.of("2024-Q2")), CalendarSpan.of("2024-Q2").label, CalendarSpan.of("2024-01").before.label
    ('2024-Q2', 'April to June 2024', 'December 2023')
    """

    place: int
    length: int = 1

    @classmethod
    def of(cls, name: str) -> CalendarSpan:
        """Raises InvalidInput for what is none."""
        if (found := _MONTH.fullmatch(name)) and 1 <= int(found[2]) <= 12 and int(found[1]):
            return cls(int(found[1]) * 12 + int(found[2]) - 1)
        if (found := _QUARTER.fullmatch(name)) and int(found[1]):
            return cls(int(found[1]) * 12 + 3 * int(found[2]) - 3, 3)
        if (found := _SPANS_YEAR.fullmatch(name)) and int(found[1]):
            return cls(int(found[1]) * 12, 12)
        raise InvalidInput(f"{name!r} is no month, quarter or year.", hint="Use 2024-01, 2024-Q1 or 2024.")

    @classmethod
    def around(cls, day: date, length: int = 1) -> CalendarSpan:
        """The month, quarter or year of a day."""
        place = day.year * 12 + day.month - 1
        return cls(place - place % length, length)

    def __str__(self) -> str:
        year, month = divmod(self.place, 12)
        return {1: f"{year:04}-{month + 1:02}", 3: f"{year:04}-Q{month // 3 + 1}"}.get(self.length, f"{year:04}")

    @property
    def label(self) -> str:
        """As in "January 2024", "January to March 2024", "2024"."""
        first, last = self.first, CalendarSpan(self.place + self.length - 1).first
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
    def after(self) -> CalendarSpan:
        """The one that follows, as long."""
        return CalendarSpan(self.place + self.length, self.length)

    @property
    def before(self) -> CalendarSpan:
        """The one before, as long."""
        return CalendarSpan(self.place - self.length, self.length)

    @property
    def period(self) -> str:
        """As `Knowledge.days` takes it."""
        return f"{CalendarSpan(self.place)} to {CalendarSpan(self.place + self.length - 1)}"


_ROW, _BARS, _YEARS = 30, 52, 18  # heights
_NAMES = 190  # the width of the names of rows, in the wide picture
_WIDE, _THIN = 1000, 358
_NARROWEST, _LARGEST = 12, 9.0  # of a column; of a dot
_YEAR, _STEPS = 32, (1, 2, 5, 10, 20, 50, 100, 200, 500)  # the width of a year's number; of how many one is told
_FEWEST = 12  # columns, so that those of a short history are not as broad as a hand


@dataclass(frozen=True, slots=True)
class Dot:
    """What was said of a topic in a span, `r` by how much."""

    span: CalendarSpan
    x: float
    y: float
    r: float
    messages: int
    conversations: int


@dataclass(frozen=True, slots=True)
class TopicRow:
    """A topic: its name stands at `y`, a line under it at `line`."""

    band: Band
    y: float
    line: float
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class TimelineBar:
    """All that was said in a span."""

    span: CalendarSpan
    x: float
    height: float
    messages: int


@dataclass(frozen=True, slots=True)
class TimelineDrawing:
    """The bands, drawn: `unit` is the length of a column in months. `years` are where years begin."""

    width: int
    height: int
    column: float
    unit: int
    bars: tuple[TimelineBar, ...]
    rows: tuple[TopicRow, ...]
    years: tuple[tuple[float, int], ...]
    chosen: float | None
    base: int = _BARS


def wide_drawing(timeline: Timeline, chosen: CalendarSpan | None) -> TimelineDrawing | None:
    """For a screen: names left of the rows, columns of months, of quarters or years in a long history."""
    spans = _spans(timeline)
    if not spans:
        return None
    unit = next((unit for unit in (1, 3) if len(spans) / unit * _NARROWEST <= 2 * (_WIDE - _NAMES)), 12)
    return _drawn(timeline, chosen, unit, _NAMES, _WIDE, names_above=False)


def narrow_drawing(timeline: Timeline, chosen: CalendarSpan | None) -> TimelineDrawing | None:
    """For a phone: names above the rows, columns of quarters or years."""
    spans = _spans(timeline)
    if not spans:
        return None
    unit = 3 if len(spans) / 3 * 1.6 * _NARROWEST <= _THIN else 12
    return _drawn(timeline, chosen, unit, 0, _THIN, names_above=True)


def _spans(timeline: Timeline) -> Sequence[int]:
    """The months from the first to the last day, as places."""
    if not timeline.days:
        return range(0)
    return range(CalendarSpan.around(timeline.days[0][0]).place, CalendarSpan.around(timeline.days[-1][0]).place + 1)


def _drawn(
    timeline: Timeline, chosen: CalendarSpan | None, unit: int, left: int, room: int, *, names_above: bool
) -> TimelineDrawing:
    months = _spans(timeline)
    first, last = CalendarSpan.around(timeline.days[0][0], unit), CalendarSpan.around(timeline.days[-1][0], unit)
    count = max((last.place - first.place) // unit + 1, _FEWEST)
    column = max((room - left) / count, _NARROWEST if left else 0)
    row = _ROW + 16 if names_above else _ROW

    def at(span: CalendarSpan) -> float:
        return round(left + (span.place - first.place) // unit * column, 1)

    said: Counter[CalendarSpan] = Counter()
    for day, messages in timeline.days:
        said[CalendarSpan.around(day, unit)] += messages
    most = max(said.values())
    bars = tuple(
        TimelineBar(span, at(span), round(max(2.0, (_BARS - 8) * messages / most), 1), messages)
        for span, messages in sorted(said.items())
    )
    rows = tuple(_row(band, _BARS + place * row, row, unit, at, column) for place, band in enumerate(timeline.bands))
    step = next(step for step in _STEPS if column * 12 / unit * step >= _YEAR or step == _STEPS[-1])
    years = tuple(
        (at(CalendarSpan(year * 12, unit)), year)
        for year in range(first.place // 12 + (first.place % 12 > 0), months[-1] // 12 + 1)
        if year % step == 0
    )
    here = None if chosen is None else CalendarSpan.around(chosen.first, unit)
    return TimelineDrawing(
        round(left + count * column),
        _BARS + len(rows) * row + _YEARS,
        round(column, 1),
        unit,
        bars,
        rows,
        years,
        at(here) if here is not None and first.place <= here.place <= last.place else None,
    )


def _row(
    band: Band, top: float, height: int, unit: int, at: Callable[[CalendarSpan], float], column: float
) -> TopicRow:
    amounts: dict[CalendarSpan, tuple[int, int]] = {}
    for month in band.months:
        span = CalendarSpan.around(CalendarSpan.of(month.month).first, unit)
        messages, conversations = amounts.get(span, (0, 0))
        amounts[span] = messages + month.messages, conversations + month.conversations
    middle = top + height - _ROW / 2
    dots = tuple(
        Dot(
            span,
            round(at(span) + column / 2, 1),
            middle,
            round(min(_LARGEST, 2.5 + 0.9 * math.sqrt(messages)), 1),
            messages,
            conversations,
        )
        for span, (messages, conversations) in sorted(amounts.items())
    )
    return TopicRow(band, top + 14 if height > _ROW else middle + 4, top + height, dots)


router = APIRouter()

_TOPICS = 12


@router.get("/timeline")
def timeline(request: Request, memory: Scoped, asked: Annotated[str, Query(alias="in")] = "") -> Response:
    """All months, and one of them (or a quarter, a year) day by day; the last one where none is named."""
    whole = memory.knowledge.timeline(_TOPICS)
    chosen = CalendarSpan.of(asked) if asked else CalendarSpan.around(whole.days[-1][0]) if whole.days else None
    days = memory.knowledge.days(chosen.period) if chosen else []
    return page(
        request,
        "timeline.html",
        data=lambda: _as_json(whole, chosen, days),
        here="/timeline",
        timeline=whole,
        total=sum(count for _, count in whole.days) + whole.undated,
        reach=_reach(whole),
        pictures=[
            (name, drawn)
            for name, drawn in (("wide", wide_drawing(whole, chosen)), ("thin", narrow_drawing(whole, chosen)))
        ],
        chosen=chosen,
        before=_nearest(whole, chosen, -1),
        after=_nearest(whole, chosen, 1),
        days=days,
        messages=sum(day.messages for day in days),
        conversations=len({row.conversation.id for day in days for row in day.rows}),
        summary=_summary(memory, chosen),
        parts_of=summary_sections,
    )


def _reach(whole: Timeline) -> str:
    """As in "April 2023 to October 2026"."""
    if not whole.days:
        return ""
    first, last = CalendarSpan.around(whole.days[0][0]).label, CalendarSpan.around(whole.days[-1][0]).label
    return first if first == last else f"{first} to {last}"


def _nearest(whole: Timeline, chosen: CalendarSpan | None, way: int) -> CalendarSpan | None:
    """The nearest span as long, before or after, in which something was said."""
    if chosen is None:
        return None
    spans = {CalendarSpan.around(day, chosen.length) for day, _ in whole.days}
    beyond = sorted(one for one in spans if (one.place - chosen.place) * way > 0)
    return None if not beyond else beyond[0] if way > 0 else beyond[-1]


def _summary(memory: Memory, chosen: CalendarSpan | None) -> Summary | None:
    """What a month came down to."""
    if chosen is None or chosen.length > 1:
        return None
    found = memory.summaries(kind="period", since=chosen.since, before=chosen.after.since)
    return next((one for one in found if one.period == f"month {chosen}"), None)


def _as_json(whole: Timeline, chosen: CalendarSpan | None, days: list[Day]) -> dict[str, Any]:
    return {
        "days": {day.isoformat(): count for day, count in whole.days},
        "undated": whole.undated,
        "topics": [
            {
                "id": band.topic.id,
                "label": band.topic.label,
                "months": band.months,
            }
            for band in whole.bands
        ],
        "in": str(chosen) if chosen else None,
        "conversations": [
            {
                "day": day.day.isoformat(),
                "conversation": row.conversation.id,
                "title": row.conversation.title,
                "source": row.conversation.source,
                "message": row.first,
                "messages": row.messages,
            }
            for day in days
            for row in day.rows
        ],
    }


_TOPICS_TOPICS = 60
_MESSAGES = 400  # of a topic, the most typical
_ALL = 20_000
_TALKS = 40
_WIDTH, _HEIGHT = 240, 26


@dataclass(frozen=True, slots=True)
class Spark:
    """A topic over time, small: bars at x with a height, all in a picture of `width` by `height`."""

    bars: tuple[tuple[float, float], ...]
    bar: float
    width: int = _WIDTH
    height: int = _HEIGHT


@dataclass(frozen=True, slots=True)
class TopicConversation:
    """A conversation of a topic: how much of it is, and the first message that is."""

    conversation: Conversation
    first: Message
    messages: int


@router.get("/topics")
def topics(request: Request, memory: Scoped, topic: str = "", when: Annotated[str, Query(alias="in")] = "") -> Response:
    """All topics, the largest first; or the conversations of one, of all time or of a month. Raises NotFound."""
    whole = memory.knowledge.timeline(_TOPICS_TOPICS)
    if not topic:
        return page(
            request,
            "topics.html",
            data=lambda: {"topics": [band.topic for band in whole.bands]},
            here="/timeline",
            bands=[(band, _spark(band, whole.days[0][0], whole.days[-1][0])) for band in whole.bands],
            chosen=None,
        )
    span = CalendarSpan.of(when) if when else None
    messages = memory.toolbox().get_topic_messages(topic, _ALL if span else _MESSAGES)
    wanted = topic.strip().lower()
    chosen = next(
        (b for b in whole.bands if wanted in (b.topic.id.lower(), b.topic.label.lower()) or wanted in b.topic.terms),
        next((b for b in whole.bands if b.topic.id.lower().endswith(wanted)), None),
    )
    talks = _talks(memory, [m for m in messages if span is None or _within(m, span)])
    return page(
        request,
        "topics.html",
        data=lambda: {
            "topic": chosen.topic if chosen else topic,
            "messages": [message.id for message in messages],
        },
        here="/timeline",
        chosen=chosen,
        name=chosen.topic.label if chosen else topic,
        spark=_spark(chosen, whole.days[0][0], whole.days[-1][0]) if chosen and whole.days else None,
        talks=talks[:_TALKS],
        more=max(0, len(talks) - _TALKS),
        span=span,
        months=[(CalendarSpan.of(month.month), month) for month in chosen.months] if chosen else [],
    )


def _within(message: Message, span: CalendarSpan) -> bool:
    return message.timestamp is not None and span.since <= message.timestamp < span.after.since


def _talks(memory: Memory, messages: list[Message]) -> list[TopicConversation]:
    """The conversations that these messages are of, in the order in which they come: the most typical first."""
    of: dict[str, list[Message]] = {}
    for message in messages:
        of.setdefault(message.conversation_id, []).append(message)
    found = [(memory.integration.conversation_named(one), group) for one, group in of.items()]
    return [TopicConversation(talk, min(group, key=lambda m: m.position), len(group)) for talk, group in found if talk]


def _spark(band: Band, first: date, last: date) -> Spark:

    begin, end = CalendarSpan.around(first).place, CalendarSpan.around(last).place
    column = _WIDTH / (end - begin + 1)
    most = max((month.messages for month in band.months), default=1)
    bars = tuple(
        (
            round((CalendarSpan.of(month.month).place - begin) * column, 1),
            round(max(2.0, (_HEIGHT - 2) * month.messages / most), 1),
        )
        for month in band.months
    )
    return Spark(bars, round(max(1.5, column * 0.8), 1))
