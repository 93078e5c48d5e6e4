"""The bars above the results: what was said in each month, and how much of it matches, as links."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

_WIDTH, _NARROW = 774.0, 358.0  # of the drawing, on wide and on narrow screens
_ROOM = 40.0  # the highest bar
_LEAST = 2.0  # what a bar measures at least, and one that matches more
_LEAST_MATCH = 5.0
_MOST = 132  # bars, so that each can be hit
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LABEL = 44.0  # that a year's number needs


@dataclass(frozen=True, slots=True)
class MonthBar:
    """One month, quarter or year: where it stands, how high it is, and the search that it leads to."""

    x: float
    width: float
    label: str
    matching: int
    all: int
    height: float
    match_height: float
    href: str

    @property
    def words(self) -> str:
        """As in "Mar 2024: 3 of 28 messages match"."""
        return f"{self.label}: {self.matching:,} of {self.all:,} messages match"


@dataclass(frozen=True, slots=True)
class MonthBars:
    """The drawing: its bars, and the years below them."""

    bars: tuple[MonthBar, ...]
    years: tuple[tuple[float, str], ...]
    width: float


def month_bars(
    matching: Mapping[str, int], all_: Mapping[str, int], link: Callable[[str, str], str], *, quarters: bool = False
) -> MonthBars | None:
    """Bars from counts by month ("2024-03"); `link` gives the address of a search from one month to another.

    Many months become quarters, many of these years. None where there are fewer than two bars.
    """
    if not all_:
        return None
    first, last = _number(min(all_)), _number(max(all_))
    step = next(s for s in ((3, 12, 120) if quarters else (1, 3, 12, 120)) if (last - first) // s < _MOST or s == 120)
    begin = first - first % step
    places = (last - begin) // step + 1
    if places < 2:
        return None
    own, total = _summed(matching, begin, step), _summed(all_, begin, step)
    drawn = _NARROW if quarters else _WIDTH
    wide, highest = drawn / places, max(total.values())
    bars = []
    for place, count in sorted(total.items()):
        start = begin + place * step
        match = own.get(place, 0)
        height = max(_LEAST, _ROOM * count / highest)
        bars.append(
            MonthBar(
                x=round(place * wide, 1),
                width=round(wide, 1),
                label=_label(start, step),
                matching=match,
                all=count,
                height=round(height, 1),
                match_height=round(max(_LEAST_MATCH, _ROOM * match / highest), 1) if match else 0.0,
                href=link(_month(max(start, 0)), _month(start + step - 1)),
            )
        )
    return MonthBars(tuple(bars), tuple(_years(begin, places, step, wide)), drawn)


def _summed(counts: Mapping[str, int], begin: int, step: int) -> dict[int, int]:
    sums: dict[int, int] = {}
    for month, count in counts.items():
        place = (_number(month) - begin) // step
        sums[place] = sums.get(place, 0) + count
    return sums


def _years(begin: int, places: int, step: int, wide: float) -> Iterator[tuple[float, str]]:
    """The years, as many as have room."""
    free = 0.0
    for place in range(places):
        month = begin + place * step
        if (place == 0 or month % 12 < step) and place * wide >= free:
            yield round(place * wide, 1), str(month // 12)
            free = place * wide + _LABEL


def _number(month: str) -> int:
    """Months since the year 0."""
    year, _, number = month.partition("-")
    return int(year) * 12 + int(number) - 1


def _month(number: int) -> str:
    return f"{number // 12:04d}-{number % 12 + 1:02d}"


def _label(start: int, step: int) -> str:
    year, month = divmod(start, 12)
    if step == 1:
        return f"{_MONTHS[month]} {year}"
    if step == 3:
        return f"{_MONTHS[month]} to {_MONTHS[month + 2]} {year}"
    return str(year) if step == 12 else f"{year} to {year + 9}"
