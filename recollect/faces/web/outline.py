"""A conversation at a glance: one's questions down the left, and all of it as a strip down the right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from recollect.faces.web.talk import DisplayedMessage
from recollect.text.markdown import without_code
from recollect.text.sentences import sentences

_LONGEST = 160  # characters of a question
_SEGMENTS = 24  # of the strip, each a link
_MOST_BARS = 300
_HIGHEST = 4_000  # characters that count of a message's length
_SIGNS = re.compile(r"^[#>*\-\s]+|[`*_]{1,3}")


@dataclass(frozen=True, slots=True)
class OutlineQuestion:
    """What the person asked, in a line; whether the exchange that it opens matches, or is the current one."""

    shown: DisplayedMessage
    words: str
    has_match: bool
    is_now: bool


def questions(shown: Sequence[DisplayedMessage], now: int | None) -> list[OutlineQuestion]:
    """One's questions in order: of each message the last question, else its longest sentence."""
    asked = [one for one in shown if one.is_you and not one.message.deleted]
    ends = [*(one.place for one in asked), len(shown)][1:]
    found = []
    for one, end in zip(asked, ends, strict=True):
        exchange = shown[one.place : end]
        is_now = now is not None and one.place <= now < end
        found.append(OutlineQuestion(one, _question(one.message.content), any(o.is_match for o in exchange), is_now))
    return found


def _question(text: str) -> str:
    plain = " ".join(_SIGNS.sub("", line) for line in without_code(text[:20_000], " ").splitlines())
    said = sentences(" ".join(plain.split()))
    if not said:
        return " ".join(text[:_LONGEST].split()) or "(nothing)"
    asking = [sentence for sentence in said if sentence.endswith(("?", "？", "؟"))]
    best = asking[-1] if asking else max(said, key=len)
    best = best[:1].upper() + best[1:]
    return best if len(best) <= _LONGEST else f"{best[:_LONGEST]}…"


@dataclass(frozen=True, slots=True)
class Stroke:
    """A piece of the strip: blue is the person, grey the answer."""

    y: float
    height: float
    is_you: bool


@dataclass(frozen=True, slots=True)
class Tick:
    """A match in the strip."""

    y: float
    is_now: bool


@dataclass(frozen=True, slots=True)
class StripSegment:
    """A part of the strip that holds matches, as a link to the first of them."""

    row: int
    shown: DisplayedMessage
    words: str


@dataclass(frozen=True, slots=True)
class Strip:
    """The whole conversation, from 0 to 100."""

    strokes: tuple[Stroke, ...]
    ticks: tuple[Tick, ...]
    segments: tuple[StripSegment, ...]


def strip(shown: Sequence[DisplayedMessage], now: int | None) -> Strip:
    """The strip of a conversation; of a very long one several messages are one piece."""
    lengths = [60 + min(len(one.message.content), _HIGHEST) for one in shown]
    total = sum(lengths) or 1
    tops = [0.0]
    for length in lengths:
        tops.append(tops[-1] + 100 * length / total)
    step = -(-len(shown) // _MOST_BARS) or 1
    gap = 0.25 if step == 1 and len(shown) < 150 else 0.0
    strokes = tuple(
        Stroke(round(top, 2), round(max(bottom - top - gap, 0.2), 2), shown[at].is_you)
        for at, (top, bottom) in zip(range(0, len(shown), step), pairwise([*tops[:-1:step], tops[-1]]), strict=False)
    )
    marks = [one.place for one in shown if one.is_match]
    ticks = tuple(Tick(round((tops[p] + tops[p + 1]) / 2, 1), p == now) for p in marks)
    return Strip(strokes, ticks, tuple(_segments(shown, marks, tops)))


def _segments(shown: Sequence[DisplayedMessage], marks: Sequence[int], tops: Sequence[float]) -> list[StripSegment]:
    rows: dict[int, list[int]] = {}
    for number, place in enumerate(marks, 1):
        middle = (tops[place] + tops[place + 1]) / 2
        rows.setdefault(min(_SEGMENTS, int(middle * _SEGMENTS / 100) + 1), []).append(number)
    return [
        StripSegment(
            row,
            shown[marks[numbers[0] - 1]],
            f"Match {numbers[0]}" if len(numbers) == 1 else f"Matches {numbers[0]} to {numbers[-1]}",
        )
        for row, numbers in rows.items()
    ]
