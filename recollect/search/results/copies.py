"""Near-identical texts among ranked ones: pasted again, answered again, copied to a fork. The best stands for all.

A text of a few words ("Leave it for twenty minutes") means what its conversation is about, so it is a copy only there.
A longer one is one with the very same words, for one word more can turn it around. Of a long one a few words may
differ, yet no number: the same minutes of another day are other minutes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from recollect.text.terms import words

T = TypeVar("T")

_FEW = 12  # words, under which a text depends on what stands around it
_LONG = 40  # words, from which on a few may differ
_RUN = 3  # words of the runs that long texts are compared by
_SAME = 0.9  # the share of their runs that two long texts have in common (Jaccard)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


@dataclass(frozen=True, slots=True)
class _Known:
    group: int
    numbers: tuple[str, ...]
    runs: frozenset[tuple[str, ...]]


def grouped(items: Sequence[T], text: Callable[[T], str], context: Callable[[T], object]) -> list[list[T]]:
    """Items whose texts are near-identical together, in the order of the first of each.

    >>> grouped(["Book the 9:40.", "Book the 9:45.", "book the 9:40"], str, context=len)
    [['Book the 9:40.'], ['Book the 9:45.'], ['book the 9:40']]
    >>> grouped(["Book the 9:40.", "Book the 9:45.", "book the 9:40"], str, context=type)
    [['Book the 9:40.', 'book the 9:40'], ['Book the 9:45.']]
    """
    groups: list[list[T]] = []
    exact: dict[tuple[object, ...], int] = {}
    long: list[_Known] = []
    for item in items:
        content = text(item)
        said, numbers = tuple(words(content)), tuple(sorted(_NUMBER.findall(content)))
        key = (said or content, numbers, context(item) if len(said) < _FEW else None)
        place = exact.get(key)
        if place is None and len(said) >= _LONG:
            runs = frozenset(zip(*(said[start:] for start in range(_RUN)), strict=False))
            place = next((known.group for known in long if _alike(known, numbers, runs)), None)
            if place is None:
                long.append(_Known(len(groups), numbers, runs))
        if place is None:
            place = len(groups)
            groups.append([])
        exact[key] = place
        groups[place].append(item)
    return groups


def _alike(known: _Known, numbers: tuple[str, ...], runs: frozenset[tuple[str, ...]]) -> bool:
    fewer, more = sorted((len(known.runs), len(runs)))
    if known.numbers != numbers or fewer < _SAME * more:
        return False
    shared = len(known.runs & runs)
    return shared >= _SAME * (fewer + more - shared)
