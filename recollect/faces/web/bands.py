"""Drawing topics over time: a column a month, a row a topic, a dot where something was said of it.

What is drawn is only where things stand; the template makes links of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.faces.web.spans import CalendarSpan

if TYPE_CHECKING:
    from recollect.memory.timeline import Band, Timeline

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
