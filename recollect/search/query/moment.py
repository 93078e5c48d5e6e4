"""A time that a question tells by what happened, once it is known when that was."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np

from recollect.index.numeric import closeness
from recollect.record import NodeId
from recollect.search.query.clauses import Side
from recollect.store.passages import Float, Int

_DAY = 86_400_000_000  # microseconds
_SHOWN = 120  # characters
_LATEST = 10_000_000  # days
_GUESSED = 0.5  # how much a day counts on which it was only spoken of


@dataclass(frozen=True, slots=True)
class Moment:
    """When something happened that a question tells its time by.

    `day` is its first day and `until` its last; the message `message_id` says so, in `quote`. It `is_sure` where a fact
    or a date in the words tells it, rather than the day on which it was spoken of.
    """

    side: Side
    words: str
    day: date
    until: date
    message_id: NodeId
    quote: str
    is_sure: bool

    @property
    def open_span(self) -> tuple[date | None, date | None]:
        """The days that are meant, from and until; None where the time is open."""
        if self.side.is_later:
            return self.day, None
        return None, self.until if self.side is Side.UNTIL else self.day - timedelta(days=1)

    def __str__(self) -> str:
        """As a person is told: `before 1 June 2025: “We moved into a terraced house.”`"""
        about = "" if self.is_sure else "about "
        edge = self.until if self.side is Side.UNTIL else self.day
        return f"{self.side.value} {about}{edge.day} {edge:%B %Y}: “{_cut(self.quote)}”"

    def to_json(self) -> dict[str, Any]:
        """As in `search --json`."""
        return {
            "side": self.side.value,
            "words": self.words,
            "day": self.day.isoformat(),
            "until": self.until.isoformat(),
            "sure": self.is_sure,
            "message_id": self.message_id,
            "quote": self.quote,
        }

    def fits(self, times: Int) -> Float:
        """How well times (n,) in microseconds fit: up to 1 within the time that is meant, less with the distance from
        it, 0 where unknown.
        """
        days, (first, last) = times // _DAY, self.open_span
        span = (0 if first is None else _number(first), _LATEST if last is None else _number(last))
        _, near = closeness(np.where(times > 0, days, -1), [span])
        return near * np.float32(1.0 if self.is_sure else _GUESSED)


def _cut(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _SHOWN else words[: words.rfind(" ", 0, _SHOWN)] + " …"


def _number(day: date) -> int:
    return int(np.datetime64(day, "D").astype(np.int64))
